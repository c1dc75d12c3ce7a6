# Small numbers computed on the host decide what is made on the device: widths, rates, lengths, indices, branches.
import torch
import torch.nn as nn


def room(count):
    return torch.zeros(int(count) * 100, device="cuda")


table = torch.tensor([[1, 2], [3, 4]])
kept = [room(table.sum(0)[1]), room(table.max()), room(table[1, 0]), room(table.t().cumsum(1)[1, 1])]
kept += [torch.zeros(row[0].item() * 8, row[1].item(), device="cuda") for row in table]
kept += [room(n) for n in torch.cumsum(torch.tensor([4, 5, 6]), dim=0)]
kept.append(room(torch.full((3,), 7).max() + torch.ones(5).sum()))
kept += [room(100 * rate) for rate in (1 - torch.linspace(0, 0.3, 4)).tolist()]
kept += [room(n) for n in torch.round(torch.log(torch.arange(1, 5).float()) * 10).int().tolist()]
kept.append(room(torch.tensor([5]).cuda().item()))

grid = torch.arange(6).view(2, 3)
kept += [room(grid[1, 2] + grid.t()[2, 0]), room(grid.float().mean() * 10), room(grid.clamp(min=2, max=4).prod(dim=1)[0])]
counts = torch.tensor([3, 1, 2])
counts += 2
counts.mul_(3)
kept += [room(counts[0]), room((counts > 9).sum()), room(torch.cat([counts, torch.tensor([8])])[3])]
if torch.tensor(0.5) > 0.2:
    kept.append(room(41))

quantized = (torch.round((torch.arange(4) * 10.5 + 24) / 8) * 8).int().tolist()
body = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(quantized, quantized[1:])]).cuda()
body(torch.zeros(4, quantized[0], device="cuda")).sum().backward()

lengths = torch.tensor([3, 2, 1]) + 1
packed = nn.utils.rnn.pack_padded_sequence(torch.zeros(3, 4, 8, device="cuda"), lengths, batch_first=True)
kept.append(packed.data.clone())
print(lengths.tolist(), quantized, torch.tensor(7) // 2, torch.tensor([-3]) % 5)
