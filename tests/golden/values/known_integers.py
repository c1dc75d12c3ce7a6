# Integers and booleans that follow from shapes and from numbers of the program: known on the device as on the host.
import torch

d = "cuda"
positions = torch.arange(12, device=d).view(3, 4)
print(positions.tolist(), (positions[:, 1:] - positions[:, :-1] == 1).all().item(), positions.sum(0).tolist())
print(torch.full((2, 3), 7, device=d).tolist(), torch.ones(2, 2, device=d).sum().item(), torch.eye(3, device=d).tolist())
causal = torch.tril(torch.ones(4, 4, dtype=torch.bool, device=d))
print(causal.tolist(), causal.sum().item(), (~causal).any().item(), torch.triu(torch.ones(3, 3, device=d), 1).tolist())
print(torch.cat([positions, positions + 100], dim=1).tolist(), torch.stack([positions[0], positions[2]], 1).tolist())
print(positions[1].tolist(), positions[1, 2].item(), positions[:, ::2].tolist(), positions[[2, 0]].tolist(), positions.t()[3].tolist())
print(positions.cumsum(1).tolist(), positions.flatten().diff().tolist(), positions.max().item(), positions.argmax(1).tolist())
print(torch.where(positions % 2 == 0, positions, -1).tolist(), positions.float().mean().item(), positions.to(torch.int32).dtype)
print(positions.flip(1).tolist(), positions.roll(1, 0).tolist(), positions.repeat(1, 2)[0].tolist(), positions.min(1).values.tolist())
mask = positions > 4
print(mask.sum().item(), positions[mask].tolist(), mask.nonzero().tolist(), torch.masked_select(positions, ~mask).tolist())
lengths = torch.tensor([3, 1, 4], device=d)
batch = torch.arange(4, device=d)[None, :] < lengths[:, None]
print(batch.tolist(), batch.sum(1).tolist(), int(lengths.max()), torch.zeros(int(lengths.max()), 2, device=d).shape)
written = torch.zeros(5, dtype=torch.int64, device=d)
written[1:3] = 4
written[-1] = 9
written += 1
print(written.tolist(), written.sort(descending=True).values.tolist(), written.topk(1).indices.tolist(), written.unique().tolist())
if (positions[0] == torch.arange(4, device=d)).all():
    print("consecutive")
ends = torch.tensor([1.0, -2.0, 0.0]), torch.tensor([3.0, 6.0, float("-inf")])
print(torch.lerp(*ends, 0.25).tolist(), ends[0].lerp(ends[1], 0.75).tolist(), torch.lerp(*ends, torch.tensor([0.0, 0.5, 1.0])).tolist())
for given in (torch.tensor(0), torch.ones(2), torch.empty(0), torch.tensor(True)):
    try:
        torch._assert_async(given)
        print("holds")
    except RuntimeError as error:
        print(error)
rows = torch.arange(24, device=d).float().view(1, 4, 6)
F = torch.nn.functional
print(F.max_pool1d(rows, 2).tolist(), F.max_pool1d(-rows, 3, stride=2, padding=1, ceil_mode=True).tolist())
best, places = F.max_pool2d(rows[None], (2, 3), stride=(2, 2), dilation=(1, 2), padding=(0, 1), return_indices=True)
print(best.tolist(), places.tolist(), F.max_pool3d(rows.view(1, 2, 2, 6), 2).tolist())
print(F.avg_pool1d(rows, 3, 2, padding=1, ceil_mode=True).tolist(), F.avg_pool2d(rows, 2, padding=1, count_include_pad=False).tolist())
print(F.avg_pool2d(rows, (2, 4), divisor_override=4).tolist(), torch.nn.MaxPool1d(4, 4)(torch.ones(2, 16, device=d)).bool().all().item())
