import torch
import torch._C as _C
from torch.distributed.tensor._leaf import formula, part, spread, sum_to, wants
from torch.distributed.tensor.placement_types import Replicate, Shard

# Source: torch.distributed.tensor._ops._view_ops, _tensor_ops


def _meta(tensor):
    """the whole, without memory"""
    spec = _C.spec_of(tensor)
    return torch.empty_strided(spec.shape, spec.stride, dtype=spec.dtype, device="meta")


def _leaf(name, x, run, laid, made, whole, node, gradient):
    """an operator of one DTensor that keeps nothing of it. `whole`: the result's shape and stride"""
    shape, stride = whole
    if not wants((x,)):
        return _with_base(spread(run(part(x, laid)), _C.spec_of(x), made, shape, stride), x, laid)

    def forward():
        out = run(part(x, laid))
        return spread(out, _C.spec_of(x), made, shape, stride), (), node

    out = formula(name, (x,), forward, lambda kept, needs, grad: (gradient(grad),))
    return _with_base(out, x, laid)


def _with_base(out, x, laid):
    """a view keeps what it is a view of, also where it looks at a copy that was put together"""
    if tuple(laid) != _C.spec_of(x).placements:
        out._base_of_view = x
    return out


def _size_of(whole):
    return tuple(whole.shape), tuple(whole.stride())


def _known(spec, key, work_out):
    """what follows from a spec and numbers, worked out once"""
    try:
        known = spec.known.get(key)
    except TypeError:  # a list among the arguments
        return work_out()
    if known is None:
        known = spec.known[key] = work_out()
    return known


def view(op, args, kwargs):
    """view, reshape, flatten, unflatten"""
    x = args[0]
    key = (op.__name__, args[1:], tuple(kwargs.items()))
    shape = _known(_C.spec_of(x), key, lambda: tuple(op(_meta(x), *args[1:], **kwargs).shape))
    if op.__name__ != "view" and op.__name__ != "unflatten":
        if shape == tuple(x.shape):
            return x if op.__name__ == "flatten" else viewed(x, shape, "ViewBackward0", True, (op, args, kwargs))
        if not _is_view(_meta(x), shape):
            copied = x.clone(memory_format=torch.contiguous_format)
            return viewed(copied, shape, "UnsafeViewBackward0")
    return viewed(x, shape, "ViewBackward0", True, (op, args, kwargs))


def _is_view(whole, shape):
    try:
        whole.view(shape)
        return True
    except RuntimeError:
        return False


def _kept(asked, x, out, laid, *way):
    """the result; what `asked` (operator, arguments) does with what lies so is known from here on: it takes x as it
    lies"""
    op, args, kwargs = asked
    spec, of_out = _C.spec_of(x), _C.spec_of(out)
    if not kwargs and tuple(laid) == spec.placements and spec.is_shared and of_out.is_shared:
        _C.keep_view(op, args, out, *way)
    return out


def viewed(x, shape, node, is_strict=True, asked=None):
    """asked: (operator, arguments) of which this is all; None: it is one of its steps"""
    spec = _C.spec_of(x)
    old = tuple(spec.shape)
    laid, made, is_torn, whole = _known(spec, ("viewed", shape), lambda: _view_of(x, shape))
    if is_strict and is_torn:
        raise RuntimeError(
            "Attempted to flatten multiple dimensions, with dimension being sharded. It cannot be performed without "
            "redistribution, which is disallowed by the current operator."
        )
    out = spec.laid(made, shape, None, spec.dtype)
    run = lambda local: local.reshape(out.local_shape())
    made = _leaf("view", x, run, laid, made, whole, node, lambda grad: grad.reshape(old))
    if asked is None or not out.is_even():
        return made
    return _kept(asked, x, made, laid, "view", node, True, "reshape", (old,))


def _view_of(x, shape):
    """(layout of what the view looks at, of the view, whether parts would be torn, the whole's shape and stride)"""
    spec = _C.spec_of(x)
    moves, tears, laid = _moves(spec, shape), [], []
    for dim, p in enumerate(spec.placements):
        to = moves.get(p.dim) if p.is_shard() else None
        is_torn = p.is_shard() and (to is None or to[1] % spec.mesh.size(dim) != 0)
        tears.append(is_torn)
        laid.append(Replicate() if is_torn else p)
    made = [Shard(moves[p.dim][0]) if p.is_shard() else p for p in laid]
    # What is repeated (expand) stays so.
    whole = _meta(x)
    whole = whole.view(shape) if _is_view(whole, shape) else torch.empty(shape, device="meta")
    return laid, made, any(tears), _size_of(whole)


