import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp._fully_shard._fsdp_common import DataParallelMeshInfo
from torch.distributed.fsdp._fully_shard._fsdp_state import _state_of


def _mesh_info(mesh):
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    if mesh.ndim == 2 and mesh.mesh_dim_names is None:
        raise AssertionError("Please init the 2D mesh for HSDP with mesh_dim_names specified")
    return DataParallelMeshInfo(mesh, 0) if mesh.ndim == 1 else DataParallelMeshInfo(mesh, 1, 0)


def _post_forward_mesh_info(reshard_after_forward, mesh_info):
    size = mesh_info.shard_mesh_size
    if not isinstance(reshard_after_forward, bool):
        if reshard_after_forward < 1 or reshard_after_forward > size or size % reshard_after_forward != 0:
            raise ValueError(
                f"If passing reshard_after_forward as an int, it should be a factor of {size}, "
                f"not {reshard_after_forward}"
            )
        if reshard_after_forward == 1:
            reshard_after_forward = False
        elif reshard_after_forward == size:
            reshard_after_forward = True
    if isinstance(reshard_after_forward, bool):
        return mesh_info if reshard_after_forward else None
    ranks = mesh_info.mesh._ranks
    rows = [list(ranks[i:i + reshard_after_forward]) for i in range(0, len(ranks), reshard_after_forward)]
    return DataParallelMeshInfo(DeviceMesh(mesh_info.mesh.device_type, rows), 1, 0)


def _default_mesh():
    if not dist.is_initialized():
        dist.init_process_group()
    return init_device_mesh("cuda", (dist.get_world_size(),))


def _managed_modules(root_modules, ignored_params):
    """the modules that no `fully_shard` below has taken, the innermost first"""
    modules, visited = [], []

    def walk(module):
        if not any([module is root for root in root_modules]) and _state_of(module) is not None:
            return
        visited.append(module)
        for submodule in module.children():
            if not any([submodule is seen for seen in visited]):
                walk(submodule)
        modules.append(module)

    for root_module in root_modules:
        walk(root_module)
    return modules


def _managed_states(modules, ignored_params):
    params, buffers, seen = [], [], {id(p) for p in ignored_params or ()}
    for module in modules:
        for name, param in module._parameter_items():
            if param is None or id(param) in seen:
                continue
            if len(param.shape) == 0:
                raise ValueError(
                    "fully_shard doesn't support scalar parameters. "
                    f"Change {name} to a 1D tensor with numel equal to 1."
                )
            params.append(param)
            seen.add(id(param))
        for buffer in module.buffers(recurse=False):
            if id(buffer) not in seen:
                buffers.append(buffer)
                seen.add(id(buffer))
    return params, buffers


def _move_states_to_device(tensors, device):
    for tensor in tensors:
        if tensor.device != device and tensor.device.type != "meta":
            tensor.data = tensor.to(device)


def _validate_module(module):
    if isinstance(module, (nn.ModuleList, nn.ModuleDict)):
        raise ValueError(f"fully_shard does not support containers that do not implement forward: {module}")
