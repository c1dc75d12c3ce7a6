# bernoulli and multinomial: of numbers, of tensors, of rows, with and without putting back.
import torch

torch.manual_seed(21)
print(torch.bernoulli(torch.tensor([0.1, 0.5, 0.9, 0.0, 1.0])).tolist(), torch.bernoulli(torch.full((2, 3), 0.5, dtype=torch.float64)).tolist())
print(torch.zeros(6).bernoulli_(torch.tensor([0.9, 0.1, 0.9, 0.1, 0.9, 0.1])).tolist(), torch.rand(1).item())
print((torch.rand(20) > 0.7).nonzero().flatten().tolist())
weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
print(torch.multinomial(weights, 1).item(), torch.multinomial(weights, 2).tolist(), torch.multinomial(weights, 4).tolist())
print(torch.multinomial(weights, 10, replacement=True).tolist(), torch.rand(1).item())
rows = torch.tensor([[0.0, 1.0, 0.0], [0.3, 0.3, 0.4], [5.0, 1.0, 1.0]])
print(torch.multinomial(rows, 1).tolist(), torch.multinomial(rows, 5, replacement=True).tolist(), torch.rand(1).item())
print(torch.multinomial(weights.double(), 3, replacement=True).tolist(), torch.multinomial(weights.double(), 3).tolist())
own = torch.Generator().manual_seed(5)
print(torch.multinomial(weights, 3, generator=own).tolist(), torch.bernoulli(weights / 5, generator=own).tolist(), torch.rand(1).item())
counts = torch.multinomial(torch.ones(1000), 200).sort().values
print(counts[:10].tolist(), len(counts.unique()), torch.multinomial(torch.ones(1000), 200, replacement=True).unique().numel())

# A class is drawn for each sample, then the samples of each class are taken: sizes follow.
labels = torch.multinomial(torch.tensor([0.5, 0.3, 0.2]), 40, replacement=True)
for each in range(3):
    print(each, (labels == each).sum().item(), torch.zeros(40, 2)[labels == each].shape)
print(torch.bincount(labels, minlength=4).tolist(), labels.unique(return_counts=True)[1].tolist())
best = torch.tensor([0.1, 0.7, 0.2])
if torch.multinomial(best, 1).item() == 1:
    print("the likely one")
mixing = torch.bernoulli(torch.tensor(0.5)).bool()
print(mixing.item(), bool(torch.bernoulli(torch.tensor(0.9))), torch.randint(2, (5,)).bool().tolist())