def _moves(spec, shape):
    """by dimension of the whole whose parts are found in the view: (where, the size that parts must divide)"""
    moves, i, j = {}, 0, 0
    old, new = list(spec.shape), list(shape)
    while i < len(old) or j < len(new):
        a, b = old[i] if i < len(old) else 1, new[j] if j < len(new) else 1
        ins, outs = [i] if i < len(old) else [], [j] if j < len(new) else []
        i, j = i + len(ins), j + len(outs)
        if a == 1 and b != 1 and outs:
            j -= 1
            continue
        if a != 1 and b == 1 and outs:
            i -= 1
            continue
        while a != b:
            if a < b:
                a *= old[i]
                ins.append(i)
                i += 1
            else:
                b *= new[j]
                outs.append(j)
                j += 1
        outs = [d for d in outs if new[d] != 1] or outs
        if ins and outs:
            first = ins[0]
            needs = new[outs[0]] if len(outs) > 1 else old[first] if len(ins) > 1 else 0
            moves[first] = (outs[0], needs)
    return moves


def _shown(x, moves):
    """(layout of what a view looks at, of the view): where parts would be torn, the whole"""
    laid = [Replicate() if p.is_shard() and p.dim not in moves else p for p in _C.spec_of(x).placements]
    return laid, [Shard(moves[p.dim]) if p.is_shard() else p for p in laid]


_NODES = {
    "transpose": "TransposeBackward0", "permute": "PermuteBackward0", "t": "TBackward0",
    "unsqueeze": "UnsqueezeBackward0", "squeeze": "SqueezeBackward0",
}


def permuted(name):
    """dimensions in another order, added or left out"""

    def rule(op, args, kwargs):
        x, ndim = args[0], args[0].dim()

        def work_out():
            # Each dimension has a size of its own, by which it is found again.
            sizes = [i + 2 for i in range(ndim)]
            if name == "squeeze":
                sizes = [1 if n == 1 else s for n, s in zip(x.shape, sizes)]
            seen = list(op(torch.empty(sizes, device="meta"), *args[1:], **kwargs).shape)
            moves = {i: seen.index(s) for i, s in enumerate(sizes) if s in seen and s != 1}
            return seen, moves, *_shown(x, moves), _size_of(op(_meta(x), *args[1:], **kwargs))

        key = (name, args[1:], tuple(kwargs.items()))
        seen, moves, laid, made, whole = _known(_C.spec_of(x), key, work_out)
        given = args[1:]
        run = lambda local: op(local, *given, **kwargs)
        if name == "squeeze":
            gone = [d for d in range(ndim) if d not in moves]
            run = lambda local: local.squeeze(tuple(gone))
        old = tuple(x.shape)

        def gradient(grad):
            if name == "t":
                return grad.t()
            if name == "transpose":
                return grad.transpose(*given) if given else grad.transpose(kwargs["dim0"], kwargs["dim1"])
            if name == "permute":
                return grad.permute([seen.index(i + 2) for i in range(ndim)])
            if name == "unsqueeze":
                return grad.squeeze(seen.index(1))
            return grad.reshape(old)

        out = _leaf(name, x, run, laid, made, whole, _NODES[name], gradient)
        if name == "squeeze":
            return out
        back = ("t", ())
        if name == "transpose":
            back = (name, given)
        elif name == "permute":
            back = (name, ([seen.index(i + 2) for i in range(ndim)],))
        elif name == "unsqueeze":
            back = ("squeeze", (seen.index(1),))
        return _kept((op, args, kwargs), x, out, laid, name, _NODES[name], False, *back)

    return rule


def contiguous(op, args, kwargs):
    x = args[0]
    return x if _meta(x).is_contiguous() else x.clone(memory_format=torch.contiguous_format)


def expand(op, args, kwargs):
    x, whole = args[0], op(_meta(args[0]), *args[1:], **kwargs)
    spec, old, more = _C.spec_of(x), tuple(x.shape), whole.dim() - x.dim()
    kept = {i: i + more for i in range(len(old)) if old[i] == whole.shape[i + more]}
    laid, made = _shown(x, kept)
    out = spec.with_placements(made).with_shape(tuple(whole.shape))
    run = lambda local: local.expand(out.local_shape())
    return _leaf("expand", x, run, laid, made, _size_of(whole), "ExpandBackward0", lambda grad: sum_to(grad, old))


def swapped(op, args, kwargs):
    """swapaxes, swapdims"""
    return args[0].transpose(*[*args[1:], *kwargs.values()])


def moved(op, args, kwargs):
    """Source: at::movedim"""
    x, ndim = args[0], args[0].dim()
    source, target = [[d] if isinstance(d, int) else list(d) for d in [*args[1:], *kwargs.values()]]
    places = dict(zip([d % ndim for d in target], [d % ndim for d in source]))
    rest = iter([d for d in range(ndim) if d not in places.values()])
    return x.permute([places[d] if d in places else next(rest) for d in range(ndim)])


