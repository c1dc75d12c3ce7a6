import math
import torch
import torch._C as _C
from torch.distributed._functional_collectives import all_gather_tensor
from torch.distributed.tensor._leaf import begin_context, formula, part, specs_of, spread
from torch.distributed.tensor._ops._pointwise_ops import refuse_mixed
from torch.distributed.tensor._strategy import cheapest
from torch.distributed.tensor.placement_types import Partial, Replicate, Shard

# Operators along dimensions that each rank has whole, and what picks values out. Source:
# torch.distributed.tensor._ops._math_ops, _tensor_ops; torch.distributed.tensor._nonlinear_redux


def _given(args, kwargs, *names):
    return {**dict(zip(("input", *names), args)), **kwargs}


def _dims(dim, ndim):
    dims = list(range(ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return [d + ndim if d < 0 else d for d in dims]


def whole_along(spec, dims):
    """terms added up, parts along these dimensions put together"""
    return [Replicate() if p.is_partial() or p.is_shard() and p.dim in dims else p for p in spec.placements]


def without(placements, dims):
    """where these dimensions are gone"""
    return [Shard(p.dim - sum([d < p.dim for d in dims])) if p.is_shard() else p for p in placements]


def _raises(name):
    """the gradient that PyTorch 2.11 has for no DTensor: backward ends in an error"""

    def gradients(kept, needs, *grads):
        if name == "scatter.src":
            refuse_mixed(name, [torch.empty(0, device="meta"), next(g for g in grads if g is not None)])
        raise NotImplementedError(f"Operator aten.{name}.default does not have a sharding strategy registered.")

    return gradients


def _reduced_shape(shape, dims, keeps):
    return tuple([1 if i in dims else n for i, n in enumerate(shape) if keeps or i not in dims])


def cumulative(op, args, kwargs):
    """cumsum: as long as it was"""
    x = args[0]
    given = _given(args, kwargs, "dim")
    # A dimension that is counted from the end is taken for none that lies in parts: each rank sums its own.
    laid = whole_along(_C.spec_of(x), [given["dim"]])
    run = lambda: spread(op(part(x, laid), *args[1:], **kwargs), _C.spec_of(x), laid)
    return formula("cumsum", (x,), lambda: (run(), (), "CumsumBackward0"), _raises("flip"))


def deviation(op, args, kwargs):
    """std. Source: std_backward, var_backward"""
    x, spec = args[0], _C.spec_of(args[0])
    given = _given(args, kwargs, "dim")
    dim = None if isinstance(given.get("dim"), bool) else given.get("dim")
    dims, keeps = _dims(dim, x.dim()), kwargs.get("keepdim", False)
    laid = whole_along(spec, dims)
    made = laid if keeps else without(laid, dims)
    is_whole = dim is None

    def forward():
        out = op(part(x, laid), *args[1:], **kwargs)
        out = spread(out, spec, made, _reduced_shape(spec.shape, dims, keeps))
        return out, (x, out), "StdBackward0"

    def gradients(kept, needs, grad):
        x, result = kept
        twice = result * 2
        grad = grad / twice
        nothing = result == 0
        grad.masked_fill_(nothing, 0)
        del nothing
        del twice
        if not is_whole and not keeps:
            for d in sorted(dims):
                grad = grad.unsqueeze(d)
        centre = x.mean() if is_whole else x.mean(dims, keepdim=True)
        difference = x - centre
        scaled = grad * 2.0
        out = scaled * difference
        del scaled
        del difference
        del centre
        return (out,)

    return formula("std", (x,), forward, gradients)


def log_sum_exp(op, args, kwargs):
    """Source: logsumexp_backward"""
    x, spec = args[0], _C.spec_of(args[0])
    given = _given(args, kwargs, "dim", "keepdim")
    dims, keeps = _dims(given["dim"], x.dim()), given.get("keepdim", False)
    laid = whole_along(spec, dims)
    made = laid if keeps else without(laid, dims)

    def forward():
        out = op(part(x, laid), *args[1:], **kwargs)
        out = spread(out, spec, made, _reduced_shape(spec.shape, dims, keeps))
        return out, (x, out), "LogsumexpBackward0"

    def gradients(kept, needs, grad):
        x, result = kept
        if not keeps:
            for d in sorted(dims):
                grad, result = grad.unsqueeze(d), result.unsqueeze(d)
        difference = x - result
        power = difference.exp()
        out = grad * power
        del power
        del difference
        return (out,)

    return formula("logsumexp", (x,), forward, gradients)


def sorted_along(op, args, kwargs):
    """topk, sort: values and where they were"""
    x, name = args[0], op.__name__
    given = _given(args, kwargs, *(("k", "dim") if name == "topk" else ("dim",)))
    dims = _dims(given.get("dim", -1), x.dim())
    # Parts along another dimension may cost less than the whole. Source: sort_strategy
    rows = [[Replicate()] * 2] + [[Shard(d)] * 2 for d in range(x.dim()) if d not in dims]
    laid = cheapest([_C.spec_of(x)], rows)[1][0]
    shape = tuple([given["k"] if name == "topk" and i in dims else n for i, n in enumerate(x.shape)])

    def forward():
        kind, (values, indices) = _taken_apart(op(part(x, laid), *args[1:], **kwargs))
        return kind(spread(values, _C.spec_of(x), laid, shape), spread(indices, _C.spec_of(x), laid, shape))

    return _picked(name, x, forward)


def _taken_apart(pair):
    return type(pair), pair


def _picked(name, x, forward):
    """values and where they were, which backward wants"""

    def run():
        made = forward()
        return made, (made[1],), name.capitalize() + "Backward0"

    return formula(name, (x,), run, _raises("scatter.src"))


def largest_at(op, args, kwargs):
    """argmax, argmin: of parts, then of what the ranks found"""
    given = _given(args, kwargs, "dim", "keepdim")
    if given.get("dim") is not None:
        find = torch.max if op.__name__ == "argmax" else torch.min
        return _largest_along(find, op, args[0], given["dim"], given.get("keepdim", False), False)
    x = _whole_terms(args[0])
    spec = _C.spec_of(x)
    if any([p.is_shard() for p in spec.placements]):
        with torch.no_grad():
            return _largest_of_all(op, spec, _C.local_of(x), given.get("keepdim", False))
    at = _C.call_local(op, _C.local_of(x))
    return spread(at, spec, None, ())


def _largest_of_all(op, spec, local, keeps):
    """of a part, as a place in the whole; then of what the ranks found. Source: argminmax_handler"""
    among = [i for i, p in enumerate(spec.placements) if p.is_shard()]
    kind = "max" if op.__name__ == "argmax" else "min"
    made = [Partial(kind) if p.is_shard() else p for p in spec.placements]
    at = op(local)
    value = local.flatten()[at]
    place = _place_in_whole(at, spec, tuple(local.shape))
    every_value, every_at = value, place
    for i in among:
        every_value = all_gather_tensor(every_value, 0, (spec.mesh, i))
        every_at = all_gather_tensor(every_at, 0, (spec.mesh, i))
    winner = op(every_value, None, True)
    shape = (1,) * len(spec.shape) if keeps else ()
    out = spread(torch.gather(every_at, dim=0, index=winner).reshape(shape), spec, made, shape)
    del at
    del value
    del place
    del every_value
    del every_at
    return out


def _place_in_whole(at, spec, own):
    """Source: _convert_to_global_idxs"""
    among = [[i for i, p in enumerate(spec.placements) if p.is_shard(dim)] for dim in range(len(own))]
    coordinates = torch.unravel_index(at, own)
    whole = torch.stack(coordinates)
    for dim, mesh_dims in enumerate(among):
        whole[dim] += _offset(spec, dim, mesh_dims)
    place = torch.tensor(0, device=at.device, dtype=torch.long)
    for dim, each in enumerate(whole):
        place += each * math.prod(spec.shape[dim + 1:])
    return place


def largest_along(op, args, kwargs):
    """max, min along a dimension: values and where they are"""
    given, x = _given(args, kwargs, "dim", "keepdim"), args[0]
    run = lambda: _largest_along(op, op, x, given["dim"], given.get("keepdim", False), True)
    return _picked(op.__name__, x, run)


def _largest_along(find, choose, x, dim, keeps, has_values):
    """`choose`: of what the ranks found. Source: argminmax_handler, minmax_dim_handler"""
    x = _whole_terms(x)
    spec, local, ndim = _C.spec_of(x), _C.local_of(x), x.dim()
    dims = _dims(dim, ndim)
    among = [i for i, p in enumerate(spec.placements) if p.is_shard(dims[0])]
    shape = _reduced_shape(spec.shape, dims, keeps)
    laid = whole_along(spec, dims)
    made = laid if keeps else without(laid, dims)
    own = spec.with_placements(made).with_shape(shape).local_shape()
    of_parts = Partial("max" if choose.__name__.endswith("max") else "min")
    made = [of_parts if i in among else p for i, p in enumerate(made)]  # which says how it came, not how it lies
    one = two = every_at = every_value = gathered = last = winner = None  # which die in this order
    with torch.no_grad():
        both = find(local, dim=dim, keepdim=True)
        kind, (one, two) = type(both), both if has_values else (both[1], both[0])
        both = None
        if among:
            every_at = (two if has_values else one) + _offset(spec, dims[0], among)
            every_value, gathered = one if has_values else two, every_at
            for i in among:
                every_value = all_gather_tensor(every_value, dim, (spec.mesh, i))
                gathered = all_gather_tensor(gathered, dim, (spec.mesh, i))
            chosen = choose(every_value, dim, True)
            last, winner = chosen if has_values else (None, chosen)
            chosen = None
            found = spread(torch.gather(gathered, dim=dims[0], index=winner).reshape(own), spec, made, shape)
        else:
            last = one if has_values else None
            found = spread((two if has_values else one).reshape(own), spec, made, shape)
        if not has_values:
            return found
        return kind(spread(last.reshape(own), spec, made, shape), found)


def _offset(spec, dim, among):
    """where this rank's part of the whole begins"""
    size, start = spec.shape[dim], 0
    for i in among:
        size, begin = Shard.local_shard_size_and_offset(size, spec.mesh.size(i), spec.mesh.get_coordinate()[i])
        start = begin + start
    return start


def _whole_terms(x):
    spec = _C.spec_of(x)
    if not any([p.is_partial() for p in spec.placements]):
        return x
    return x.redistribute(placements=[Replicate() if p.is_partial() else p for p in spec.placements])


def gather(op, args, kwargs):
    given = _given(args, kwargs, "dim", "index")
    x, index = given["input"], given["index"]
    dim = _dims(given["dim"], x.dim())[0]
    rows = [[Replicate()] * 3, [Shard(dim), Replicate(), Shard(dim)]]
    rows += [[Shard(d)] * 3 for d in range(x.dim()) if d != dim]
    specs = specs_of([x, index])
    if index.shape[dim] == 1 and any([p.is_shard(dim) for p in specs[0].placements]):
        _C.refuse(
            "gather() along a dimension that lies in parts is not modelled", "take this rank's part: x.to_local()"
        )
    made, laid = cheapest(specs, rows)
    old = tuple(x.shape)

    def forward():
        parts = [part(x, laid[0]), part(index, laid[1])]
        out = torch.gather(parts[0], dim, parts[1])
        while parts:
            parts.pop()
        return spread(out, specs[0], made[0], tuple(index.shape)), (), "GatherBackward0"

    def gradients(kept, needs, grad):
        nothing = grad.new_zeros(old)
        return (_scatter_added(nothing, dim, kept[0], grad),)

    return formula("gather", (x,), forward, gradients, (index,))


def scatter_add(op, args, kwargs):
    """the gradient of what is added is picked out again"""
    given = _given(args, kwargs, "dim", "index", "src")
    x, index, source = given["input"], given["index"], given["src"]
    dim = _dims(given["dim"], x.dim())[0]
    refuse_mixed("scatter_add.default", [x, index, source])
    forward = lambda: (_scatter_added(x, dim, index, source), (), "ScatterAddBackward0")

    def gradients(kept, needs, grad):
        return grad if needs[0] else None, grad.gather(dim, kept[0]) if needs[1] else None

    return formula("scatter_add", (x, source), forward, gradients, (index,))


def _scatter_added(x, dim, index, source):
    rows = [[Replicate()] * 4]
    rows += [[Shard(d)] * 4 for d in range(x.dim()) if d != dim and x.shape[d] == index.shape[d]]
    specs = specs_of([x, index, source])
    made, laid = cheapest(specs, rows)
    parts = [part(t, p) for t, p in zip((x, index, source), laid)]
    out = spread(parts[0].scatter_add(dim, parts[1], parts[2]), specs[0], made[0], tuple(x.shape))
    while parts:
        parts.pop()
    return out


def new_like(op, args, kwargs):
    """new_zeros and its kin: of the same size it lies as the tensor does, else each rank has it whole"""
    x, spec, given = args[0], _C.spec_of(args[0]), args[1:]
    begin_context(kwargs.get("device"))
    takes = 2 if op.__name__ == "new_full" else 1
    if given and isinstance(given[0], (tuple, list)):
        size, rest = tuple(given[0]), given[1:]
    elif takes == 2 or not given:
        size, rest = tuple(kwargs["size"]), given
        kwargs = {key: value for key, value in kwargs.items() if key != "size"}
    else:
        size, rest = tuple(given), ()
    follows = size == tuple(spec.shape) and any([p.is_shard() for p in spec.placements])
    made = list(spec.placements) if follows else [Replicate()] * len(spec.placements)
    laid = spec.with_placements(made).with_shape(size)
    return spread(op(_C.local_of(x), laid.local_shape(), *rest, **kwargs), spec, made, size)


def repeated(op, args, kwargs):
    """repeat: along what is repeated each rank has the whole; terms of a sum stay so"""
    x, spec = args[0], _C.spec_of(args[0])
    times = args[1] if len(args) == 2 and isinstance(args[1], (tuple, list)) else args[1:]
    more = len(times) - x.dim()
    laid = [Replicate() if p.is_shard() and times[p.dim + more] != 1 else p for p in spec.placements]
    made = [Shard(p.dim + more) if p.is_shard() else p for p in laid]
    shape = tuple([t * (x.shape[i - more] if i >= more else 1) for i, t in enumerate(times)])
    old = tuple(x.shape)

    def forward():
        return spread(part(x, laid).repeat(tuple(times)), spec, made, shape), (), "RepeatBackward0"

    def gradients(kept, needs, grad):
        for _ in range(more):
            grad = grad.sum(0, False)
        sizes, summed = [], []
        for size, count in zip(old, times[more:]):
            if count != 1:
                summed.append(len(sizes))
                sizes.append(count)
            sizes.append(size)
        if summed:
            grad = grad.reshape(tuple(sizes)).sum(summed)
        return (grad,)

    return formula("repeat", (x,), forward, gradients)


def tiled(op, args, kwargs):
    """Source: at::tile"""
    x = args[0]
    given = [*args[1:], *kwargs.values()]
    times = tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)
    return x.repeat((*[1] * (x.dim() - len(times)), *times))


def interleaved(op, args, kwargs):
    """Source: at::repeat_interleave of one number"""
    given = _given(args, kwargs, "repeats", "dim")
    x, times = given["input"], given["repeats"]
    if not isinstance(times, int):
        _C.refuse("repeat_interleave() of DTensors by a tensor is not modelled", "give a number")
    if given.get("dim") is None:
        x, dim = x.flatten(), 0
    else:
        dim = _dims(given["dim"], x.dim())[0]
    shape = tuple(x.shape)
    wide = x.unsqueeze(dim + 1).expand((*shape[:dim + 1], times, *shape[dim + 1:]))
    return wide.clone(memory_format=torch.contiguous_format).flatten(dim, dim + 1)


def as_complex(op, args, kwargs):
    """pairs of numbers as one: along the last dimension each rank has all"""
    x, spec = args[0], _C.spec_of(args[0])
    laid = whole_along(spec, [x.dim() - 1]) if any([p.is_shard(x.dim() - 1) for p in spec.placements]) else None
    laid = list(spec.placements) if laid is None else laid
    out = lambda: spread(op(part(x, laid)), spec, laid, tuple(x.shape[:-1]))
    back = lambda kept, needs, grad: (torch.view_as_real(grad.contiguous()),)
    return formula("view_as_complex", (x,), lambda: (out(), (), "ViewAsComplexBackward0"), back)


def as_real(op, args, kwargs):
    x, spec = args[0], _C.spec_of(args[0])
    laid = list(spec.placements)
    out = lambda: spread(op(part(x, laid)), spec, laid, (*x.shape, 2))
    back = lambda kept, needs, grad: (torch.view_as_complex(grad.contiguous()),)
    return formula("view_as_real", (x,), lambda: (out(), (), "ViewAsRealBackward0"), back)


def conjugate(op, args, kwargs):
    """a view that is marked; of real numbers nothing"""
    x = args[0]
    if not x.is_complex():
        return x
    spec = _C.spec_of(x)
    laid = [Replicate() if p.is_partial() else p for p in spec.placements]
    out = lambda: spread(op(part(x, laid)), spec, laid, tuple(x.shape))
    return formula("conj", (x,), lambda: (out(), (), "ConjBackward0"), lambda kept, needs, grad: (grad.conj(),))


def real_part(op, args, kwargs):
    x = args[0]
    return torch.view_as_real(x).select(-1, 0) if x.is_complex() else x


def imaginary_part(op, args, kwargs):
    return torch.view_as_real(args[0]).select(-1, 1)


def as_type_of(op, args, kwargs):
    """what `type_as` means of a tensor that is no DTensor"""
    return args[0].to(args[1].dtype)


def select_along(op, args, kwargs):
    """index_select: of what is picked from, parts along other dimensions, or of the indices parts"""
    given = _given(args, kwargs, "dim", "index")
    x, index = given["input"], given["index"]
    dim = _dims(given["dim"], x.dim())[0]
    refuse_mixed("index_select.default", [x, index])
    rows = [[Shard(dim), Replicate(), Shard(0)]]
    rows += [[Shard(d), Shard(d), Replicate()] for d in range(x.dim()) if d != dim]
    specs = specs_of([x, index])
    rows += [[Partial(), Partial(), Replicate()], [Shard(dim), Partial(), Shard(0)], [Replicate()] * 3]
    made, laid = cheapest(specs, rows)
    shape = tuple([index.shape[0] if i == dim else n for i, n in enumerate(x.shape)])

    def forward():
        parts = [part(x, laid[0]), part(index, laid[1])]
        out = spread(op(parts[0], dim, parts[1]), specs[0], made[0], shape)
        while parts:
            parts.pop()
        return out, (), "IndexSelectBackward0"

    old = tuple(x.shape)

    def gradients(kept, needs, grad):
        if dim != 0:
            raise NotImplementedError("Operator aten.index_add.default does not have a sharding strategy registered.")
        return (_index_added(grad.new_zeros(old, device=grad.device), kept[0], grad),)

    return formula("index_select", (x,), forward, gradients, (index,))


def _index_added(x, index, source):
    """along the first dimension. Source: prop_index_put, by which DecompShardingStrategy finds the ways"""
    rows = [[Replicate()] * 4] + [[Shard(d), Shard(d), Replicate(), Shard(d)] for d in range(x.dim())]
    specs = specs_of([x, index, source])
    made, laid = cheapest(specs, rows)
    if any([p.is_shard(0) for p in laid[0]]):
        _C.refuse("this gradient of index_select() is not modelled", "take this rank's part: x.to_local()")
    parts = [part(t, p) for t, p in zip((x, index, source), laid)]
    out = spread(parts[0].index_add(0, parts[1], parts[2]), specs[0], made[0], tuple(x.shape))
    while parts:
        parts.pop()
    return out
