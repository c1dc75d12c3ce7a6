import torch
from torch.distributed.tensor import _random
from torch.distributed.tensor._api import _make, _mesh, _normal
from torch.distributed.tensor._dtensor_spec import DTensorSpec, _contiguous_stride

# Each rank makes its own part. Source: torch.distributed.tensor._api._dtensor_init_helper


def _sizes(size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list, torch.Size)) else tuple(size)


def _made(make, size, dtype, requires_grad, device_mesh, placements, is_random=False):
    mesh = _mesh(device_mesh)
    spec = DTensorSpec(mesh, _normal(placements, mesh, len(size)), size, _contiguous_stride(size), dtype)
    if is_random:
        _random.begin_random()
    local = make(spec.local_shape(), dtype=dtype, device=mesh.device_type)
    return _make(local, spec.with_dtype(local.dtype)).requires_grad_(requires_grad)


def zeros(*size, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    return _made(torch.zeros, _sizes(size), dtype, requires_grad, device_mesh, placements)


def ones(*size, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    return _made(torch.ones, _sizes(size), dtype, requires_grad, device_mesh, placements)


def empty(*size, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    return _made(torch.empty, _sizes(size), dtype, requires_grad, device_mesh, placements)


def full(size, fill_value, *, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    def make(shape, dtype, device):
        return torch.full(shape, fill_value, dtype=dtype, device=device)

    return _made(make, tuple(size), dtype, requires_grad, device_mesh, placements)


def rand(*size, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    return _made(torch.rand, _sizes(size), dtype, requires_grad, device_mesh, placements, True)


def randn(*size, requires_grad=False, dtype=None, layout=torch.strided, device_mesh=None, placements=None):
    return _made(torch.randn, _sizes(size), dtype, requires_grad, device_mesh, placements, True)
