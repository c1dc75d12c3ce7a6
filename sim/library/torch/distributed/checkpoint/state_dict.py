import torch
import torch._C as _C
import torch.distributed as dist
from contextlib import contextmanager
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed._objects import _TensorInfo
from torch.distributed.fsdp.api import StateDictConfig, StateDictType
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

# Source: torch.distributed.checkpoint.state_dict, torch.distributed._state_dict_utils
_flattened = []
_WRAPPERS = ("_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "_orig_mod.")


class StateDictOptions:
    def __init__(
        self, full_state_dict=False, cpu_offload=False, ignore_frozen_params=False, keep_submodule_prefixes=True,
        strict=True, broadcast_from_rank0=False, flatten_optimizer_state_dict=False, dsd_fqn_modifiers=""
    ):
        self.full_state_dict, self.cpu_offload, self.strict = full_state_dict, cpu_offload, strict
        self.ignore_frozen_params, self.broadcast_from_rank0 = ignore_frozen_params, broadcast_from_rank0
        self.flatten_optimizer_state_dict = flatten_optimizer_state_dict
        if broadcast_from_rank0 and not full_state_dict:
            raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")


# ---- names


def _plain_name(model, name):
    for wrapper in _WRAPPERS:
        name = name.replace(wrapper, "")
    return name[len("module."):] if isinstance(model, DistributedDataParallel) else name


def _valid_states(model):
    """(name, parameter or buffer that is saved), those of inner modules first, a shared one under each name"""
    seen, found = [], []

    def walk(module, prefix):
        seen.append(module)
        for name, child in module.named_children():
            if not any([child is each for each in seen]):
                walk(child, prefix + name + ".")
        for name, value in [*module.named_buffers(recurse=False), *module.named_parameters(recurse=False)]:
            if module._is_persistent(name):
                found.append((prefix + name, value))

    walk(model, "")
    return found


@contextmanager
def _in_fsdp(model, options):
    """units of FullyShardedDataParallel give what the options ask for"""
    if not FSDP.fsdp_modules(model):
        yield
        return
    kind = StateDictType.FULL_STATE_DICT if options.full_state_dict else StateDictType.SHARDED_STATE_DICT
    config = StateDictConfig(options.cpu_offload)
    config.rank0_only = options.full_state_dict and options.cpu_offload
    with FSDP.state_dict_type(model, kind, config, config):
        yield


# ---- taking states


def _gathered(value, options, keeps):
    """a state as it goes into a dict: whole or this rank's part, on the device or the host; None where only rank 0
    keeps it"""
    if isinstance(value, dict):
        made = {k: _gathered(v, options, keeps) for k, v in value.items()}
        return made if keeps else {}
    if isinstance(value, (list, tuple)):
        made = [_gathered(v, options, keeps) for v in value]
        return made if keeps else None
    if options.full_state_dict and isinstance(value, DTensor):
        mesh = value.device_mesh
        if value.device.type != mesh.device_type:
            value = value.to(mesh.device_type)
        value = value.redistribute(device_mesh=mesh, placements=[Replicate() for _ in value.placements])
        value = value.to_local()
    if not keeps:
        return None
    if isinstance(value, torch.Tensor) and options.cpu_offload:
        value = value.to("cpu")
    return value


def _full_or_cpu(states, options):
    if not options.full_state_dict and not options.cpu_offload:
        return states
    only_first = options.full_state_dict and options.cpu_offload
    return _gathered(states, options, not only_first or dist.get_rank() == 0)


def get_model_state_dict(model, *, submodules=None, options=None):
    options = StateDictOptions() if options is None else options
    with torch.no_grad():
        with _in_fsdp(model, options):
            states = model.state_dict()
        for key in list(states):
            name = _plain_name(model, key)
            if name != key:
                states[name] = states.pop(key)
        if options.ignore_frozen_params:
            for name, param in model.named_parameters():
                if not param.requires_grad:
                    states.pop(_plain_name(model, name))
        return _full_or_cpu(states, options)


def _init_optim_state(optimizer):
    """states as a first step would make them, with gradients of zero"""
    if optimizer.state:
        return
    for group in optimizer.param_groups:
        for param in group["params"]:
            if param.grad is not None:
                return
    for group in optimizer.param_groups:
        for param in group["params"]:
            if param.requires_grad:
                param.grad = torch.zeros_like(param)
    optimizer.step(closure=None)
    optimizer.zero_grad(set_to_none=True)


def _optim_state_of(model, optimizers, options):
    whole = {"state": {}, "param_groups": []}
    names = {}
    for name, param in model.named_parameters():
        names[id(param)] = _plain_name(model, name)
    for optimizer in optimizers:
        _init_optim_state(optimizer)
        if FSDP.fsdp_modules(model):
            with _in_fsdp(model, options):
                states = FSDP.optim_state_dict(model, optimizer)
            if not states:
                continue
        else:
            states = {"state": {}, "param_groups": []}
            for param, values in optimizer.state.items():
                states["state"][names[id(param)]] = values
            for group in optimizer.param_groups:
                named = {k: v for k, v in group.items() if k != "params"}
                named["params"] = [names[id(p)] for p in group["params"]]
                states["param_groups"].append(named)
        whole["state"].update(states["state"])
        whole["param_groups"].extend(states["param_groups"])
    if options.flatten_optimizer_state_dict:
        whole = _flat_optim_state(whole)
    return _full_or_cpu(whole, options)


def _flat_optim_state(whole):
    out = {}
    for name, values in whole["state"].items():
        out.update(_flat(values, f"state.{name}"))
    for group in whole["param_groups"]:
        for name in group.pop("params"):
            for key, value in group.items():
                out[f"param_groups.{name}.{key}"] = value
    return out


def _flat(values, prefix):
    out = {}
    for key, value in values.items():
        out.update(_flat(value, f"{prefix}.{key}") if isinstance(value, dict) else {f"{prefix}.{key}": value})
    return out


def _listed(optimizers):
    return tuple(optimizers) if isinstance(optimizers, (list, tuple)) else (optimizers,)


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    options = StateDictOptions() if options is None else options
    with torch.no_grad():
        return _optim_state_of(model, _listed(optimizers), options)


def get_state_dict(model, optimizers, *, submodules=None, options=None):
    model_state = get_model_state_dict(model, options=options)
    return model_state, get_optimizer_state_dict(model, optimizers, options=options)


# ---- setting states


def _distribute(full, local, device):
    """whole states, each as the one it replaces lies"""
    for key, value in full.items():
        if not isinstance(value, torch.Tensor):
            local[key] = value
        elif value.dim() == 0:
            local[key] = value.cpu()
        elif local.get(key) is None:
            continue
        elif isinstance(local[key], DTensor):
            own = local[key]
            moved = value.detach().to(device)
            local[key] = distribute_tensor(moved, own.device_mesh, own.placements)
            del moved, own
        else:
            local[key] = value.detach().to(device)


def _broadcast(full, local, device, options):
    """rank 0's states, each sent whole to ranks that keep their parts. A rank that is not the first takes them to be
    what it has itself"""
    told = {}
    for key, value in (full if dist.get_rank() == 0 else local).items():
        if not isinstance(value, torch.Tensor):
            told[key] = value
        else:
            told[key] = value.cpu() if value.dim() == 0 else _TensorInfo(value.size(), value.dtype)
    dist.broadcast_object_list([told], src=0)
    for key, value in told.items():
        if isinstance(value, _TensorInfo):
            _send(full.get(key), value, local, key, device)
            if options.cpu_offload:
                local[key] = local[key].cpu()
        elif key in local:
            local[key] = value
    if options.strict:
        for key in list(local):
            if key not in told:
                local.pop(key)


def _send(value, info, local, key, device):
    sender = device if device.type == "cuda" else torch.device("cuda", torch.cuda.current_device())
    if dist.get_rank() == 0:
        whole = value.detach().to(sender)
    else:
        whole = torch.empty(info.size, device=sender, dtype=info.dtype)
    own = local.get(key)
    dist.broadcast(whole, src=0)
    if own is None:
        return
    if sender != device:
        whole = whole.to(device)
    if not isinstance(own, DTensor):
        local[key] = whole
        return
    part = _own_part(whole, own)
    if own.is_meta:
        local[key] = DTensor.from_local(
            part.detach().clone(), own.device_mesh, own.placements, shape=own.shape, stride=own.stride()
        )
    else:
        own.to_local().copy_(part)


def _own_part(whole, like):
    """a view of what this rank has of it"""
    mesh = like.device_mesh
    for dim, placement in enumerate(like.placements):
        if placement.is_shard():
            at = placement.dim
            size, start = placement.local_shard_size_and_offset(
                whole.size(at), mesh.size(dim), mesh.get_coordinate()[dim]
            )
            whole = whole.narrow(at, start, size)
    return whole


def set_model_state_dict(model, model_state_dict, *, options=None):
    options = StateDictOptions() if options is None else options
    if not model_state_dict and not options.broadcast_from_rank0:
        return None
    with torch.no_grad():
        return _load_model(model, model_state_dict, options)


def _load_model(model, given, options):
    local, assign = {}, False
    for key, value in _valid_states(model):
        name = _plain_name(model, key)
        with_prefix = "module." + name if isinstance(model, DistributedDataParallel) else name
        if name != with_prefix and name in given:
            given[with_prefix] = given.pop(name)
        local[with_prefix] = value
    del value
    if options.full_state_dict:
        devices = {str(v.device): v.device for v in local.values() if v.dim() > 0}
        if "meta" in devices:
            devices.pop("meta")
            assign = True
        if len(devices) > 1:
            raise ValueError("Multiple devices found")
        device = list(devices.values())[0] if devices else torch.device("cuda", torch.cuda.current_device())
        if options.broadcast_from_rank0:
            _broadcast(given, local, device, options)
        else:
            _distribute(given, local, device)
        given.update(local)
    with _in_fsdp(model, options):
        return model.load_state_dict(given, strict=options.strict, assign=assign)


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    options = StateDictOptions() if options is None else options
    with torch.no_grad():
        for optimizer in _listed(optimizers):
            _load_optimizer(model, optimizer, optim_state_dict, options)


def _load_optimizer(model, optimizer, given, options):
    _init_optim_state(optimizer)
    if options.broadcast_from_rank0:
        _C.refuse(
            "set_optimizer_state_dict() with broadcast_from_rank0=True is not modelled", "load its state on every rank"
        )
    names = {}
    for name, value in _valid_states(model):
        names.setdefault(id(value), []).append(_plain_name(model, name))
    if given and "state" not in given:
        own = _unflattened(optimizer, names, given)
    else:
        own = _own_states(optimizer, names, given, options)
    if FSDP.fsdp_modules(model):
        with _in_fsdp(model, options):
            own = FSDP.optim_state_dict_to_load(model, optimizer, own)
    elif options.full_state_dict:
        own = _spread_optim_state(model, optimizer, own, options)
    optimizer.load_state_dict(own)


def _own_states(optimizer, names, given, options):
    """of all states those of this optimizer; of a shared parameter's names the one that was saved"""
    if all([isinstance(key, int) for key in given.get("state", {})]):  # none, too
        return given
    own, groups = {"state": {}, "param_groups": []}, given.get("param_groups", [])
    for group in optimizer.param_groups:
        own["param_groups"].append({"params": []})
        for param in group["params"]:
            for name in names[id(param)]:
                loaded = [g for g in groups if name in g["params"]]
                if len(names[id(param)]) > 1 and not loaded:
                    continue
                own["param_groups"][-1]["params"].append(name)
                if param.requires_grad and name in given.get("state", {}):
                    own["state"][name] = given["state"][name]
                elif param.requires_grad and options.strict and given:
                    raise RuntimeError(f"Missing optimizer state for parameter '{name}' in checkpoint.")
                for each in loaded:
                    own["param_groups"][-1].update({k: v for k, v in each.items() if k != "params"})
    return own


def _unflattened(optimizer, names, given):
    """the states of a dict of one level"""
    own = {"state": {}, "param_groups": []}
    for group in optimizer.param_groups:
        keys = [k for k in group if k != "params"]
        made = {"params": []}
        for param in group["params"]:
            for name in names[id(param)]:
                if len(names[id(param)]) > 1 and f"param_groups.{name}.{keys[0]}" not in given:
                    continue
                made["params"].append(name)
                if param.requires_grad:
                    own["state"][name] = {k: given[f"state.{name}.{k}"] for k in optimizer.state.get(param, {})}
        made.update({k: given[f"param_groups.{made['params'][0]}.{k}"] for k in keys})
        own["param_groups"].append(made)
    return own


def _spread_optim_state(model, optimizer, given, options):
    plain = StateDictOptions(cpu_offload=options.cpu_offload)
    local = _optim_state_of(model, (optimizer,), plain)
    devices = [v.device for values in local["state"].values() for v in values.values()
               if isinstance(v, torch.Tensor) and v.dim() > 0]
    flat_given = {(name, key): v for name, values in given["state"].items() for key, v in values.items()}
    flat_local = {(name, key): v for name, values in local["state"].items() for key, v in values.items()}
    _distribute(flat_given, flat_local, devices[0])
    # Functions that name themselves hold both until Python's cyclic collector runs.
    _flattened.extend([flat_given, flat_local])
    out = {"state": {}, "param_groups": given["param_groups"]}
    for (name, key), value in flat_local.items():
        out["state"].setdefault(name, {})[key] = value
    return out


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    out = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return out
