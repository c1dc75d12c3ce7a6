# Operators through which known numbers of the host go on.
import torch

x = torch.tensor([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
print(x.flip(0).tolist(), x.sort(1).values.tolist(), x.sort(1).indices.tolist(), x.argsort(1, descending=True).tolist())
print(torch.where(x > 2, x, 0.0).tolist(), x.masked_fill(x > 7, -1).tolist(), x.clamp(2, 8).tolist(), x.gather(1, torch.tensor([[2], [0]])).tolist())
print(x.index_select(1, torch.tensor([2, 0])).tolist(), x[torch.tensor([1, 0]), torch.tensor([0, 2])].tolist())
print(x.max(1).indices.tolist(), x.amax(0).tolist(), x.any().item(), (x > 0).all(1).tolist(), x.logical_not().tolist(), x.prod().item())
print(torch.nn.functional.one_hot(torch.tensor([1, 0, 2]), 3).tolist(), torch.outer(torch.arange(3), torch.arange(2)).tolist())
print(x.half().tolist(), x.to(torch.bfloat16).add(0.01).tolist(), x.long().bitwise_and(1).tolist(), x.neg().abs().sqrt()[0, 1].item())
print(torch.bucketize(x, torch.tensor([2.0, 7.5])).tolist(), x.tril().tolist(), x.repeat_interleave(2, dim=0)[2].tolist(), x.take(torch.tensor([5])).item())
y = x.clone()
y[0] = 5
y[:, 2] += 1
print(y.tolist(), torch.tensor(2**62 + 1).add(1).item(), torch.tensor([1, 2]).repeat(3).tolist())
