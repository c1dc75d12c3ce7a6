"""Views, joins and copies, with gradients."""
import torch

d = "cuda"
x = torch.randn(6, 8, 10, device=d, requires_grad=True)
calls = [
    lambda: x.view(48, 10),
    lambda: x.reshape(10, 48),
    lambda: x.transpose(0, 1).reshape(-1),
    lambda: x.flatten(1),
    lambda: x.unflatten(1, (2, 4)),
    lambda: x.permute(2, 0, 1),
    lambda: x.movedim(0, 2),
    lambda: torch.moveaxis(x, 1, 0),
    lambda: x.swapaxes(0, 2),
    lambda: x.swapdims(0, 1),
    lambda: x.adjoint(),
    lambda: x[:1].expand(5, 8, 10),
    lambda: x[:, :1].expand_as(x),
    lambda: torch.broadcast_to(x[:1], (3, 8, 10)),
    lambda: x.unsqueeze(1).squeeze(1),
    lambda: x.narrow(1, 2, 3),
    lambda: x.select(0, 1),
    lambda: torch.cat(x.split(2), 1),
    lambda: torch.cat(x.split([1, 5]), 0),
    lambda: torch.stack(x.chunk(3)),
    lambda: torch.stack(x.unbind(1)),
    lambda: torch.hstack(x.hsplit(2)),
    lambda: torch.vstack(x.vsplit(3)),
    lambda: torch.dstack(x.dsplit(5)),
    lambda: torch.column_stack([x[0, 0], x[1, 0]]),
    lambda: torch.concat(x.tensor_split(4, 2), 2),
    lambda: torch.concatenate(x.tensor_split([1, 3])),
    lambda: x.ravel(),
    lambda: torch.atleast_3d(x[0]),
    lambda: x.clone(memory_format=torch.contiguous_format),
    lambda: x.mT.contiguous(),
    lambda: x.type_as(x.detach().half()),
    lambda: x.diagonal(0, 0, 1),
    lambda: torch.diag_embed(x[0]),
    lambda: x[0].diag(1),
    lambda: torch.diagflat(x[0, 0]),
    lambda: x.rot90(1, [0, 1]),
    lambda: x.fliplr(),
    lambda: x.flipud(),
    lambda: +x,
    lambda: torch.broadcast_tensors(x, x[:1])[1],
    lambda: x.view_as(x.detach()),
]
for call in calls:
    y = call()
    (y * 2).sum().backward()
    del y
    x.grad = None
