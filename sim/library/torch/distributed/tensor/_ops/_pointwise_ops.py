import torch
import torch._C as _C
from torch.distributed.tensor._leaf import formula, kernel, part, spread, wants
from torch.distributed.tensor._ops._formulas import FORMULAS, SEVERAL, conjugate, of_clamp, of_divisor, of_power
from torch.distributed.tensor._ops._formulas import of_power_of, zero_of
from torch.distributed.tensor.placement_types import Replicate, Shard, _NormPartial

# Element by element: parts that lie alike give parts that lie so. Source: torch.distributed.tensor._ops._pointwise_ops

# What an operator does to terms of a sum: nothing that is linear, each by itself, adds, multiplies by what all have,
# takes them as any.
_NOT_LINEAR, _EACH, _SUM, _PRODUCT, _ANY = range(5)
_LINEARITY = {
    "neg": _EACH, "add": _SUM, "sub": _SUM, "mul": _PRODUCT, "div": _PRODUCT, "clone": _ANY, "detach": _ANY,
    "zero": _ANY, "fill": _ANY, "copy": _ANY, "to": _ANY,
}
# Gradients that are one kernel, or a choice: terms of a sum are added up first. Of the others the gradient is a factor,
# or handed on.
_OWN_KERNEL = {
    "relu", "gelu", "silu", "sigmoid", "tanh", "hardtanh", "relu6", "leaky_relu", "elu", "softplus", "logit",
    "selu", "celu", "hardswish", "hardsigmoid", "mish", "threshold", "where", "masked_fill", "clamp", "clamp_min",
    "clamp_max", "clip", "maximum", "minimum", "dropout", "log_sigmoid",
}
_HANDS_ON = {"add", "sub", "neg", "to", "clone", "copy", "rsub"}


def refuse_mixed(name, values):
    """what PyTorch says of a tensor beside DTensors; one number counts as on all ranks"""
    for value in values:
        if isinstance(value, (list, tuple)):
            refuse_mixed(name, value)
        elif isinstance(value, torch.Tensor) and _C.spec_of(value) is None and value.numel() != 1:
            raise RuntimeError(
                f"aten.{name}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
                "calling distributed operators! Please see https://docs.pytorch.org/docs/main/distributed.tensor.html"
                "#mixed-tensor-and-dtensor-operations for more details."
            )


def _where(op, args, kwargs):
    """each gradient is a choice of its own; a number becomes a tensor first"""
    args = list(args)
    for i, other in ((1, args[2]), (2, args[1])):
        if not isinstance(args[i], torch.Tensor):
            args[i] = torch.full((), args[i], dtype=other.dtype, device=other.device)
    shape = tuple(torch.broadcast_shapes(*[tuple(a.shape) for a in args]))
    refuse_mixed(op.__name__, args)
    specs = [_C.spec_of(a) for a in args]
    laid, made = layout(specs, shape, _NOT_LINEAR, False, None)
    some = [s for s in specs if s is not None][0]

    def forward():
        parts = [part(t, p) for t, p in zip(args, laid)]
        out = spread(op(*parts), some, made, shape)
        while parts:
            parts.pop()
        return out, (), "WhereBackward0"

    def gradients(kept, needs, grad):
        condition = kept[0]
        of_other = torch.where(condition, zero_of(grad), grad) if needs[1] else None
        return torch.where(condition, grad, zero_of(grad)) if needs[0] else None, of_other

    return formula("where", tuple(args[1:]), forward, gradients, (args[0],))


def _extreme(op, args, kwargs, name):
    """maximum, minimum: what is as large in both is shared"""
    x, y = args
    refuse_mixed(op.__name__, args)
    shape = tuple(torch.broadcast_shapes(tuple(x.shape), tuple(y.shape)))
    specs = [_C.spec_of(a) for a in args]
    laid, made = layout(specs, shape, _NOT_LINEAR, False, None)
    some = [s for s in specs if s is not None][0]

    def forward():
        parts = [part(t, p) for t, p in zip(args, laid)]
        out = spread(op(*parts), some, made, shape)
        while parts:
            parts.pop()
        return out, (), f"{name.capitalize()}Backward0"

    def of(grad, x, y):
        half = grad / 2
        same = x == y
        out = torch.where(same, half, grad)
        other = x < y if name == "maximum" else x > y
        out.masked_fill_(other, 0)
        del other
        del same
        del half
        return out

    def gradients(kept, needs, grad):
        x, y = kept
        of_y = of(grad, y, x) if needs[1] else None
        return of(grad, x, y) if needs[0] else None, of_y

    return formula(name, (x, y), forward, gradients, (x, y))


def _by_formula(op, args, kwargs, name, keeps, of, at=0):
    """an operator of one tensor, the argument `at`"""
    x = args[at]
    spec = _C.spec_of(x)
    laid, made = layout([spec], spec.shape, _NOT_LINEAR, False, None)

    def forward():
        out = spread(op(*args[:at], part(x, laid[0]), *args[at + 1:], **kwargs), spec, made)
        return out, (x if keeps == "self" else out,), f"{name.capitalize()}Backward0"

    return formula(name, (x,), forward, lambda kept, needs, grad: (of(grad, kept[0]),))


