import torch
import torch._C as _C
from torch.autograd.function import Function
from torch.distributed.tensor._dispatch import dispatch
from torch.distributed.tensor._dtensor_spec import DTensorSpec, _contiguous_stride
from torch.distributed.tensor._leaf import sum_of_gradients
from torch.distributed.tensor._redistribute import padded_parts, redistribute_local_tensor
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
        local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None,
        grad_placements=None
    ):
        mesh = _mesh(device_mesh)
        local_tensor = _on_mesh(local_tensor, mesh)
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
        return _Redistribute.apply(self, placements, async_op, forward_dtype, backward_dtype)

    def full_tensor(self, *, grad_placements=None):
        spec = _C.spec_of(self)
        return self.redistribute(placements=[Replicate()] * spec.mesh.ndim).to_local(grad_placements=grad_placements)

    def to(self, *args, **kwargs):
        return dispatch("to", torch.Tensor.to, (self, *args), kwargs)

    def cpu(self, memory_format=None):
        return self.to("cpu")

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        if isinstance(device, int):
            device = torch.device("cuda", device)
        return self.to("cuda" if device is None else device)

    def float(self):
        return self.to(torch.float32)

    def double(self):
        return self.to(torch.float64)

    def half(self):
        return self.to(torch.float16)

    def bfloat16(self):
        return self.to(torch.bfloat16)

    def type_as(self, other):
        return self.to(other)

    def equal(self, other):
        """what the ranks find is put together. Source: torch.distributed.tensor._dispatch"""
        from torch.distributed import distributed_c10d

        spec, of_other = _C.spec_of(self), _C.spec_of(other)
        if of_other is None or of_other.placements != spec.placements or any([p.is_partial() for p in spec.placements]):
            _C.refuse("equal() of DTensors that lie differently is not modelled", "compare x.to_local()")
        same = _C.local_of(self).equal(_C.local_of(other))
        all_same = torch.tensor(1, device=spec.mesh.device_type)
        distributed_c10d.all_reduce(all_same, op=distributed_c10d.ReduceOp.MIN)
        return same

    def __repr__(self):
        where = f"device_mesh={self.device_mesh}, placements={self.placements}"
        return f"DTensor(local_tensor={_C.local_of(self)}, {where})"


DTensor = _C.make_dtensor_classes(_Members, dispatch, sum_of_gradients)


def _mesh(device_mesh):
    from torch.distributed import device_mesh as meshes

    if device_mesh is not None:
        return device_mesh
    if not meshes._current:
        raise RuntimeError("No device mesh is currently active!")
    return meshes._current[-1]


def _on_mesh(tensor, mesh):
    """on the kind of device that the mesh is of"""
    if tensor.is_meta or tensor.device.type == mesh.device_type:
        return tensor
    return tensor.to(mesh.device_type)


def _normal(placements, mesh, ndim):
    """a placement for every dimension of the mesh; dimensions of tensors counted from the front"""
    placements = [Replicate()] * mesh.ndim if placements is None else list(placements)
    return tuple([Shard(p.dim + ndim) if type(p) is Shard and p.dim < 0 else p for p in placements])


_wholes = {}  # by what they are asked of; the mesh with them, so that it has its id alone


def _whole(local, mesh, placements):
    """(shape, stride) of what the ranks have together, if all have as much"""
    key = (id(mesh), placements, tuple(local.shape), tuple(local.stride()))
    if key not in _wholes:
        _wholes[key] = mesh, *_put_together(local, mesh, placements)
    _, shape, stride = _wholes[key]
    return shape, stride


