import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed.tensor._dispatch import dispatch
from torch.distributed.tensor._dtensor_spec import DTensorSpec, _contiguous_stride
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard


class _Members:
    """what a DTensor has beside other tensors' methods"""

    @property
    def _spec(self):
        return _C.spec_of(self)

    @property
    def _local_tensor(self):
        return _C.local_of(self)

    @property
    def device_mesh(self):
        return _C.spec_of(self).mesh

    @property
    def placements(self):
        return _C.spec_of(self).placements

    @staticmethod
    def from_local(
        local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None, grad_placements=None
    ):
        mesh = _mesh(device_mesh)
        return _FromLocal.apply(local_tensor, mesh, _normal(placements, mesh, local_tensor.dim()), shape, stride)

    def to_local(self, *, grad_placements=None):
        if not torch.is_grad_enabled():
            return _C.local_of(self)
        return _ToLocal.apply(self, grad_placements)

    def redistribute(
        self, device_mesh=None, placements=None, *, async_op=False, forward_dtype=None, backward_dtype=None
    ):
        spec = _C.spec_of(self)
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        placements = _normal(placements, spec.mesh, self.dim())
        return _Redistribute.apply(self, placements)

    def full_tensor(self, *, grad_placements=None):
        spec = _C.spec_of(self)
        return self.redistribute(placements=[Replicate()] * spec.mesh.ndim).to_local(grad_placements=grad_placements)

    def __repr__(self):
        return f"DTensor(local_tensor={_C.local_of(self)}, device_mesh={self.device_mesh}, placements={self.placements})"


DTensor = _C.make_dtensor_classes(_Members, dispatch)


def _mesh(device_mesh):
    from torch.distributed import device_mesh as meshes

    if device_mesh is not None:
        return device_mesh
    if not meshes._current:
        raise RuntimeError("No device mesh is currently active!")
    return meshes._current[-1]


def _normal(placements, mesh, ndim):
    """a placement for every dimension of the mesh; dimensions of tensors counted from the front"""
    placements = [Replicate()] * mesh.ndim if placements is None else list(placements)
    return tuple([Shard(p.dim + ndim) if type(p) is Shard and p.dim < 0 else p for p in placements])


def _whole(local, mesh, placements):
    """(shape, stride) of what the ranks have together, if all have as much"""
    shape, stride = list(local.shape), list(local.stride())
    for dim, placement in enumerate(placements):
        if placement.is_shard():
            at, count = placement.dim, mesh.size(dim)
            own = stride[at]
            shape[at] *= count
            stride = [s * count if i != at and s > own else s for i, s in enumerate(stride)]
    return shape, stride


def _make(local, spec):
    return _C.make_dtensor(local, spec, spec.shape, spec.stride)


class _FromLocal(Function):
    @staticmethod
    def forward(ctx, local_tensor, mesh, placements, shape, stride):
        if shape is None:
            shape, stride = _whole(local_tensor, mesh, placements)
        stride = _contiguous_stride(shape) if stride is None else stride
        ctx.spec = DTensorSpec(mesh, placements, shape, stride, local_tensor.dtype)
        return _make(local_tensor.view_as(local_tensor), ctx.spec)

    @staticmethod
    def backward(ctx, grad_output):
        return _to_layout(grad_output, ctx.spec), None, None, None, None


class _ToLocal(Function):
    @staticmethod
    def forward(ctx, input, grad_placements):
        ctx.spec = _C.spec_of(input)
        ctx.grad_placements = grad_placements
        return _C.local_of(input)

    @staticmethod
    def backward(ctx, grad_output):
        placements = ctx.grad_placements
        if placements is None:
            placements = [Replicate() if p.is_partial() else p for p in ctx.spec.placements]
        return _make(grad_output, ctx.spec.with_placements(placements)), None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx, input, placements):
        ctx.spec = _C.spec_of(input)
        local = _C.local_of(input)
        if ctx.spec.placements != placements:
            local = redistribute_local_tensor(local, ctx.spec, placements)
        return _make(local, ctx.spec.with_placements(placements))

    @staticmethod
    def backward(ctx, grad_output):
        return _make(_to_layout(grad_output, ctx.spec), ctx.spec), None


def _to_layout(grad, spec):
    """a gradient's part where the tensor itself lies so; what would become terms of a sum stays whole"""
    current = _C.spec_of(grad)
    if current is None:
        return grad
    placements = [
        Replicate() if target.is_partial() and not now.is_partial() else target
        for now, target in zip(current.placements, spec.placements)
    ]
    if list(current.placements) == placements:
        return _C.local_of(grad)
    return redistribute_local_tensor(_C.local_of(grad), current, placements)
