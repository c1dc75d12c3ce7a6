# What a loader gives of known data is known: its batches, their order, what is made of them.
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import (BatchSampler, ConcatDataset, DataLoader, Dataset, IterableDataset, SequentialSampler, Subset,
                              TensorDataset, WeightedRandomSampler, random_split)

torch.manual_seed(8)
numbers = TensorDataset(torch.arange(20).view(10, 2), torch.arange(10) % 3)
for x, y in DataLoader(numbers, batch_size=4, shuffle=True):
    print(x.tolist(), y.tolist(), (y == 0).sum().item(), x[y == 1].shape)
for x, y in DataLoader(numbers, batch_size=4, drop_last=True):
    print(x.sum().item(), y.max().item())


class Texts(Dataset):
    """Sequences of different lengths, made when they are asked for."""

    def __init__(self, count):
        self.lengths = torch.randint(2, 12, (count,))

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        return torch.arange(int(self.lengths[i])) + i, i


def padded(samples):
    texts, ids = zip(*samples)
    return pad_sequence(texts, batch_first=True, padding_value=-1), torch.tensor(ids), torch.tensor([len(t) for t in texts])


texts = Texts(9)
for batch, ids, lengths in DataLoader(texts, batch_size=3, shuffle=True, collate_fn=padded):
    print(tuple(batch.shape), ids.tolist(), lengths.tolist(), (batch >= 0).sum(1).tolist(), batch[0].tolist())


class Dicts(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return {"x": torch.full((2,), float(i)), "y": i, "name": f"n{i}", "pair": (i, -i), "score": i / 2}


for batch in DataLoader(Dicts(), batch_size=2, sampler=WeightedRandomSampler([1, 1, 1, 5, 5, 5], 4)):
    print(batch["x"].tolist(), batch["y"].tolist(), batch["name"], [p.tolist() for p in batch["pair"]], batch["score"].dtype)


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(7):
            if i % 3:
                yield i


print([b.tolist() for b in DataLoader(Stream(), batch_size=2)])
train, held = random_split(numbers, [0.7, 0.3])
print([y.tolist() for _, y in DataLoader(train, batch_size=3, shuffle=True)], [x.tolist() for x, _ in DataLoader(held, batch_size=2)])
both = ConcatDataset([Subset(numbers, [1, 3]), held])
print(len(both), [y.tolist() for _, y in DataLoader(both, batch_size=2)])
print([b[0].tolist() for b in DataLoader(numbers, batch_sampler=BatchSampler(SequentialSampler(range(5)), 2, False))])
first = next(iter(DataLoader(numbers, batch_size=5, shuffle=True)))
device = first[0].to("cuda")
print(device.tolist(), (device[:, 1] - device[:, 0] == 1).all().item(), first[1].bincount(minlength=3).tolist())
longest = 0
for batch, _, lengths in DataLoader(texts, batch_size=4, collate_fn=padded):
    longest = max(longest, batch.shape[1], int(lengths.max()))
print(longest, torch.zeros(longest, 3).shape, torch.rand(1).item())
