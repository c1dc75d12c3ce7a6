import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.tensor import DTensor, distribute_tensor

# Source: torch.distributed.checkpoint.state_dict, torch.distributed._state_dict_utils


class StateDictOptions:
    def __init__(
        self, full_state_dict=False, cpu_offload=False, ignore_frozen_params=False, keep_submodule_prefixes=True,
        strict=True, broadcast_from_rank0=False, flatten_optimizer_state_dict=False, dsd_fqn_modifiers=""
    ):
        self.full_state_dict, self.cpu_offload, self.strict = full_state_dict, cpu_offload, strict
        self.ignore_frozen_params, self.broadcast_from_rank0 = ignore_frozen_params, broadcast_from_rank0
        self.flatten_optimizer_state_dict = flatten_optimizer_state_dict
        if broadcast_from_rank0:
            _C.refuse("StateDictOptions(broadcast_from_rank0=True) is not modelled", "load on every rank")


def _gathered(value, options, keeps):
    """a state as it goes into a dict: whole or this rank's part, on the device or the host; None where only rank 0
    keeps it"""
    if isinstance(value, dict):
        return {k: _gathered(v, options, keeps) for k, v in value.items()}
    if not isinstance(value, torch.Tensor):
        return value
    if options.full_state_dict and isinstance(value, DTensor):
        value = value.full_tensor()
    if not options.cpu_offload:
        return value
    return value.detach().cpu() if keeps else None


def _state(items, options):
    keeps = not (options.full_state_dict and options.cpu_offload) or dist.get_rank() == 0
    out = {}
    for name, value in items:
        gathered = _gathered(value, options, keeps)
        if keeps:
            out[name] = gathered
        del gathered
    return out


def get_model_state_dict(model, *, submodules=None, options=None):
    options = StateDictOptions() if options is None else options
    with torch.no_grad():
        items = list(model.state_dict().items())
        if options.ignore_frozen_params:
            frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
            items = [(name, value) for name, value in items if name not in frozen]
        return _state(items, options)


def _init_optim_state(optimizer):
    """states as a first step would make them, with gradients of zero"""
    if optimizer.state:
        return
    params = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
    for param in params:
        if param.grad is not None:
            return
    for param in params:
        param.grad = torch.zeros_like(param)
    optimizer.step(closure=None)
    optimizer.zero_grad(set_to_none=True)


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    options = StateDictOptions() if options is None else options
    names = {id(p): name for name, p in model.named_parameters()}
    state, groups = {}, []
    for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
        _init_optim_state(optimizer)
        with torch.no_grad():
            state.update(_state([(names[id(p)], dict(s)) for p, s in optimizer.state.items()], options))
        for group in optimizer.param_groups:
            named = {k: v for k, v in group.items() if k != "params"}
            named["params"] = [names[id(p)] for p in group["params"]]
            groups.append(named)
    if not state and options.full_state_dict and options.cpu_offload:
        return {}
    return {"state": state, "param_groups": groups}


def get_state_dict(model, optimizers, *, submodules=None, options=None):
    model_state = get_model_state_dict(model, options=options)
    return model_state, get_optimizer_state_dict(model, optimizers, options=options)


def _spread_like(value, own):
    """a whole state, as the one it replaces lies"""
    if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor):
        return value
    with torch.no_grad():
        moved = value.detach().to(own.device)
        if isinstance(own, DTensor) and not isinstance(moved, DTensor):
            return distribute_tensor(moved, own.device_mesh, own.placements)
        return moved


def set_model_state_dict(model, model_state_dict, *, options=None):
    options = StateDictOptions() if options is None else options
    if options.full_state_dict:
        own = model.state_dict()
        for name, value in list(model_state_dict.items()):  # the dict that was given has them from here on
            model_state_dict[name] = _spread_like(value, own.get(name))
        del own
    return model.load_state_dict(model_state_dict, strict=options.strict)


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    options = StateDictOptions() if options is None else options
    names = {id(p): name for name, p in model.named_parameters()}
    for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
        _init_optim_state(optimizer)
        for param, state in optimizer.state.items():
            given = optim_state_dict["state"].get(names[id(param)], {})
            for key in list(state):
                if key in given:
                    state[key] = _spread_like(given[key], state[key]) if options.full_state_dict else given[key]


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    out = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return out