def expanded_as(op, args, kwargs):
    x, other = [*args, *kwargs.values()]
    return x.expand(tuple(other.shape))


def _without(x, dim):
    """whole along a dimension"""
    return [Replicate() if p.is_shard(dim) else p for p in _C.spec_of(x).placements]


def _dim_of(args, kwargs, at, ndim):
    dim = kwargs.get("dim", args[at] if len(args) > at else 0)
    return dim + ndim if dim < 0 else dim


def select(op, args, kwargs):
    x, old = args[0], tuple(args[0].shape)
    dim = _dim_of(args, kwargs, 1, x.dim())
    index = kwargs.get("index", args[2] if len(args) > 2 else None)
    laid = _without(x, dim)
    made = [Shard(p.dim - 1) if p.is_shard() and p.dim > dim else p for p in laid]
    whole = _meta(x).select(dim, index)

    def gradient(grad):
        back = [Shard(p.dim + 1) if p.is_shard() and p.dim >= dim else p for p in _C.spec_of(grad).placements]
        return _put_back(grad, back, old, lambda out: out.select(dim, index))

    return _leaf("select", x, lambda t: t.select(dim, index), laid, made, _size_of(whole), "SelectBackward0", gradient)


def _put_back(grad, made, shape, where):
    """zeros, the gradient where it was taken from"""
    spec = _C.spec_of(grad).with_placements(made).with_shape(shape)
    local = _C.local_of(grad)
    out = torch.zeros(spec.local_shape(), dtype=local.dtype, device=local.device)
    where(out).copy_(local)
    return spread(out, spec)


def narrow(op, args, kwargs):
    given = {**dict(zip(("input", "dim", "start", "length"), args)), **kwargs}
    x, dim, start, length = [given[name] for name in ("input", "dim", "start", "length")]
    return sliced(x, dim + x.dim() if dim < 0 else dim, start, start + length, 1)


def sliced(x, dim, start, stop, step):
    """part of a dimension that each rank has whole, or all of it"""
    old = tuple(x.shape)
    is_all = (start, step) == (0, 1) and stop == old[dim]
    laid = list(_C.spec_of(x).placements) if is_all else _without(x, dim)
    places = tuple([slice(None)] * dim + [slice(start, stop, step)])
    whole = _meta(x)[places]

    def run(local):
        return local.narrow(dim, 0, local.size(dim)) if is_all else local[places]

    def gradient(grad):
        grad_laid = _without(grad, dim)
        grad = grad if grad_laid == list(_C.spec_of(grad).placements) else grad.redistribute(placements=grad_laid)
        return _put_back(grad, grad_laid, old, lambda out: out[places])

    return _leaf("slice", x, run, laid, laid, _size_of(whole), "SliceBackward0", gradient)


def cut(op, args, kwargs):
    """chunk, split, unbind: along a dimension that each rank has whole"""
    x = args[0]
    goes = op.__name__ == "unbind"
    dim = _dim_of(args, kwargs, 1 if goes else 2, x.dim())
    laid = _without(x, dim)
    made = [Shard(p.dim - 1) if goes and p.is_shard() and p.dim > dim else p for p in laid]
    wholes = op(_meta(x), *args[1:], **kwargs)
    sizes = [1 if goes else w.shape[dim] for w in wholes]
    spec = _C.spec_of(x)
    node = "UnbindBackward0" if goes else "SplitBackward0"

    def forward():
        outs = op(part(x, laid), *args[1:], **kwargs)
        return tuple([
            spread(o, spec, made, tuple(w.shape), tuple(w.stride())) for o, w in zip(outs, wholes)
        ]), (), node

    def gradients(kept, needs, *grads):
        some = [g for g in grads if g is not None][0]
        grads = [g if g is not None else _zeros(some, w) for g, w in zip(grads, wholes)]
        return (torch.stack(grads, dim=dim) if goes else torch.cat(grads, dim=dim),)

    return tuple([_with_base(out, x, laid) for out in formula(op.__name__, (x,), forward, gradients)])


def _zeros(some, whole):
    return torch.zeros(tuple(whole.shape), dtype=some.dtype, device=some.device)


def merged(now, other):
    """where tensors lie that are put together: Partial before Shard before Replicate, and whole where they differ"""
    if now == other:
        return now
    if now.is_replicate() or now.is_partial() and other.is_shard():
        return other
    if now.is_shard() and not other.is_shard() or now.is_partial() and other.is_replicate():
        return now
    return Replicate()
