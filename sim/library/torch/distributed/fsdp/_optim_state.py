import torch
import torch.distributed as dist
from torch.distributed.fsdp import _runtime as runtime
from torch.distributed.fsdp._sharded_tensor import ShardedTensor, _rows_as_dtensor
from torch.distributed.fsdp.api import ShardingStrategy

# States of an optimizer by the names that parameters had before they were flattened. Source:
# torch.distributed.fsdp._optim_utils


class OptimStateKey:
    """the names of a parameter of an optimizer"""

    def __init__(self, unflat_param_names, is_fsdp_managed):
        self.unflat_param_names, self.is_fsdp_managed = unflat_param_names, is_fsdp_managed

    def _pickled(self):
        made = (self.unflat_param_names, self.is_fsdp_managed)
        return "torch.distributed.fsdp._optim_utils", "_OptimStateKey", made, None


class PosDimTensorInfo:
    """what is told of a tensor"""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def _pickled(self):
        return "torch.distributed.fsdp._optim_utils", "_PosDimTensorInfo", (self.shape, self.dtype), None


class StateInfo:
    """what is told of the states of one parameter"""

    def __init__(self):
        self.tensors, self.scalar_tensors, self.non_tensors = {}, {}, {}

    def _pickled(self):
        state = {
            "tensors": self.tensors, "scalar_tensors": self.scalar_tensors, "non_tensors": self.non_tensors
        }
        return "torch.distributed.fsdp._optim_utils", "StateInfo", (), state


class ParamInfo:
    """the parameters of one unit"""

    def __init__(self, state, handle):
        self.state, self.handle, self.param_indices, self.param_requires_grad = state, handle, {}, []


def is_positive_dim(value):
    return isinstance(value, torch.Tensor) and value.dim() > 0


def clean(name):
    return name.replace("_fsdp_wrapped_module.", "").replace("_checkpoint_wrapped_module.", "")


def param_infos(model):
    """by name: the unit that a parameter belongs to"""
    found = {}
    for path, module in model.named_modules():
        if not hasattr(module, "_fsdp_wrapped_module"):
            continue
        runtime.lazy_init(module)
        handle = module._handle
        if not handle:
            continue
        info = ParamInfo(module, handle)
        paths = {id(m): p for p, m in module.named_modules()}
        for index, (owner, name) in enumerate(handle._infos):
            parts = [part for part in (path, paths[id(owner)], name) if part]
            fqn = clean(".".join(parts))
            found[fqn] = info
            info.param_indices[fqn] = index
            if handle._params is not None:
                info.param_requires_grad.append(handle._params[index].requires_grad)
    return found


def names_of_params(model, infos):
    """(parameter, its names) for each that an optimizer may have: a flat one has those of all that lie in it"""
    by_handle = {}
    for fqn, info in infos.items():
        by_handle.setdefault(id(info.handle.flat_param), []).append(fqn)
    seen, found = set(), []
    for name, param in model.named_parameters():
        if id(param) not in seen:
            seen.add(id(param))
            found.append((param, by_handle.get(id(param), [clean(name)])))
    return found


def optimizer_params(optim):
    found = []
    for group in optim.param_groups:
        found.extend(group["params"])
    return found


def keys_of_states(optim_state_dict, group, params, names, infos, merges):
    """(keys that ranks agree on, the place of each among this optimizer's parameters)"""
    own, places = [], {}
    for place, param in enumerate(params):
        if place not in optim_state_dict["state"]:
            continue
        fqns = names[id(param)]
        own.append(OptimStateKey(tuple(fqns), fqns[0] in infos))
        places[tuple(fqns)] = place
    if merges:
        gathered = [None] * dist.get_world_size(group)
        dist.all_gather_object(gathered, own, group=group)
        # A parameter that has nothing here has its states on another rank.
        if own:
            for param in params:
                key = OptimStateKey(tuple(names[id(param)]), names[id(param)][0] in infos)
                if key.unflat_param_names not in places and key.is_fsdp_managed and param.requires_grad:
                    own.append(key)
        return sorted(own, key=lambda key: key.unflat_param_names), places
    told = [own] if dist.get_rank(group) == 0 else [None]
    if told[0] is None:
        told[0] = own
    dist.broadcast_object_list(told, src=0, group=group)
    missing = torch.tensor([0], dtype=torch.int32, device="cuda")
    dist.all_reduce(missing, group=group)
    missing.item()
    return own, places


