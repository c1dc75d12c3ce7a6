import torch
import torch._C as _C
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor.placement_types import (
    Partial, Replicate, Shard, _MaskPartial, _NormPartial, _StridedShard,
)


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
    return _named(funcol.all_reduce(local, placement.reduce_op, (mesh, dim)), "DTensor: sum of all terms")


def _named(out, purpose):
    """as reports tell of its memory"""
    _C.name_here(out, purpose)
    return out


def _gathered(local, placement, mesh, dim, whole):
    """a part everywhere -> all of it everywhere. `whole`: the size of what is gathered"""
    count, at = mesh.size(dim), placement.dim
    each = -(-whole // count)
    local = _padded(local, at, each)
    if not local.is_contiguous():
        local = local.contiguous()
    out = _named(funcol.all_gather_tensor(local, at, (mesh, dim)), "DTensor: all parts")
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
    _C.name_here(out, "DTensor: part of the sum of all terms")
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
    if not local.is_contiguous():
        local = local.contiguous()
    out = _named(funcol.all_to_all_dims(local, placement.dim, target.dim, (mesh, dim)), "DTensor: part exchanged")
    out = out if out.size(placement.dim) == whole else out.narrow(placement.dim, 0, whole)
    size = target._own_size(own, count, rank)
    return out if out.size(target.dim) == size else out.narrow(target.dim, 0, size)


def shard_order(placements, mesh):
    """which dimensions of the mesh divide each dimension of the tensor, in order: one after another, but parts of parts
    after those whose number of ranks is theirs. Source: DTensorSpec._normalize_placements_into_shard_order"""
    order = {}
    for dim in range(mesh.ndim - 1, -1, -1):
        placement, place, parts = placements[dim], 0, 1
        if not placement.is_shard():
            continue
        now = order.setdefault(placement.dim, [])
        while isinstance(placement, _StridedShard) and parts < placement.split_factor and place < len(now):
            parts *= mesh.size(now[place])
            place += 1
        now.insert(place, dim)
    return order


def _is_strided(placements):
    return any([isinstance(p, _StridedShard) for p in placements])


def steps(spec, placements):
    """(dimension of the mesh, placement now, then) of each step to another layout. Of what is in parts, dimensions of
    the mesh go last to first; parts of parts whose outer ones are to change are gathered. The rest goes first to last.
    Source: generate_greedy_transform_infos"""
    now, found, mesh = list(spec.placements), [], spec.mesh
    if _is_strided(now) or _is_strided(placements):
        return _steps_in_order(now, list(placements), mesh)

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


def _steps_in_order(now, placements, mesh):
    """of what is divided in another order than the mesh's: who divided last gathers first. Source:
    generate_graph_based_transform_infos"""
    found, order, wanted = [], shard_order(now, mesh), shard_order(placements, mesh)
    for at in sorted(order, reverse=True):
        stays = wanted.get(at, [])
        while order[at] != stays[:len(order[at])]:
            dim = order[at].pop()
            found.append((dim, Shard(at), Replicate()))
            now[dim] = Replicate()
    for dim in range(mesh.ndim):
        if not placements[dim].is_shard() and now[dim] != placements[dim]:
            found.append((dim, now[dim], placements[dim]))
    for at in sorted(wanted):
        for dim in wanted[at][len(order.get(at, [])):]:
            found.append((dim, now[dim], Shard(at)))
    return found


def _flat_mesh(mesh, dims):
    """one that the program has made of some dimensions, or None"""
    flattened = mesh._root._flattened
    if not flattened or mesh.mesh_dim_names is None:
        return None
    whole = [w for d in dims for w in (mesh._dims[d][1:] if isinstance(mesh._dims[d], tuple) else [mesh._dims[d]])]
    long = ("flat", *[w for w in whole if mesh._root.size(w) > 1])
    for each in flattened.values():
        if tuple([d for d in each._dims[0] if d == "flat" or mesh._root.size(d) > 1]) == long:
            return each
    return None


def _joined(found, mesh, whole_along):
    """(mesh, its dimension, placement now, then, size of what is gathered, ranks of a mean, dimensions) of each step.
    Steps of one kind, one behind the other, are one on a mesh of all their dimensions, if the program has made that.
    Source: torch.distributed.tensor._redistribute._optimize_transform_infos"""
    while found:
        _, current, target = found[0]
        alike = [found[0]]
        while len(alike) < len(found) and _is_one_kind(found[len(alike)], current, target):
            alike.append(found[len(alike)])
        found = found[len(alike):]
        flat = _flat_step(alike, mesh, whole_along) if len(alike) > 1 else None
        if flat is not None:
            yield flat
            continue
        for dim, each, target in alike:
            yield mesh, dim, each, target, whole_along(dim, each.dim) if each.is_shard() else None, 1, [dim]


def _is_one_kind(step, current, target):
    _, placement, then = step
    if then != target:
        return False
    if current.is_partial() and (target.is_replicate() or target.is_shard()):
        sums = ("sum", "avg")
        plain = type(current) is Partial and type(placement) is Partial
        return placement == current or (plain and placement.reduce_op in sums and current.reduce_op in sums)
    return current.is_shard() and target.is_replicate() and placement == current


def _flat_step(alike, mesh, whole_along):
    dims, (_, current, target) = [dim for dim, _, _ in alike], alike[0]
    ordered, whole, mean = sorted(dims), None, 1
    if current.is_shard() and dims != ordered[::-1] or current.is_partial() and target.is_shard() and dims != ordered:
        return None
    flat = _flat_mesh(mesh, ordered)
    if flat is None:
        return None
    if current.is_shard():
        whole = max([whole_along(dim, current.dim) for dim in dims])
    elif target.is_shard() and whole_along(ordered[0], target.dim) % flat.size() != 0:
        return None
    for dim, placement, _ in alike:
        if placement.is_partial("avg"):
            mean *= mesh.size(dim)
    return flat, 0, Partial("sum") if mean > 1 else current, target, whole, mean, dims


def _step(local, current, target, mesh, dim, whole):
    if target.is_replicate():
        if current.is_partial():
            return _reduced(local, current, mesh, dim)
        return _gathered(local, current, mesh, dim, whole)
    if target.is_shard():
        if current.is_partial():
            return _scattered(local, current, target, mesh, dim)
        if current.is_replicate():
            return _own_part(local, target, mesh, dim)
        return _swapped(local, current, target, mesh, dim, whole)
    if isinstance(target, _NormPartial):
        return local / mesh.size(dim) ** (1.0 / target.norm_type)
    return local / mesh.size(dim) if current.is_replicate() and target.reduce_op == "sum" else local


def redistribute_local_tensor(local, spec, placements, async_op=False):
    """this rank's part of a tensor that is to lie otherwise. Source: torch.distributed.tensor._redistribute"""
    for on, dim, current, target, whole, mean in _way(spec, tuple(placements)):
        made = _step(local, current, target, on, dim, whole)
        if mean > 1:
            made = made / mean
        if not async_op:
            made = _C.wait_for(made)
        local = made  # what was there goes after the wait
    return local if async_op else _C.wait_for(local)


def _way(spec, placements):
    """(mesh, its dimension, placement now, then, size of what is gathered, ranks of a mean) of each step among several
    ranks; of even parts worked out once, as long as the program makes no other meshes"""
    if not spec.is_shared or not spec.is_even():
        return _found_way(spec, placements)
    key = ("way", placements, len(spec.mesh._root._flattened))
    if key not in spec.known:
        spec.known[key] = list(_found_way(spec, placements))
    return spec.known[key]


def _found_way(spec, placements):
    now, mesh = list(spec.placements), spec.mesh
    order = shard_order(now, mesh)

    def whole_along(dim, at):
        size = spec.shape[at]
        for other in order.get(at, ()) if dim in order.get(at, ()) else range(dim):
            if other == dim:
                break
            if now[other].is_shard(at):
                size = now[other]._own_size(size, mesh.size(other), mesh.get_coordinate()[other])
        return size

    for on, dim, current, target, whole, mean, dims in _joined(steps(spec, placements), mesh, whole_along):
        if on.size(dim) > 1:
            yield on, dim, current, target, whole, mean
        for each in dims:
            now[each] = target
