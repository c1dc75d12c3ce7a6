import torch
from enum import Enum, auto


class DataParallelMeshInfo:
    """a mesh, by which of its dimensions parameters are sharded and by which replicated; None: by none"""

    def __init__(self, mesh, shard_mesh_dim=None, replicate_mesh_dim=None):
        self.mesh, self.shard_mesh_dim, self.replicate_mesh_dim = mesh, shard_mesh_dim, replicate_mesh_dim
        if shard_mesh_dim is not None:
            self.shard_mesh_size = mesh.size(shard_mesh_dim)
            self.shard_process_group = mesh.get_group(shard_mesh_dim)
            self.shard_mesh_rank = self.shard_process_group.rank()
        if replicate_mesh_dim is not None:
            self.replicate_mesh_size = mesh.size(replicate_mesh_dim)
            self.replicate_process_group = mesh.get_group(replicate_mesh_dim)
            self.replicate_mesh_rank = self.replicate_process_group.rank()

    @property
    def shards(self):
        return self.shard_mesh_dim is not None

    @property
    def replicates(self):
        return self.replicate_mesh_dim is not None

    def is_of(self, other):
        return self is other or (
            other is not None and self.mesh == other.mesh and self.shard_mesh_dim == other.shard_mesh_dim
        )


class TrainingState(Enum):
    FORWARD = auto()
    PRE_BACKWARD = auto()
    POST_BACKWARD = auto()
    IDLE = auto()


def _padded_size(size, parts):
    """of a tensor whose first dimension is filled up until the parts are equal"""
    return torch.Size([-(-size[0] // parts) * parts, *size[1:]])


def _cast_fp_tensor(dtype, x):
    if not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.dtype == dtype:
        return x
    return x.to(dtype)


def _apply_to_tensors(fn, value):
    """the same value, its tensors through `fn`"""
    if isinstance(value, torch.Tensor):
        return fn(value)
    if isinstance(value, dict):
        return type(value)({k: _apply_to_tensors(fn, v) for k, v in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_apply_to_tensors(fn, v) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_apply_to_tensors(fn, v) for v in value])
    return value


def _tensors_of(value):
    """its tensors, in order"""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in _tensors_of(item)] if isinstance(value, (list, tuple)) else []
