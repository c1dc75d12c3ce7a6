# What libraries look at on the device before they choose a kernel or end a loop: positions, masks, ends of texts.
import torch

d = "cuda"
positions = torch.arange(3, 11, device=d).unsqueeze(0).expand(2, -1)
packed = torch.arange(8, device=d).remainder(4).unsqueeze(0)
for ids in (positions, packed):
    steps = torch.diff(ids, prepend=ids[:, :1] - 1, dim=-1)
    sequence = (steps != 1).cumsum(-1)
    print((sequence[:, -1] == 0).all().item(), sequence.tolist(), bool((sequence[:, -1] == 0).all()))

mask = torch.ones(2, 8, dtype=torch.long, device=d)
padded = mask.clone()
padded[0, 5:] = 0
for each in (mask, padded, mask.bool(), padded.to(torch.bool)):
    print(each.all().item(), each[:, torch.arange(4, device=d) + 2].all().item(), (each == 0).any().item(),
          torch.all(each[:, :5]).item(), each.sum(-1).tolist(), (each.cumsum(-1) - 1).masked_fill(each == 0, 1).tolist())
grown = torch.cat([padded, padded.new_ones((2, 1))], dim=-1)
print(grown.tolist(), grown.shape, (grown[:, -1] == 1).all().item(), torch.any(~grown.bool()).item())
causal = torch.arange(8, device=d)[None, :] <= torch.arange(8, device=d)[:, None]
both = causal[None, None] & mask.bool()[:, None, None, :]
print(both.all().item(), both[:, :, -1].all().item(), both.sum().item(), torch.tril(torch.ones_like(causal)).eq(causal).all().item())

ends = torch.tensor([2, 7], device=d)
pad = torch.tensor(2, device=d)
print(torch.isin(ends, pad).any().item(), torch.isin(ends, torch.tensor([3], device=d)).any().item(), (ends < 0).any().item())
unfinished = torch.ones(2, dtype=torch.long, device=d)
turns = 0
for length in range(5, 20):
    turns += 1
    done = torch.full((2,), False, device=d, dtype=torch.bool)
    done = done | torch.full((2,), length >= 9, device=d, dtype=torch.bool)
    unfinished = unfinished & ~done
    if unfinished.max() == 0:
        break
print(turns, unfinished.tolist())
here = torch.tensor(1, device=d)
print(bool(here), bool(here == 1), here.cpu().item(), (here * 0).item(), torch.zeros((), device=d).item(), int(mask[0].sum()))
