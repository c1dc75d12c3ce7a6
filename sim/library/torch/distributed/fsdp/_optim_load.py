import math
import torch
import torch.distributed as dist
from torch.distributed.fsdp._optim_state import (
    PosDimTensorInfo, is_positive_dim, names_of_params, optimizer_params, param_infos,
)
from torch.distributed.fsdp._sharded_tensor import ShardedTensor
from torch.distributed.fsdp.api import ShardingStrategy
from torch.distributed.tensor import DTensor, Replicate

# States by names, given back to an optimizer of flat or sharded parameters. Source: torch.distributed.fsdp._optim_utils


def _tell(osd, group):
    """rank 0 tells what it will send"""
    told = {}
    for fqn, states in osd["state"].items():
        told[fqn] = {}
        for name, value in states.items():
            if is_positive_dim(value):
                value = PosDimTensorInfo(value.shape, value.dtype)
            elif isinstance(value, torch.Tensor):
                value = value.cpu()
            told[fqn][name] = value
    dist.broadcast_object_list([{**osd, "state": told}], src=0, group=group)


def _send(state, value, group):
    if not is_positive_dim(value):
        return value
    tensor = value.to(state.compute_device)
    dist.broadcast(tensor, src=0, group=group)
    return tensor


def _gather_sharded(value, group, device):
    shards = [] if value.local_tensor() is None else [value.local_tensor()]
    numel, rows = math.prod(value.size()), value.size()[0]
    chunk_size = -(-rows // group.size()) * numel // rows
    if shards:
        local_tensor = shards[0].flatten()
        if not local_tensor.is_cuda:
            local_tensor = local_tensor.to(device)
        missing = chunk_size - local_tensor.numel()
        if missing > 0:
            local_tensor = torch.nn.functional.pad(local_tensor, [0, missing])
    else:
        local_tensor = torch.zeros(chunk_size, dtype=value.dtype, device=device)
    tensor = torch.empty(chunk_size * group.size(), dtype=local_tensor.dtype, device=device)
    dist.all_gather_into_tensor(tensor, local_tensor, group=group)
    tensor = tensor.narrow(0, 0, numel).reshape(value.size())
    return tensor, shards[0].device if shards else torch.device("cpu")


def _gather(states, info):
    """of states of one parameter: whole tensors"""
    out = {}
    for name, value in states.items():
        if isinstance(value, ShardedTensor):
            tensor, home = _gather_sharded(value, info.state.process_group, info.state.compute_device)
            out[name] = tensor if tensor.device == home else tensor.to(home)
            del tensor
        elif isinstance(value, DTensor):
            if not value.is_cuda:
                value = value.to("cuda")
            out[name] = value.redistribute(placements=[Replicate()] * len(value.placements)).to_local()
        else:
            out[name] = value
    return out


def _shard_original(info, fqn, states):
    if not states:
        return {}
    handle, out = info.handle, {}
    states = _gather(states, info)
    place = handle._in_param(info.param_indices[fqn])
    if place is None:
        return {}
    for name, value in states.items():
        if is_positive_dim(value) and info.state.sharding_strategy != ShardingStrategy.NO_SHARD:
            value = value.flatten()[place[0]:place[1]].clone()
        out[name] = value
    return out


def _flatten(info, osd_state, fqns):
    handle = info.handle
    given = [_gather(osd_state[fqn], info) if fqn in osd_state else None for fqn in fqns]
    names, states, out = [], None, {}
    for states in given:  # the last one goes last
        names = names or list(states or ())
    # PyTorch takes the names as a set has them, which is chance: here the count of steps comes first.
    for name in sorted(names, key=lambda name: name != "step"):
        values = [None if each is None else each[name] for each in given]
        found = [value for value in values if value is not None]
        for value in found:
            pass
        if is_positive_dim(value):
            out[name] = _flat_part(handle, values, value.dtype)
        elif isinstance(value, torch.Tensor):
            out[name] = torch.tensor([x.item() for x in found][-1], dtype=value.dtype)
        else:
            out[name] = value
    return out


def _flat_part(handle, values, dtype):
    """this rank's part of all of them behind each other, on the host"""
    pieces, index = [], 0
    for numel, is_padding in zip(handle._numels, handle._is_padding):
        if is_padding or values[index] is None:
            pieces.append(torch.zeros(numel, dtype=dtype))
        else:
            pieces.append(torch.flatten(values[index].to("cpu")))
        index += 0 if is_padding else 1
    whole = torch.cat(pieces)
    if not handle.uses_sharded_strategy:
        return whole
    chunks = whole.chunk(handle.world_size)
    part = chunks[handle.rank] if handle.rank < len(chunks) else chunks[0].new_empty(0)
    return torch.nn.functional.pad(part.clone(), [0, chunks[0].numel() - part.numel()])


def optim_state_dict_to_load(osd, model, optim, rank0_only, original, group):
    infos = param_infos(model)
    names = names_of_params(model, infos)
    state = next(iter(infos.values())).state
    if rank0_only:
        _tell(osd, group)
    given, flat = osd["state"], {}
    for param, fqns in names:
        fqn = fqns[0]
        if fqn not in given:
            continue
        if rank0_only:
            for each in fqns:
                for name in given[each]:
                    given[each][name] = _send(state, given[each][name], group)
        if fqn not in infos:
            flat[id(param)] = dict(given[fqn])
        elif original:
            flat[id(param)] = _shard_original(infos[fqn], fqn, given[fqn])
        else:
            flat[id(param)] = _flatten(infos[fqn], given, fqns)
        if rank0_only:
            for each in fqns:
                for name, value in list(given[each].items()):
                    if isinstance(value, torch.Tensor):
                        given[each][name] = value.cpu()
    places = {id(param): place for place, param in enumerate(optimizer_params(optim))}
    by_name = {fqn: places[id(param)] for param, fqns in names for fqn in fqns if id(param) in places}
    groups = [{**each, "params": sorted({by_name[fqn] for fqn in each["params"]})} for each in osd["param_groups"]]
    return {"state": {places[key]: states for key, states in flat.items() if states}, "param_groups": groups}
