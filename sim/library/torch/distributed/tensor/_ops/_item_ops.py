import torch
import torch._C as _C
from torch.distributed.tensor._ops._view_ops import sliced

# x[...] of a DTensor: one view after another, as THPVariable_getitem makes them. Source:
# torch/csrc/autograd/python_variable_indexing.cpp


def _refuse(what):
    _C.refuse(f"{what} as an index of a DTensor is not modelled", "take this rank's part: x.to_local()")


def _keys(x, key):
    keys = list(key) if isinstance(key, tuple) else [key]
    for k in keys:
        if isinstance(k, (torch.Tensor, list, bool)):
            _refuse("a tensor, a list or a truth value")
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        at = [k is Ellipsis for k in keys].index(True)
        missing = x.dim() - sum([k is not None and k is not Ellipsis for k in keys])
        keys[at:at + 1] = [slice(None)] * missing
    return keys


def get_item(op, args, kwargs):
    x, key = args
    keys, dim = _keys(x, key), 0
    is_alone = len(keys) == 1
    for k in keys:
        if k is None:
            x = x.unsqueeze(dim)
            dim += 1
        elif isinstance(k, slice):
            start, stop, step = k.indices(x.shape[dim])
            if is_alone or (start, step) != (0, 1) or stop < x.shape[dim]:
                x = sliced(x, dim, start, max([stop, start]), step)
            dim += 1
        else:
            x = x.select(dim, k)
    return x


def set_item(op, args, kwargs):
    x, key, value = args
    for dim, k in enumerate([k for k in _keys(x, key) if k is not None]):
        is_whole = isinstance(k, slice) and k.indices(x.shape[dim]) == (0, x.shape[dim], 1)
        if not is_whole and any([p.is_shard(dim) for p in _C.spec_of(x).placements]):
            _C.refuse(
                "writing items of a DTensor along a dimension that lies in parts is not modelled",
                "write this rank's part: x.to_local()",
            )
    items = get_item(None, (x, key), {})
    if not isinstance(value, torch.Tensor):
        raise NotImplementedError("Operator aten.fill_.Tensor does not have a sharding strategy registered.")
    items.copy_(value)
