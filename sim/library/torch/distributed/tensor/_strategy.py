import itertools
import torch
from torch.distributed.tensor._redistribute import steps
from torch.distributed.tensor.placement_types import Replicate

# Which of several ways to lay out an operator's operands costs least: a gathering within a machine runs at 87.7 GB/s,
# each hop takes 0.6 us. Source: torch.distributed.tensor._collective_utils, _select_min_cost_strategy.

_never = float("inf")


def _topology(mesh):
    """by dimension of the mesh: (ranks, bandwidth, latency)"""
    per_host, total, found = torch.cuda.device_count(), 1, []
    for dim in range(mesh.ndim - 1, -1, -1):
        count = mesh.size(dim)
        total *= count
        crosses = total > per_host
        found.insert(0, (count, 87.7 * 0.22 if crosses else 87.7, 2.7 if crosses else 0.6))
    return found


def _collective(size, count, bandwidth, latency, rounds=1):
    hops = rounds * (count - 1)
    return 6.6 + hops * latency + (size * hops / count) / bandwidth * 1e6


def _step_cost(current, target, at, size):
    """(cost, what is moved afterwards) of one step"""
    count = at[0]
    if current.is_shard() and target.is_replicate():
        return _collective(size * count, *at), size * count
    if current.is_shard() and target.is_shard():
        return _collective(size, *at) + 1.0, size
    if current.is_partial() and target.is_replicate():
        return _collective(size, *at, rounds=2), size
    if current.is_partial() and target.is_shard():
        return _collective(size, *at), size / count
    if current.is_replicate():
        return 0.0, size / count if target.is_shard() else size
    return _never, size


def cost(spec, placements):
    """of laying out anew what lies as `spec`"""
    if spec.is_replicated() or list(spec.placements) == list(placements):
        return 0.0
    topology, size, total = _topology(spec.mesh), spec.dtype.itemsize, 0.0
    for length in spec.shape:
        size *= length
    for dim, placement in enumerate(spec.placements):
        if placement.is_shard():
            size /= spec.mesh.size(dim)
    size = size / 1024 / 1024 / 1024
    for dim, current, target in steps(spec, placements):
        each, size = _step_cost(current, target, topology[dim], size)
        total += each
    return total


def _can_lie(spec, placements):
    """no rank is left without a part"""
    counts = [1] * len(spec.shape)
    for dim, placement in enumerate(placements):
        if placement.is_shard():
            if placement.dim >= len(spec.shape):
                return False
            counts[placement.dim] *= spec.mesh.size(dim)
    return all([size >= count for size, count in zip(spec.shape, counts)])


def cheapest(specs, rows):
    """of ways to lay operands and results out along one dimension of a mesh, each a row (results, then operands), the
    one that costs least along all: (placements of the results, placements of the operands)"""
    rows = rows if type(rows) is tuple else tuple([tuple(row) for row in rows])
    known = specs[0].known
    key = ("cheapest", rows, *specs)
    if key not in known:
        known[key] = _cheapest(specs, rows)
    return known[key]


def _cheapest(specs, rows):
    results, ways = len(rows[0]) - len(specs), []
    for combination in itertools.product(rows, repeat=specs[0].mesh.ndim):
        laid = [list(column) for column in zip(*combination)]
        if all([_can_lie(s, p) for s, p in zip(specs, laid[results:])]):
            ways.append(laid)
    way = pick(specs, [laid[results:] for laid in ways], ways)
    return way[:results], way[results:]


def pick(specs, ways, of=None):
    """the way that costs least: one that moves nothing, else one for nothing. `of`: what each stands for"""
    costs, free, of = [], None, ways if of is None else of
    if len(ways) == 1:
        return of[0]
    for way, laid in zip(of, ways):
        total = sum([cost(s, p) for s, p in zip(specs, laid)])
        costs.append(total)
        if total == 0:
            if all([list(s.placements) == list(p) for s, p in zip(specs, laid)]):
                return way
            free = way if free is None else free
    return free if free is not None else of[costs.index(min(costs))]
