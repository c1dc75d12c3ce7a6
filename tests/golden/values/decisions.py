"""What programs decide by numbers that they draw or count: branches, sizes, orders, how often."""
import torch
from torch.utils.data import BatchSampler, RandomSampler, SubsetRandomSampler, WeightedRandomSampler, random_split

torch.manual_seed(11)
taken = [torch.rand(1).item() < 0.5 for _ in range(12)]
print(taken, sum(taken))
steps = 0
while torch.rand(()) > 0.1 and steps < 100:
    steps += 1
print(steps, "a" if torch.randn(3).sum() > 0 else "b", bool(torch.bernoulli(torch.tensor(0.3))))
lengths = torch.randint(3, 17, (8,))
order = sorted(range(8), key=lambda i: int(lengths[i]))
print(lengths.tolist(), order, [int(lengths[order[i:i + 4]].max()) for i in (0, 4)])

# Layers that are dropped, crops, a curriculum: sizes follow.
kept = [i for i in range(24) if torch.rand(1).item() >= i / 24 * 0.5]
top, left = torch.randint(0, 33, (2,)).tolist()
crop = torch.zeros(3, 64, 64)[:, top:top + 32, left:left + 32]
print(kept, (top, left), tuple(crop.shape), torch.empty(2, int(torch.poisson(torch.tensor([])).numel()) + len(kept)).shape)
mask = torch.rand(6, 10) < 0.3
print(mask.sum(1).tolist(), int(mask.sum()), torch.nonzero(mask)[:5].tolist(), torch.zeros(6, 10)[mask].shape)
print(torch.where(torch.randn(10) > 0)[0].tolist(), torch.randn(20).topk(3).indices.tolist(), torch.rand(9).argsort().tolist())

# Samplers and splits.
print(list(RandomSampler(range(7))), list(RandomSampler(range(5), replacement=True, num_samples=9)))
print(list(WeightedRandomSampler([0.1, 5.0, 1.0, 0.2], 8)), list(SubsetRandomSampler([4, 8, 15, 16])))
print([len(part) for part in random_split(range(10), [0.5, 0.3, 0.2])], random_split(range(10), [7, 3])[1].indices)
print(list(BatchSampler(RandomSampler(range(9)), 4, drop_last=False)))

# A generator of one's own, its state kept and given back.
own = torch.Generator().manual_seed(3)
state = own.get_state()
first = torch.randperm(6, generator=own).tolist()
own.set_state(state)
print(first, torch.randperm(6, generator=own).tolist() == first, torch.randint(100, (4,), generator=own).tolist())
with torch.random.fork_rng(devices=[]):
    torch.manual_seed(0)
    inside = torch.rand(1).item()
print(round(inside, 6), round(torch.rand(1).item(), 6))