def _two(op, args, kwargs, name):
    """a product or a quotient: each gradient is an operator of its own"""
    x, y = args[0], args[1]
    shape = tuple(torch.broadcast_shapes(tuple(x.shape), tuple(y.shape)))
    refuse_mixed(op.__name__, [x, y])
    specs = [_C.spec_of(x), _C.spec_of(y)]
    laid, made = layout(specs, shape, _PRODUCT, False, None)
    some = specs[0] if specs[0] is not None else specs[1]
    is_product = name == "mul"

    def forward():
        parts = [part(t, p) for t, p in zip((x, y), laid)]
        out = spread(op(parts[0], parts[1], *args[2:], **kwargs), some, made, shape)
        while parts:
            parts.pop()
        return out, (), f"{name.capitalize()}Backward0"

    def gradients(kept, needs, grad):
        y, x = kept
        if is_product:
            of_y = grad * conjugate(x) if needs[1] else None
            return grad * conjugate(y) if needs[0] else None, of_y
        of_y = of_divisor(grad, x, y) if needs[1] else None
        return grad / conjugate(y) if needs[0] else None, of_y

    wants = (x.requires_grad, y.requires_grad)
    # Nodes keep and drop by the names of operands: other before self.
    kept = (y if wants[0] or not is_product else None, x if wants[1] else None)
    return formula(name, (x, y), forward, gradients, kept)


def _several(op, args, kwargs, name):
    places, turns, formulas = SEVERAL[name]
    count = len(turns)
    tensors = args[:count]
    value = kwargs.get("value", 1)
    refuse_mixed(op.__name__, tensors)
    specs = [_C.spec_of(t) for t in tensors]
    shape = tuple(torch.broadcast_shapes(*[tuple(t.shape) for t in tensors]))
    laid, made = layout(specs, shape, _NOT_LINEAR, False, None)
    some = [s for s in specs if s is not None][0]

    def forward():
        parts = [part(t, p) for t, p in zip(tensors, laid)]
        out = spread(op(*parts, *args[count:], **kwargs), some, made, shape)
        while parts:
            parts.pop()
        return out, (out,) if -1 in places else (), f"{name.capitalize()}Backward0"

    def gradients(kept, needs, grad):
        if -1 in places:
            kept = [*kept[:places.index(-1)], kept[-1], *kept[places.index(-1):-1]]
        if callable(formulas):
            return tuple(formulas(grad, kept, value, needs))
        made = [None] * count
        for i in turns:
            made[i] = formulas[i](grad, kept, value) if needs[i] else None
        return tuple(made)

    return formula(name, tensors, forward, gradients, tuple([tensors[i] for i in places if i >= 0]))


def elementwise(op, args, kwargs, name="", is_all=False):
    """is_all: the operator does nothing else"""
    if name in SEVERAL and torch.is_grad_enabled():
        given, count = args[:len(SEVERAL[name][1])], len(SEVERAL[name][1])
        if len(given) == count and all([isinstance(a, torch.Tensor) for a in given]):
            if any([a.requires_grad for a in given]):
                return _several(op, tuple(args), kwargs, name)
    if name in ("mul", "div") and len(args) > 1 and all([isinstance(a, torch.Tensor) for a in args[:2]]):
        if not kwargs and torch.is_grad_enabled() and (args[0].requires_grad or args[1].requires_grad):
            return _two(op, args, kwargs, name)
    if name in ("maximum", "minimum") and not kwargs and torch.is_grad_enabled():
        if all([isinstance(a, torch.Tensor) for a in args]) and (args[0].requires_grad or args[1].requires_grad):
            return _extreme(op, args, kwargs, name)
    if name == "where" and len(args) == 3 and torch.is_grad_enabled():
        if any([isinstance(a, torch.Tensor) and a.requires_grad for a in args[1:]]):
            return _where(op, args, kwargs)
    if name in ("clamp", "clip", "clamp_min", "clamp_max") and torch.is_grad_enabled() and args[0].requires_grad:
        bounds = ("max",) if name == "clamp_max" else ("min", "max")
        given = {**dict(zip(bounds, args[1:])), **kwargs}
        if not any([isinstance(bound, torch.Tensor) for bound in given.values()]):
            return _by_formula(op, args, kwargs, name, "self", of_clamp(given.get("min"), given.get("max")))
    if name in FORMULAS and torch.is_grad_enabled() and args[0].requires_grad:
        return _by_formula(op, args, kwargs, name, *FORMULAS[name])
    if name == "pow" and len(args) == 2 and isinstance(args[1], (int, float)) and args[1] != 0:
        exponent = args[1]
        if torch.is_grad_enabled() and args[0].requires_grad:
            return _by_formula(op, args, kwargs, name, "self", lambda grad, x: of_power(grad, x, exponent))
    if name == "pow" and len(args) == 2 and isinstance(args[0], (int, float)) and args[0] != 0:
        if torch.is_grad_enabled() and args[1].requires_grad:
            return _by_formula(op, args, kwargs, name, "result", of_power_of(args[0]), 1)
    tensors = [v for v in [*args, *kwargs.values()] if isinstance(v, torch.Tensor)]
    refuse_mixed(op.__name__, tensors)
    kind = _LINEARITY.get(name.rstrip("_"), _NOT_LINEAR)
    shape = tuple(torch.broadcast_shapes(*[tuple(v.shape) for v in tensors]))
    has_number = any([isinstance(v, (int, float, complex)) and not isinstance(v, bool) for v in args])
    specs = [_C.spec_of(v) for v in tensors]
    in_place = op.__name__.endswith("_")
    laid, made = layout(specs, shape, kind, has_number, specs[0] if in_place else None)
    base = name.rstrip("_")
    kind_back = _ANY if base in _HANDS_ON else _NOT_LINEAR if base in _OWN_KERNEL else _PRODUCT

    def back(grad, operands, result):
        ways, out = layout([grad, *operands, result], shape, kind_back, False, None)
        if base == "dropout":  # as the mask lies, which only its kernel has
            out = [Replicate() if p.is_partial() else p for p in made]
            ways[0] = out
        if base in _HANDS_ON:
            out = list(grad.placements)
            ways[0] = out
        return ways[0], ways[1:-1], ways[-1], [out] * len(operands)

    out = kernel(op.__name__, op, args, kwargs, laid, made, back, shape)
    if in_place and specs[0] is not None and list(specs[0].placements) != list(made):
        raise RuntimeError(
            f"aten.{op.__name__}: in-place operations that require placement changes are not supported. The operation "
            f"would change placement from {specs[0].placements} to {tuple(made)}, which requires redistribution and "
            "breaks aliasing semantics. Please use the out-of-place version of this operation instead."
        )
    if is_all and not kwargs and not wants(tensors):
        if all([s is not None and s.is_shared and s.placements == tuple(p) for s, p in zip(specs, laid)]):
            _C.keep_elementwise(op, args, out)
    return out