# ---- flat parameters


def _gathered(info, flat_state):
    """(tensors, numbers, others) of a flat parameter's states, of all ranks"""
    state, handle = info.state, info.handle
    tensors, numbers, others = {}, {}, {}
    for name in sorted(flat_state):
        value = flat_state[name]
        if is_positive_dim(value):
            if state.world_size == 1 or state.sharding_strategy == ShardingStrategy.NO_SHARD:
                tensors[name] = value
                continue
            if not value.is_cuda:
                value = value.to(state.compute_device)
            buffer = value.new_zeros(handle.flat_param.numel() * state.world_size)
            dist.all_gather_into_tensor(buffer, value, group=state.process_group)
            torch.cuda.synchronize()
            tensors[name] = buffer[:handle._unsharded_numel]
        elif isinstance(value, torch.Tensor):
            numbers[name] = value.detach().clone()
        else:
            others[name] = value
    return tensors, numbers, others


def shard_of(info, value):
    """this rank's rows"""
    state = info.state
    if state._device_mesh is not None:
        return _rows_as_dtensor(value, state._device_mesh)
    return ShardedTensor(value, state.process_group, False)


def _by_name(info, gathered, shards):
    tensors, numbers, others = gathered
    views = {name: info.handle._views_of(tensors[name]) for name in sorted(tensors)}
    found = []
    for index in range(len(info.handle._infos)):
        mine = {}
        for name in sorted(tensors):
            value = views[name][index]
            mine[name] = shard_of(info, value) if shards else value
        for name in sorted(numbers):
            mine[name] = numbers[name]
        for name in sorted(others):
            mine[name] = others[name]
        found.append(mine)
    return found


def _unflattened(info, flat_state, saves, shards, offloads):
    gathered = _gathered(info, flat_state)
    if not saves:
        return []
    found = _by_name(info, gathered, shards)
    if offloads:
        for states in found:
            for name in list(states):
                value = states[name]
                if isinstance(value, (torch.Tensor, ShardedTensor)):
                    states[name] = value.cpu()
    return found


def _copied(states, offloads):
    """of a parameter in no unit"""
    out = dict(states)
    if offloads:
        for name in sorted(out):
            if isinstance(out[name], torch.Tensor):
                out[name] = out[name].cpu()
    return out


def _convert_flat(keys, places, infos, states, saves, shards, offloads):
    out = {}
    for key in keys:
        fqn, place = key.unflat_param_names[0], places[key.unflat_param_names]
        if key.is_fsdp_managed:
            unflat = _unflattened(infos[fqn], states[place], saves, shards, offloads)
            if saves:
                out.update(zip(key.unflat_param_names, unflat))
        elif saves:
            out[fqn] = _copied(states[place], offloads)
    return out


# ---- original parameters


def _told(info, given):
    """each rank tells what it has"""
    told = {}
    for fqn, states in given.items():
        told[fqn] = StateInfo()
        for name in sorted(states):
            value = states[name]
            if is_positive_dim(value):
                told[fqn].tensors[name] = PosDimTensorInfo(value.shape, value.dtype)
            elif isinstance(value, torch.Tensor):
                told[fqn].scalar_tensors[name] = value.cpu()
            else:
                told[fqn].non_tensors[name] = value
    gathered = [{} for _ in range(info.state.world_size)]
    dist.all_gather_object(gathered, told, group=info.state.process_group)
    return told


def _buffers(info, told, given, out):
    """(type, for each state what this rank has of each parameter); numbers go where they belong"""
    buffers, dtype = {}, None
    names = sorted({name for each in told.values() for name in each.tensors})
    whole = next(iter([each for each in told.values() if each.tensors]), None)
    for fqn in out:
        for name in names:
            if dtype is None:
                dtype = whole.tensors[name].dtype
            local = given[fqn].get(name)
            if local is not None:
                local = local.to(info.state.compute_device)
            buffers.setdefault(name, [None] * len(info.param_indices))[info.param_indices[fqn]] = local
        known = told[fqn] if told[fqn].tensors or whole is None else whole
        out[fqn].update(known.non_tensors)
        out[fqn].update(known.scalar_tensors)
    return dtype, buffers


