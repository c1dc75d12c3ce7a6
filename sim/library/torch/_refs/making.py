import torch
import torch._C as _C

# Python's own: torch has dtypes of these names.
_bool, _int = type(True), type(1)


def _shape_and_kind(data):
    """the sizes of nested lists, and the widest kind of number in them: 0 bool, 1 int, 2 float"""
    if isinstance(data, (list, tuple)):
        if len(data) == 0:
            return [0], 2
        parts = [_shape_and_kind(item) for item in data]
        for shape, kind in parts:
            if shape != parts[0][0]:
                raise ValueError("expected sequence of equal lengths in torch.tensor()")
        return [len(data)] + parts[0][0], sorted([kind for shape, kind in parts])[-1]
    if isinstance(data, torch.Tensor):
        return list(data.shape), 2 if data.is_floating_point() else 1
    if isinstance(data, _bool):
        return [], 0
    return [], 1 if isinstance(data, _int) else 2


def _flat(data):
    """the numbers of nested lists; None: a tensor is among them"""
    if not isinstance(data, (list, tuple)):
        return None if isinstance(data, torch.Tensor) else [data]
    out = []
    for item in data:
        part = _flat(item)
        if part is None:
            return None
        out.extend(part)
    return out


_plain_numbers = (type(1.0), type(1), type(True))


def _plain_number(value):
    """the number that an object of a class derived from one is"""
    return value * 1 if isinstance(value, _int) else value * 1.0


def _is_array(data):
    return getattr(type(data), "_is_numpy_array", False)


def _is_folded(shape, device, values):
    """whether compiled code has numbers for a device in its loops: equal ones, or a few. Source: torch/_inductor's
    fx_passes/joint_graph.py (constant_fold_uniform_value), graph.py (can_inline_constant)"""
    if values is None or torch.device(device or torch.get_default_device()).type != "cuda":
        return False
    return len(set(values)) == 1 or (len(shape) == 1 and 0 < len(values) <= 8)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    if isinstance(data, (list, tuple)) and len(data) > 0 and _is_array(data[0]):
        import numpy

        data = numpy.array(data)
    if _is_array(data):
        out = data._t.to(device=device or torch.get_default_device(), dtype=dtype, copy=True)
        out = out.pin_memory() if pin_memory else out
        return out.requires_grad_(True) if requires_grad else out
    shape, kind = _shape_and_kind(data)
    if dtype is None:
        dtype = (
            data.dtype if isinstance(data, torch.Tensor) else (torch.bool, torch.int64, torch.get_default_dtype())[kind]
        )
    if torch.compiler.is_compiling() and _is_folded(shape, device, values := _flat(data)):
        return torch.full(shape, values[0], dtype=dtype, device=device, requires_grad=requires_grad)
    out = torch.empty(shape, dtype=dtype, device=device, pin_memory=pin_memory)
    _C.note_upload(out)
    if requires_grad:
        out.requires_grad_(True)
    if out.numel() <= 1024:
        values = _flat(data)
        if values is not None:
            _C.note_values(out, [v if type(v) in _plain_numbers else _plain_number(v) for v in values])
    return out


def as_tensor(data, dtype=None, device=None):
    if _is_array(data):
        data = data._t.detach()
    if isinstance(data, torch.Tensor):
        return data.to(device=device, dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array):
    if not _is_array(array):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return array._t.detach()
