# In which order data comes: samplers, loaders with and without a generator of their own, splits.
import torch
from torch.utils.data import (DataLoader, Dataset, RandomSampler, SubsetRandomSampler, TensorDataset, WeightedRandomSampler,
                              random_split)


class Numbers(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return i


torch.manual_seed(3)
loader = DataLoader(Numbers(), batch_size=4, shuffle=True)
for epoch in range(2):
    print([batch.tolist() for batch in loader])
print(torch.rand(1).item())
print([batch.tolist() for batch in DataLoader(Numbers(), batch_size=3)], torch.rand(1).item())
own = torch.Generator().manual_seed(4)
print([batch.tolist() for batch in DataLoader(Numbers(), batch_size=5, shuffle=True, generator=own)], torch.rand(1).item())
print(list(RandomSampler(range(5))), list(RandomSampler(range(5), replacement=True, num_samples=40)), torch.rand(1).item())
print(list(RandomSampler(range(5), num_samples=7)), list(SubsetRandomSampler([3, 5, 8])), torch.rand(1).item())
print(list(WeightedRandomSampler([0.1, 0.9, 0.4], 6)), torch.rand(1).item())
parts = random_split(range(10), [0.7, 0.3])
print([list(part.indices) for part in parts], torch.rand(1).item())
parts = random_split(TensorDataset(torch.arange(6)), [4, 2], generator=torch.Generator().manual_seed(1))
print([list(part.indices) for part in parts])
# The number of steps of an epoch hangs on what is drawn.
lengths = torch.randint(1, 9, (6,)).tolist()
print(lengths, [tuple(torch.zeros(n, 2).shape) for n in lengths])
