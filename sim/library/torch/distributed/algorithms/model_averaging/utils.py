import torch
import torch.distributed as dist

# Source: torch.distributed.algorithms.model_averaging.utils


def average_parameters(params, process_group):
    """the mean over ranks: all in one tensor, of which the parameters become parts"""
    group = dist.group.WORLD if process_group is None else process_group
    if dist.get_rank(group) < 0:
        return
    params = list(params)
    flat = torch.cat([p.data.reshape(-1) for p in params])
    flat /= dist.get_world_size(group)
    torch.cuda.synchronize()
    dist.all_reduce(flat, group=group)
    offset = 0
    for p in params:
        p.data = flat[offset : offset + p.numel()].view_as(p).type_as(p)
        offset += p.numel()


def get_params_to_average(params):
    """those that have gradients, of parameters or of an optimizer's groups"""
    found = []
    for entry in params:
        found.extend([p for p in (entry["params"] if isinstance(entry, dict) else [entry]) if p.grad is not None])
    return found


def average_parameters_or_parameter_groups(params, process_group):
    average_parameters(get_params_to_average(params), process_group)
