from torch import nn
from torch.distributed.tensor import DTensor

# DistributedDataParallel over parameters in parts: it sees this rank's parts, the module's forward pass sees DTensors.
# Source: torch.distributed.tensor.parallel.ddp. What a forward pass made stays in the module, as no parameter any more.


def _unchanged(gradient):
    return gradient


def _owner(module, path):
    parent, _, name = path.rpartition(".")
    return (module.get_submodule(parent) if parent else module), name


def _replace(found):
    for module, name, tensor in found:
        delattr(module, name)
        setattr(module, name, tensor)


def _spread(local, spec):
    whole = DTensor.from_local(local, spec.mesh, spec.placements, shape=spec.shape, stride=spec.stride)
    if local.requires_grad:
        local.register_hook(_unchanged)
    return whole


def _reconstruct_dtensor(module, _input):
    found = []
    for name, local in module.named_parameters():
        if hasattr(local, "_st_info"):
            found.append((*_owner(module, name), _spread(local, local._st_info)))
    _replace(found)


def _localize_dtensor(module, *_):
    found = []
    for name, param in module.named_parameters():
        if isinstance(param, DTensor):
            local = nn.Parameter(param._local_tensor.requires_grad_())
            local._st_info = param._spec
            found.append((*_owner(module, name), local))
    _replace(found)


def _pre_dp_module_transform(module):
    _localize_dtensor(module, None, None)
    module.register_forward_pre_hook(_reconstruct_dtensor)
    module.register_forward_hook(_localize_dtensor)
