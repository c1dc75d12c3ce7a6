import torch
import torch._C as _C
from enum import Enum, auto
from torch import nn
from torch.distributed.fsdp._fully_shard._fsdp_api import CPUOffloadPolicy
from torch.distributed.tensor import DTensor, DTensorSpec, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import _contiguous_stride
from torch.distributed.tensor.device_mesh import DeviceMesh
from torch.distributed.tensor.placement_types import _StridedShard


class ShardedState(Enum):
    """which parameter the modules have: this rank's part, a part after forward, or all of it"""

    SHARDED = auto()
    SHARDED_POST_FORWARD = auto()
    UNSHARDED = auto()


class ParamModuleInfo:
    """where a parameter is registered"""

    def __init__(self, module, param_name):
        self.module, self.param_name = module, param_name
        self.places = [(module, param_name)]


def alloc_storage(tensor):
    size = tensor.numel() * tensor.itemsize
    if tensor.untyped_storage().size() != size:
        tensor.untyped_storage().resize_(size)


def free_storage(tensor):
    if tensor.untyped_storage().size() != 0:
        tensor.untyped_storage().resize_(0)


def _dtensor(local, spec):
    return _C.make_dtensor(local, spec, spec.shape, spec.stride)


def _own_part(tensor, dim, count, rank):
    """(how long parts of a dimension are, how long this rank's is)"""
    size = tensor.size(dim) if tensor.numel() > 0 else 0
    each = -(-size // count)
    if size % count == 0:
        return each, each
    return each, _C.own_length(size, each, rank)


def _with_size(sizes, dim, size):
    return torch.Size([*sizes[:dim], size, *sizes[dim + 1:]])


class FSDPParam:
    """One parameter: this rank's part of it, and all of it while it is needed. What was made of the whole stays the
    same object; its memory comes and goes. Source: torch.distributed.fsdp._fully_shard._fsdp_param"""

    def __init__(
        self, param, module_info, mesh_info, post_forward_mesh_info, device, shard_placement_fn, mp_policy,
        offload_policy
    ):
        self._module_info, self.mesh_info, self.post_forward_mesh_info = module_info, mesh_info, post_forward_mesh_info
        self.device, self.mp_policy = device, mp_policy
        self.offload_to_cpu = isinstance(offload_policy, CPUOffloadPolicy)
        self.pin_memory = self.offload_to_cpu and offload_policy.pin_memory
        self.grad_offload_event = None
        self.all_gather_outputs = []
        self._unsharded_param = self.unsharded_accumulated_grad = None
        self._sharded_post_forward_param_data = self._sharded_post_forward_param = None
        self._param_fqn = None
        self._init_sharded_param(param, shard_placement_fn)
        if self.post_forward_mesh_info is not None:
            self._init_sharded_post_forward_param_metadata(param)
        module_info.module.register_load_state_dict_post_hook(lambda *args, **kwargs: self.reset_sharded_param())

    @torch.no_grad()
    def _init_sharded_param(self, param, shard_placement_fn):
        if param.device != self.device and param.device.type != "meta":
            raise AssertionError(
                f"Expects the parameter to already be moved to device {self.device} but got {param.device}"
            )
        if not param.is_contiguous():
            raise NotImplementedError(f"FSDP does not support non-contiguous parameters yet: {param.shape}")
        placement = shard_placement_fn(param) if shard_placement_fn else None
        if placement is None:
            placement = Shard(0)
        elif placement.dim < 0:
            placement = Shard(placement.dim + param.ndim)
        self.fsdp_placement = placement
        self.is_dtensor = isinstance(param, DTensor)
        own = Replicate() if not self.mesh_info.shards else placement
        if self.is_dtensor:
            self._tp_spec = param._spec
            mesh = DeviceMesh._concatenate([self.mesh_info.mesh, self._tp_spec.mesh])
            factor = self._tp_spec.num_shards_map[placement.dim]
            if self.mesh_info.shards and factor > 1:
                own = _StridedShard(placement.dim, split_factor=factor)
            placements = [own, *self._tp_spec.placements]
            param_data = param._local_tensor
        else:
            mesh, placements, param_data = self.mesh_info.mesh, [own], param
        if self.mesh_info.shards and self.mesh_info.replicates:
            placements.insert(0, Replicate())
        self._sharding_spec = DTensorSpec(mesh, placements, param.size(), param.stride(), param.dtype)
        shard_dim = placement.dim
        if shard_dim >= param_data.ndim:
            raise AssertionError(f"Shard dim {shard_dim} is invalid for {param_data.ndim}D tensor: {param.shape}")
        self._orig_size = param_data.size()
        self._contiguous_orig_stride = _contiguous_stride(self._orig_size)
        rank = self.mesh_info.shard_mesh_rank if self.mesh_info.shards else 0
        count = self.mesh_info.shard_mesh_size if self.mesh_info.shards else 1
        if shard_dim > 0 and param_data.size(shard_dim) % count != 0:
            raise NotImplementedError(
                f"FSDP does not support uneven sharding on dim {shard_dim}: {param_data.size()} (world size: {count})"
            )
        each, length = _own_part(param_data, shard_dim, count, rank)
        self.sharded_size = _with_size(param_data.size(), shard_dim, length)
        self.contiguous_sharded_stride = _contiguous_stride(self.sharded_size)
        self.padded_sharded_param_size = _with_size(param_data.size(), shard_dim, each)
        padded = param_data.new_zeros(self.padded_sharded_param_size)
        if length > 0:
            if length == each:
                part = _C.numbered_part(param_data, shard_dim, rank, each)
            else:
                part = _C.part_of(param_data, shard_dim, each * rank, length)
            padded.narrow(shard_dim, 0, length).copy_(part)
        if self.offload_to_cpu and not padded.is_meta:
            padded = padded.cpu()
            if self.pin_memory:
                padded = padded.pin_memory()
        self._sharded_param_data = padded.view(-1)
        sharded_param = padded.narrow(shard_dim, 0, length)
        self.sharded_param = nn.Parameter(self.to_sharded_dtensor(sharded_param))
        self.sharded_param.requires_grad_(param.requires_grad)
        self._setattr_on_modules(self.sharded_param)
        self.sharded_state = ShardedState.SHARDED

    def _init_sharded_post_forward_param_metadata(self, param):
        data = param._local_tensor if self.is_dtensor else param
        mesh_info = self.post_forward_mesh_info
        count, rank = (mesh_info.shard_mesh_size, mesh_info.shard_mesh_rank) if mesh_info.shards else (1, 0)
        length = _own_part(data, 0, count, rank)[1]
        dim = 0 if length > 0 else self.fsdp_placement.dim
        self.sharded_post_forward_size = _with_size(data.size(), dim, length)
        self.contiguous_sharded_post_forward_stride = _contiguous_stride(self.sharded_post_forward_size)

    def init_dtype_attrs(self, mp_policy):
        """None: no cast is needed"""
        param_dtype, reduce_dtype = mp_policy.param_dtype, mp_policy.reduce_dtype
        self.orig_dtype = self.sharded_param.dtype
        self.reduce_dtype = None if reduce_dtype == param_dtype else reduce_dtype
        self.param_dtype = None if param_dtype == self.orig_dtype else param_dtype

    # ---- all of it

    def init_all_gather_outputs(self, numels, dtypes, world_size, device):
        if not self.all_gather_outputs:
            self.all_gather_outputs = [
                torch.empty(numel * world_size, dtype=dtype, device=device) for numel, dtype in zip(numels, dtypes)
            ]

    def init_unsharded_param(self):
        if self._unsharded_param is not None:
            return
        unsharded_param = torch.as_strided(
            self.all_gather_outputs[0], self._orig_size, self._contiguous_orig_stride, storage_offset=0
        )
        if self.is_dtensor:
            unsharded_param = _dtensor(unsharded_param, self._tp_spec)
        self._unsharded_param = nn.Parameter(unsharded_param, requires_grad=self.sharded_param.requires_grad)

    def alloc_all_gather_outputs(self):
        for tensor in self.all_gather_outputs:
            alloc_storage(tensor)
            _C.set_role(tensor, "parameter")
            info = self._module_info
            _C.name_memory(tensor, info.module, "FSDP: unsharded parameter", info.param_name)

    def free_unsharded_param(self):
        for tensor in self.all_gather_outputs:
            free_storage(tensor)

    @property
    def unsharded_param(self):
        return self._unsharded_param

    @property
    def all_gather_inputs(self):
        data = self._sharded_param_data
        if self.sharded_state == ShardedState.SHARDED_POST_FORWARD:
            data = self._sharded_post_forward_param_data
        elif self.offload_to_cpu:
            data = data.to(self.device, non_blocking=True)
        if self.param_dtype is not None and data.dtype != self.param_dtype:
            data = data.to(self.param_dtype)
        return [data]

    # ---- which of them the modules have

    def to_sharded(self):
        self._setattr_on_modules(self.sharded_param)
        self.free_unsharded_param()
        self.sharded_state = ShardedState.SHARDED

    def to_sharded_post_forward(self):
        if self.is_dtensor:
            raise NotImplementedError("Resharding to smaller mesh with TP is not supported yet")
        gathered, mesh_info = self.all_gather_outputs[0], self.post_forward_mesh_info
        count = mesh_info.shard_mesh_size
        numel = gathered.numel() // count
        self._sharded_post_forward_param_data = _C.numbered_part(
            gathered, 0, mesh_info.shard_mesh_rank, numel
        ).clone()
        spec = DTensorSpec(
            mesh_info.mesh, (Replicate(), Shard(0)), self._sharding_spec.shape, self._sharding_spec.stride,
            self._sharding_spec.dtype
        )
        part = torch.as_strided(
            self._sharded_post_forward_param_data, self.sharded_post_forward_size,
            self.contiguous_sharded_post_forward_stride, 0
        )
        self._sharded_post_forward_param = nn.Parameter(_dtensor(part, spec))
        self._setattr_on_modules(self._sharded_post_forward_param)
        self.free_unsharded_param()
        self.sharded_state = ShardedState.SHARDED_POST_FORWARD

    def to_unsharded(self):
        if self.sharded_param.requires_grad != self._unsharded_param.requires_grad:
            self._unsharded_param.requires_grad_(self.sharded_param.requires_grad)
        self._setattr_on_modules(self._unsharded_param)
        if self.sharded_state == ShardedState.SHARDED_POST_FORWARD:
            self._sharded_post_forward_param = None
            self._sharded_post_forward_param_data = None
        self.sharded_state = ShardedState.UNSHARDED

    def _setattr_on_modules(self, param):
        for module, name in self._module_info.places:
            module._parameters[name] = param

    # ---- gradients

    def to_sharded_dtensor(self, tensor):
        if tensor.shape != self.sharded_size:
            raise AssertionError(f"Expects size {self.sharded_size} but got {tensor.shape}")
        return _dtensor(tensor, self._sharding_spec)

    def to_accumulated_grad_if_needed(self):
        if self.reduce_dtype is None or self._unsharded_param.grad is None:
            return
        if self._unsharded_param.grad.dtype == self.reduce_dtype:
            return
        unsharded_grad = self._unsharded_param.grad
        self._unsharded_param.grad = None
        self.unsharded_accumulated_grad = unsharded_grad.to(self.reduce_dtype)

    def accumulate_unsharded_grad_if_needed(self):
        if self.unsharded_accumulated_grad is not None and self.unsharded_param.grad is not None:
            self.unsharded_accumulated_grad += self.unsharded_param.grad
            self.unsharded_param.grad = None

    @property
    def unsharded_grad_data(self):
        return self._inner(self.unsharded_param.grad)

    @property
    def unsharded_accumulated_grad_data(self):
        return self._inner(self.unsharded_accumulated_grad)

    def _inner(self, grad):
        if not self.is_dtensor:
            return grad
        if tuple(grad.placements) != tuple(self._tp_spec.placements):
            grad = grad.redistribute(placements=self._tp_spec.placements)
        return grad._local_tensor

    def reset_sharded_param(self):
        """the parameter may have been moved, cast or loaded: what is gathered is its memory of now, filled up"""
        new_param = getattr(self._module_info.module, self._module_info.param_name)
        self.sharded_param = new_param
        local_tensor = new_param._local_tensor
        if local_tensor.is_meta:
            return
        same = (
            not self._sharded_param_data.is_meta and self._sharded_param_data.untyped_storage().data_ptr() > 0
            and _C.same_storage(self._sharded_param_data, local_tensor)
        )
        shard_dim, updated = self.fsdp_placement.dim, False
        length = local_tensor.size(shard_dim) if local_tensor.numel() > 0 else 0
        if local_tensor.size() != self.padded_sharded_param_size and not same:
            padded = local_tensor.new_zeros(self.padded_sharded_param_size)
            padded.narrow(shard_dim, 0, length).copy_(local_tensor)
            local_tensor, updated = padded, True
        if self.pin_memory and not local_tensor.is_pinned():
            local_tensor, updated = local_tensor.cpu().pin_memory(), True
        if not same:
            self._sharded_param_data = local_tensor.view(-1)
        if updated:
            _C.set_local(self.sharded_param, local_tensor.narrow(shard_dim, 0, length))
        self._sharding_spec = self.sharded_param._spec
