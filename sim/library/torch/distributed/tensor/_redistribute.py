import torch
import torch._C as _C
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor.placement_types import Replicate, _MaskPartial, _NormPartial


def _padded(tensor, dim, size):
    """zeros behind the last of a dimension, up to `size`"""
    missing = size - tensor.size(dim)
    if missing == 0:
        return tensor
    pads = [0, 0] * (tensor.dim() - dim)
    pads[-1] = missing
    return torch.nn.functional.pad(tensor, pads)


def padded_parts(local, placement, count):
    """what each rank gets, of one size"""
    at, parts = placement.dim, []
    each = -(-local.size(at) // count)
    for rank in range(count):
        own, first = placement.local_shard_size_and_offset(local.size(at), count, rank)
        parts.append(_padded(local.narrow(at, first, own), at, each).contiguous())
    return parts


def _reduced(local, placement, mesh, dim):
    """a term everywhere -> the sum everywhere"""
    if isinstance(placement, _MaskPartial):
        placement.apply(local)
    if isinstance(placement, _NormPartial):
        powered = local ** placement.norm_type
        total = funcol.all_reduce(powered, "sum", (mesh, dim))
        return total ** (1.0 / placement.norm_type)
    return funcol.all_reduce(local, placement.reduce_op, (mesh, dim))


def _gathered(local, placement, mesh, dim, whole):
    """a part everywhere -> all of it everywhere. `whole`: the size of what is gathered"""
    count, at = mesh.size(dim), placement.dim
    each = -(-whole // count)
    local = _padded(local, at, each)
    if not local.is_contiguous():
        local = local.contiguous()
    out = funcol.all_gather_tensor(local, at, (mesh, dim))
    return out if each * count == whole else out.narrow(at, 0, whole)


def _scattered(local, placement, target, mesh, dim):
    """a term everywhere -> a part of the sum on each rank"""
    if isinstance(placement, _MaskPartial):
        placement.apply(local)
    count, rank, whole = mesh.size(dim), mesh.get_coordinate()[dim], local.size(target.dim)
    each, parts = -(-whole // count), None
    if whole % count != 0:
        parts = padded_parts(local, target, count)
        local = torch.cat(parts, dim=target.dim)
    elif not local.is_contiguous():
        local = local.contiguous()
    out = funcol.reduce_scatter_tensor(local, placement.reduce_op, target.dim, (mesh, dim))
    size = target._own_size(whole, count, rank)
    return out if size == each else out.narrow(target.dim, 0, size)


def _own_part(local, target, mesh, dim):
    count, rank = mesh.size(dim), mesh.get_coordinate()[dim]
    size, start = target.local_shard_size_and_offset(local.size(target.dim), count, rank)
    return _C.part_of(local, target.dim, start, size).clone()


def _swapped(local, placement, target, mesh, dim, whole):
    """parts of one dimension -> parts of another"""
    count, rank = mesh.size(dim), mesh.get_coordinate()[dim]
    own = local.size(target.dim)
    local = _padded(_padded(local, placement.dim, -(-whole // count)), target.dim, -(-own // count) * count)
    out = funcol.all_to_all_dims(local, placement.dim, target.dim, (mesh, dim))
    out = out if out.size(placement.dim) == whole else out.narrow(placement.dim, 0, whole)
    size = target._own_size(own, count, rank)
    return out if out.size(target.dim) == size else out.narrow(target.dim, 0, size)


def steps(spec, placements):
    """(dimension of the mesh, placement now, then) of each step to another layout. Of what is in parts, dimensions of
    the mesh go last to first; parts of parts whose outer ones are to change are gathered. The rest goes first to last.
    Source: generate_greedy_transform_infos"""
    now, found, mesh = list(spec.placements), [], spec.mesh

    def goes_to(dim):
        target = placements[dim]
        if mesh.ndim > 1 and target.is_shard():
            outer = [other for other in range(dim) if now[other].is_shard(target.dim)]
            if outer != [other for other in range(dim) if placements[other].is_shard(target.dim)]:
                return Replicate()
        return target

    def go(dim, target):
        if now[dim] != target:
            found.append((dim, now[dim], target))
            now[dim] = target

    if any([p.is_shard() and mesh.size(dim) > 1 for dim, p in enumerate(now)]):
        for dim in range(mesh.ndim - 1, -1, -1):
            go(dim, goes_to(dim))
    for dim in range(mesh.ndim):
        go(dim, placements[dim])
    return found


def _step(local, current, target, mesh, dim, whole_along):
    if target.is_replicate():
        if current.is_partial():
            return _reduced(local, current, mesh, dim)
        return _gathered(local, current, mesh, dim, whole_along(dim, current.dim))
    if target.is_shard():
        if current.is_partial():
            return _scattered(local, current, target, mesh, dim)
        if current.is_replicate():
            return _own_part(local, target, mesh, dim)
        return _swapped(local, current, target, mesh, dim, whole_along(dim, current.dim))
    if isinstance(target, _NormPartial):
        return local / mesh.size(dim) ** (1.0 / target.norm_type)
    return local / mesh.size(dim) if current.is_replicate() and target.reduce_op == "sum" else local


def redistribute_local_tensor(local, spec, placements, async_op=False):
    """this rank's part of a tensor that is to lie otherwise. Source: torch.distributed.tensor._redistribute"""
    now, mesh = list(spec.placements), spec.mesh

    def whole_along(dim, at):
        size = spec.shape[at]
        for other in range(dim):
            if now[other].is_shard(at):
                size = now[other]._own_size(size, mesh.size(other), mesh.get_coordinate()[other])
        return size

    made = local
    for dim, current, target in steps(spec, placements):
        made = _step(local, current, target, mesh, dim, whole_along)
        if not async_op:
            made = _C.wait_for(made)
        local = made  # what was there goes after the wait
        now[dim] = target
    return made if async_op else _C.wait_for(made)
