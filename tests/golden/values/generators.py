# Generators, their seeds and states; what draws from which.
import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, random_split

print(torch.initial_seed(), torch.randint(0, 100, (4,)).tolist())
one, two = torch.Generator(), torch.Generator()
print(one.initial_seed(), torch.rand(2, generator=one).tolist() == torch.rand(2, generator=two).tolist(), one.device)
print(torch.manual_seed(9).initial_seed(), torch.initial_seed(), torch.default_generator.initial_seed())
for seed in (0, 1, -1, 2**32, 2**62 + 5, -2**62):
    print(torch.rand(2, generator=torch.Generator().manual_seed(seed)).tolist())
before = torch.get_rng_state()
first = torch.rand(5).tolist(), torch.randperm(4).tolist()
torch.set_rng_state(before)
print(first == (torch.rand(5).tolist(), torch.randperm(4).tolist()), before.shape, before.dtype)
kept = one.get_state()
drawn = torch.randn(3, generator=one).tolist()
two.set_state(kept)
print(drawn == torch.randn(3, generator=two).tolist(), torch.randn(1, generator=one).item() == torch.randn(1, generator=two).item())

# The second normal number of a pair is kept, and comes with the state.
torch.manual_seed(4)
single = torch.randn(1).item()
state = torch.get_rng_state()
following = torch.randn(1).item()
torch.manual_seed(1)
torch.set_rng_state(state)
print(following == torch.randn(1).item(), following, single)

# Which layers and calls draw, and how much.
torch.manual_seed(12)
nn.Linear(3, 3)
print(torch.randint(10**6, (1,)).item())
with torch.random.fork_rng(devices=[]):
    nn.LSTM(4, 4)
print(torch.randint(10**6, (1,)).item())
g = torch.Generator().manual_seed(2147483647)
print(torch.empty(3).uniform_(generator=g).tolist(), torch.empty(4).normal_(generator=g).gt(0).tolist(), torch.empty(2).random_(10, generator=g).tolist())
print(torch.normal(0.0, 1.0, (3,), generator=g).gt(0).tolist(), torch.randint(5, (3,), generator=g).tolist(), torch.randperm(5, generator=g).tolist())
print(list(RandomSampler(range(6), generator=g)), [len(p) for p in random_split(range(11), [4, 7], generator=g)])
for _ in range(2):
    print([b.tolist() for b in DataLoader(range(7), batch_size=3, shuffle=True, generator=torch.Generator().manual_seed(8))])
loader = DataLoader(range(7), batch_size=3, shuffle=True)
torch.manual_seed(30)
one_epoch = [b.tolist() for b in loader]
torch.manual_seed(30)
print(one_epoch == [b.tolist() for b in loader], one_epoch, [b.tolist() for b in loader], torch.rand(1).item())
nn.init.normal_(torch.empty(3), generator=g)
print(torch.rand(1, generator=g).item(), g.seed() != 5)