def without_gradient(error):
    """an operator whose gradient PyTorch 2.11 has for no DTensor: backward ends in `error`"""

    def rule(op, args, kwargs):
        tensors = [v for v in args if isinstance(v, torch.Tensor)]
        shape = tuple(torch.broadcast_shapes(*[tuple(t.shape) for t in tensors]))
        specs = [_C.spec_of(t) for t in tensors]
        refuse_mixed(op.__name__, tensors)
        laid, made = layout(specs, shape, _NOT_LINEAR, False, None)
        some = [s for s in specs if s is not None][0]

        def forward():
            parts = [part(t, p) for t, p in zip(tensors, laid)]
            rest = list(parts)
            local = op(*[rest.pop(0) if isinstance(v, torch.Tensor) else v for v in args], **kwargs)
            out = spread(local, some, made, shape)
            while parts:
                parts.pop()
            return out, (), f"{op.__name__.capitalize()}Backward0"

        def gradients(kept, needs, grad):
            raise type(error)(*error.args)

        return formula(op.__name__, tuple(tensors), forward, gradients)

    return rule


def layout(specs, shape, kind, has_number, followed):
    """(placements by operand, those of the result). Operands follow the one in most parts."""
    followed = _followed(specs) if followed is None else followed
    missing = len(shape) - len(followed.shape)
    made = []
    for p in followed.placements:
        if p.is_shard():
            made.append(_shifted(p, missing))
        elif p.is_partial() and not _keeps_partial(p, kind, has_number):
            made.append(Replicate())
        else:
            made.append(p)
    seen, laid = False, []
    for spec in specs:
        is_first = spec is followed and not seen
        seen = seen or is_first
        laid.append(None if spec is None else _laid(spec, made, shape, kind == _PRODUCT and not is_first))
    return laid, made


def _shifted(shard, by):
    return shard if by == 0 or type(shard) is not Shard else Shard(shard.dim + by)


def _keeps_partial(placement, kind, has_number):
    """terms of a sum go through what is linear; a number would be added by each rank"""
    if kind == _ANY:
        return True
    if kind == _NOT_LINEAR or isinstance(placement, _NormPartial):
        return False
    return placement.reduce_op in ("sum", "avg") and not (kind == _SUM and has_number)


def _followed(specs):
    """the one in most parts, of these the first with most dimensions"""
    best, most = None, (-1, -1)
    for spec in specs:
        if spec is None:
            continue
        parts = 1
        for dim, placement in enumerate(spec.placements):
            parts *= spec.mesh.size(dim) if placement.is_shard() else 1
        if (parts, len(spec.shape)) > most:
            best, most = spec, (parts, len(spec.shape))
    return best


def _laid(spec, made, shape, is_factor):
    """an operand as the result lies; what is repeated along a dimension is whole there, and a factor has no terms"""
    missing, wanted = len(shape) - len(spec.shape), []
    for p in made:
        if p.is_partial():
            wanted.append(Replicate() if is_factor else p)
        elif p.is_shard() and (p.dim < missing or spec.shape[p.dim - missing] != shape[p.dim]):
            wanted.append(Replicate())
        else:
            wanted.append(_shifted(p, -missing) if p.is_shard() else p)
    return wanted