def _local_parts(info, buffers, owned, empty):
    """this rank's part of the flat state, piece by piece"""
    handle, parts, offset, index = info.handle, [], 0, 0
    size = handle.flat_param.numel()
    begin = info.state.rank * size
    for numel, is_padding in zip(handle._numels, handle._is_padding):
        frozen = not is_padding and not info.param_requires_grad[index] and not owned[index]
        if is_padding or frozen:
            inside = min([offset + numel, begin + size]) - max([offset, begin])
            if inside > 0:
                parts.append(empty(inside))
        if not is_padding:
            if buffers[index] is not None:
                parts.append(buffers[index])
            index += 1
        offset += numel
    missing = size - sum([part.numel() for part in parts])
    if missing > 0:
        parts.append(empty(missing))
    return parts


def _hand_out(info, out, name, shards, saves, offloads):
    if not saves:
        return
    for fqn, states in out.items():
        value = states[name].reshape(info.handle._shapes[info.param_indices[fqn]])
        if shards:
            value = shard_of(info, value)
        elif not offloads:
            value = value.detach().clone()
        if offloads:
            value = value.cpu()
        states[name] = value


def _gather_original(info, given, shards, saves, offloads):
    state, handle = info.state, info.handle
    if state.world_size == 1 or state.sharding_strategy == ShardingStrategy.NO_SHARD:
        return given if saves else {}
    told = _told(info, given)
    out = {fqn: {} for fqn in given}
    dtype, buffers = _buffers(info, told, given, out)
    if not buffers:
        return out if saves else {}
    owned = [fqn in out for fqn in info.param_indices]

    def empty(numel):
        return torch.empty(numel, dtype=dtype, device=state.compute_device)

    gathered = empty(handle.flat_param.numel() * state.world_size)
    torch.cuda.synchronize()
    for name, mine in buffers.items():
        parts = _local_parts(info, mine, owned, empty)
        local_shard = torch.cat(parts)
        dist.all_gather_into_tensor(gathered, local_shard, group=state.process_group)
        torch.cuda.synchronize()
        views = handle._views_of(gathered[:handle._unsharded_numel])
        for fqn, index in info.param_indices.items():
            if info.param_requires_grad[index] or fqn in out:
                out[fqn][name] = views[index]
        _hand_out(info, out, name, shards, saves, offloads)
    return out if saves else {}


def _convert_original(keys, places, infos, states, saves, shards, offloads):
    out, units = {}, []
    for key in keys:
        fqn, place = key.unflat_param_names[0], places.get(key.unflat_param_names)
        if key.is_fsdp_managed:
            info = infos[fqn]
            if not any([unit is info for unit, _ in units]):
                units.append((info, {}))
            for unit, given in units:
                if unit is info:
                    given[fqn] = {} if place is None else states[place]
        elif place is not None and saves:
            out[fqn] = _copied(states[place], offloads)
    for info, given in units:
        out.update(_gather_original(info, given, shards, saves, offloads))
    return out


def optim_state_dict(
    model, optim, optim_state_dict, rank0_only, shards, group, original, offloads
):
    with torch.no_grad():
        infos = param_infos(model)
        for info in infos.values():
            info.handle.reset_grad_info()
        saves = not rank0_only or dist.get_rank(group) == 0 or shards
        names = {id(param): fqns for param, fqns in names_of_params(model, infos)}
        params = optimizer_params(optim)
        keys, places = keys_of_states(optim_state_dict, group, params, names, infos, original)
        convert = _convert_original if original else _convert_flat
        states = convert(keys, places, infos, optim_state_dict["state"], saves, shards, offloads)
    if not saves:
        return {}
    groups = []
    for each in optim_state_dict["param_groups"]:
        its_names = []
        for place in each["params"]:
            its_names.extend(names[id(params[place])])
        groups.append({**each, "params": its_names})
    return {"state": states, "param_groups": groups}
