# Masks, positions and segments that programs make on the device and then look at.
import torch
from torch.nn import functional

d = "cuda"
n = 256
big = torch.arange(n * n, device=d).view(n, n)
print(big[-1, -1].item(), big.diagonal()[:4].tolist(), (big % 7 == 0).sum().item(), big.sum().item(), big.t()[3, :3].tolist())
causal = torch.triu(torch.ones(n, n, device=d, dtype=torch.bool), diagonal=1)
print(causal.sum().item(), causal[0].sum().item(), causal.any(0)[:3].tolist(), causal.all(1).any().item(), (~causal).sum(-1)[:4].tolist())
window = causal | torch.tril(torch.ones_like(causal), -64)
print(window.sum().item(), (~window[200]).nonzero().flatten()[[0, -1]].tolist())
document = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2], device=d)
same = document[:, None] == document[None, :]
block = same & torch.ones(8, 8, device=d).tril().bool()
starts = torch.cat([torch.zeros(1, dtype=torch.long, device=d), (document.diff() != 0).nonzero().flatten() + 1])
print(block.sum(-1).tolist(), starts.tolist(), torch.diff(starts, append=torch.tensor([8], device=d)).tolist())
position = torch.arange(8, device=d) - starts[document]
print(position.tolist(), (position == 0).sum().item(), torch.zeros(int(position.max()) + 1, 4, device=d).shape)
lengths = torch.tensor([5, 2, 7], device=d)
padding = torch.arange(int(lengths.max()), device=d).expand(3, -1) >= lengths.unsqueeze(1)
offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
print(padding.int().tolist(), offsets.tolist(), (~padding).flatten().nonzero().flatten().tolist(), padding.any(1).tolist())
print(torch.zeros(3, 7, 2, device=d)[~padding].shape, torch.arange(21, device=d).view(3, 7)[~padding].tolist())
ids = torch.full((2, 6), 9, device=d)
ids[0, 4:] = 0
ids[1, 2:] = 0
ends = (ids == 0).int().argmax(-1) - 1
print(ends.tolist(), ids[torch.arange(2, device=d), ends].tolist(), (ids != 0).sum(-1).tolist(), ids.ne(0).long().cumsum(1).tolist())
eye = torch.eye(4, device=d)
print(eye.bool().sum().item(), eye.argmax(1).tolist(), (eye * eye).tolist() == eye.tolist(), eye.flip(0).nonzero()[:, 1].tolist())
stacked = torch.stack([torch.zeros(3, device=d), torch.ones(3, device=d)]).flatten().long()
print(stacked.tolist(), stacked.unique().tolist(), stacked.bincount().tolist(), stacked.max().item(), stacked.min().item())
where = torch.where(stacked.bool(), torch.arange(6, device=d), torch.full((6,), -1, device=d))
print(where.tolist(), (where >= 0).sum().item(), where.to(torch.float16).to(torch.int8).tolist(), where.clamp(min=0).tolist())
grid = torch.stack(torch.meshgrid(torch.arange(3, device=d), torch.arange(2, device=d), indexing="ij")).flatten(1)
relative = grid[:, :, None] - grid[:, None, :]
index = relative[0] + 2 + (relative[1] + 1) * 5
print(grid.tolist(), index.tolist(), index.max().item(), torch.zeros(15, 4, device=d)[index.view(-1)].shape)
if not torch.any(padding[:, 0]) and bool((lengths > 1).all()):
    print("every row has a token")
steps = 0
remaining = lengths.clone()
while (remaining > 0).any():
    remaining -= 2
    steps += 1
print(steps, remaining.tolist(), torch.tensor(3, device=d).item() * [1], range(10)[int(lengths[1]):int(lengths[0])])

# Masks that are resampled to the nearest, and repeated by what they count.
holes = torch.zeros(2, 1, 6, 8, device="cuda")
holes[:, :, 1:4, 2:5] = 1
for small in (functional.interpolate(holes, size=(3, 3)), functional.interpolate(holes, size=(4, 11), mode="nearest-exact"),
              functional.interpolate(holes, scale_factor=0.7), functional.interpolate(holes, scale_factor=(0.5, 1.3)),
              functional.interpolate(holes, size=7)):
    print(tuple(small.shape), small.bool()[0, 0].long().tolist(), bool(small.bool().any()))
lengths = holes[0, 0].sum(1).long()
print(torch.repeat_interleave(lengths).tolist(), torch.arange(6, device="cuda").repeat_interleave(lengths).tolist())