def _put_together(local, mesh, placements):
    shape, stride = list(local.shape), list(local.stride())
    for dim, placement in enumerate(placements):
        if placement.is_shard():
            at, count = placement.dim, mesh.size(dim)
            own = stride[at]
            shape[at] *= count
            stride = [s * count if i != at and s > own else s for i, s in enumerate(stride)]
    return tuple(shape), tuple(stride)


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
        return _C.local_of(_to_layout(grad_output, ctx.spec, ctx.spec)), None, None, None, None


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
            placements = ctx.spec.of_gradient().placements
        _, stride = _whole(grad_output, ctx.spec.mesh, ctx.spec.placements)
        return _make(grad_output, ctx.spec.with_placements(placements).with_shape(ctx.spec.shape, stride)), None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx, input, placements, async_op, forward_dtype, backward_dtype):
        ctx.spec, ctx.async_op = _C.spec_of(input), async_op
        local = _C.local_of(input)
        ctx.dtype, ctx.backward_dtype = local.dtype, backward_dtype or local.dtype
        if forward_dtype is not None and forward_dtype != local.dtype:
            local = local.to(forward_dtype)
        if ctx.spec.placements != placements:
            local = redistribute_local_tensor(local, ctx.spec, placements, async_op)
        ctx.out_spec = ctx.spec.with_placements(placements).with_dtype(local.dtype)
        return _make(local, ctx.out_spec)

    @staticmethod
    def backward(ctx, grad_output):
        local = _to_layout(grad_output, ctx.out_spec, ctx.spec, ctx.async_op, ctx.backward_dtype)
        return local if local.dtype == ctx.dtype else local.to(ctx.dtype), None, None, None, None


def _to_layout(grad, spec, wanted, async_op=False, dtype=None):
    """a gradient, of what lies as `spec` says, laid out as `wanted`; what would become terms of a sum stays whole"""
    current = _C.spec_of(grad)
    if current is None:
        current = spec.of_gradient()
    placements = wanted.placements
    if wanted.has_terms:
        placements = tuple([
            Replicate() if target.is_partial() and not now.is_partial() else target
            for now, target in zip(current.placements, placements)
        ])
    local = _C.local_of(grad)
    if dtype is not None and local.dtype != dtype:
        local = local.to(dtype)
    if current.placements != placements:
        local = redistribute_local_tensor(local, current, placements, async_op)
    return _make(local, wanted.with_placements(placements).with_shape(wanted.shape, current.stride))


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """a tensor that all ranks have, spread over them: rank 0's parts are sent. Source:
    torch.distributed.tensor._api.distribute_tensor"""
    mesh = _mesh(device_mesh)
    if isinstance(tensor, DTensor):
        return tensor if tensor.device.type in (mesh.device_type, "meta") else tensor.to(mesh.device_type)
    placements = _normal(placements, mesh, tensor.dim())
    is_wanted = tensor.requires_grad
    with torch.no_grad():
        tensor = _on_mesh(tensor, mesh)
        local = tensor.detach()
        for dim, placement in enumerate(placements):
            if placement.is_shard():
                local = _dealt(local, placement, mesh, dim, src_data_rank is not None)
    spec = DTensorSpec(mesh, placements, tensor.shape, tensor.stride(), tensor.dtype)
    return _make(local, spec).requires_grad_(is_wanted)


def _dealt(local, placement, mesh, dim, is_sent):
    """this rank's part, of parts that are made contiguous to be sent; or a copy of it, where each rank has the whole"""
    count, at = mesh.size(dim), placement.dim
    size, start = placement.local_shard_size_and_offset(local.size(at), count, mesh.get_coordinate()[dim])
    if local.is_meta or not is_sent:
        return _C.part_of(local, at, start, size).clone()
    parts = padded_parts(local, placement, count)
    first = parts[0]  # which goes last
    out = torch.empty_like(first)
    own = out if size == -(-local.size(at) // count) else out.narrow(at, 0, size).contiguous()
    while parts:
        parts.pop()
    out = None
    return own


def distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    mesh = _mesh(device_mesh)
    for name, submodule in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, submodule, mesh)
        for key, param in list(submodule._parameter_items()):
            if param is not None and not isinstance(param, DTensor):
                whole = [Replicate()] * mesh.ndim
                submodule.register_parameter(key, torch.nn.Parameter(distribute_tensor(param.data, mesh, whole)))
    if input_fn is not None:
        module.register_forward_pre_hook(lambda mod, inputs: input_fn(mod, inputs, mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda mod, inputs, outputs: output_fn(mod, outputs, mesh))
    return module
