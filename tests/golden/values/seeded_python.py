# random and numpy.random with a seed: Python's and NumPy's own numbers.
import random

import numpy as np
import torch

random.seed(42)
print(random.random(), random.randint(1, 100), random.randrange(0, 50, 5), random.choice("abcdef"), random.uniform(2, 3))
print(random.sample(range(100), 5), random.choices([1, 2, 3], weights=[1, 1, 8], k=6), random.getrandbits(16), random.gauss(0, 1) > 0)
items = list(range(10))
random.shuffle(items)
print(items, [random.random() < 0.15 for _ in range(8)])
own = random.Random(7)
print(own.random(), own.randint(0, 9), random.random())
np.random.seed(3)
print(np.random.rand(), np.random.randint(0, 10, 5).tolist(), np.random.permutation(6).tolist(), np.random.choice(5))
print(np.random.uniform(1, 2), np.random.random(2).tolist(), np.random.randint(100))
rng = np.random.RandomState(5)
print(rng.randint(0, 100, 3).tolist(), rng.rand(2).tolist())


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)


seed_everything(2024)
print(random.randint(0, 999), np.random.randint(0, 999), torch.randint(0, 999, (1,)).item())
# Masked language modelling: which tokens are masked, replaced and kept.
tokens = torch.arange(40)
chosen = torch.bernoulli(torch.full(tokens.shape, 0.15)).bool()
replaced = torch.bernoulli(torch.full(tokens.shape, 0.8)).bool() & chosen
other = torch.bernoulli(torch.full(tokens.shape, 0.5)).bool() & chosen & ~replaced
words = torch.randint(1000, tokens.shape)
print(chosen.nonzero().flatten().tolist(), replaced.sum().item(), words[other].tolist())
start = random.randint(0, 40 - 8)
print(tokens[start:start + 8].tolist(), torch.zeros(random.choice([2, 4, 8]), 3).shape)
