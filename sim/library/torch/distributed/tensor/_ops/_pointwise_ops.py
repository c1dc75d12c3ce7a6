import math
import torch
import torch._C as _C
from torch.distributed.tensor._leaf import formula, kernel, part, spread, wants
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


def _conjugate(x):
    """handle_r_to_c and conj() of derivatives.yaml: of real numbers nothing"""
    return x.conj() if x.is_complex() else x


# Gradients of more than one operator: (what is kept, the formula). Source: tools/autograd/derivatives.yaml
_FORMULAS = {
    "abs": ("self", lambda grad, x: grad * x.sgn()),
    "sin": ("self", lambda grad, x: grad * _conjugate(x.cos())),
    "cos": ("self", lambda grad, x: _of_cosine(grad, x)),
    "log1p": ("self", lambda grad, x: grad / (x + 1)),
    "sqrt": ("result", lambda grad, y: grad / (2 * _conjugate(y))),
    "rsqrt": ("result", lambda grad, y: _of_root(grad, y)),
    "reciprocal": ("result", lambda grad, y: _of_reciprocal(grad, y)),
    "mish": ("self", lambda grad, x: _of_mish(grad, x)),
    "square": ("self", lambda grad, x: _of_power(grad, x, 2)),
    "exp2": ("result", lambda grad, y: grad * _conjugate(y) * math.log(2)),
}


# C++ works the right factor out first, and lets what it made go at the end, the last first.
def _of_cosine(grad, x):
    sine = x.sin()
    factor = -_conjugate(sine)
    out = grad * factor
    del factor
    del sine
    return out


def _of_root(grad, y):
    power = y.pow(3)
    scaled = -0.5 * grad
    out = scaled * power
    del scaled
    del power
    return out


def _of_reciprocal(grad, y):
    square = y * y
    negative = -grad
    out = negative * _conjugate(square)
    del negative
    del square
    return out


def _of_mish(grad, x):
    """Source: math_mish_backward"""
    soft = torch.nn.functional.softplus(x)
    curve = soft.tanh()
    del soft
    gate = x.sigmoid()
    square = curve * curve
    rest = torch.empty_like(square).fill_(1).sub_(square)
    gated = x * gate
    slope = gated * rest
    factor = curve + slope
    out = grad * factor
    del factor
    del slope
    del gated
    del rest
    del square
    del gate
    del curve
    return out


def _of_power(grad, x, exponent):
    power = x.pow(exponent - 1)
    factor = exponent * power
    out = grad * factor
    del factor
    del power
    return out


def _zero(grad):
    """a number that an operator takes for a tensor"""
    return torch.full((), 0.0, dtype=grad.dtype, device=grad.device)


def _of_clamp(low, high):
    def of(grad, x):
        zero = _zero(grad)
        inside = x >= low if low is not None else x <= high
        below = None
        if low is not None and high is not None:
            below = x <= high
            inside.logical_and_(below)
        out = torch.where(inside, grad, zero)
        del below
        del inside
        del zero
        return out

    return of


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
        of_other = torch.where(condition, _zero(grad), grad) if needs[1] else None
        return torch.where(condition, grad, _zero(grad)) if needs[0] else None, of_other

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


def _by_formula(op, args, kwargs, name, keeps, of):
    """an operator of one tensor"""
    x = args[0]
    spec = _C.spec_of(x)
    laid, made = layout([spec], spec.shape, _NOT_LINEAR, False, None)

    def forward():
        out = spread(op(part(x, laid[0]), *args[1:], **kwargs), spec, made)
        return out, (x if keeps == "self" else out,), f"{name.capitalize()}Backward0"

    return formula(name, (x,), forward, lambda kept, needs, grad: (of(grad, kept[0]),))


def _of_divisor(grad, x, y):
    quotient = x / y
    again = quotient / y
    negative = -grad
    out = negative * _conjugate(again)
    del negative
    del again
    del quotient
    return out


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
            of_y = grad * _conjugate(x) if needs[1] else None
            return grad * _conjugate(y) if needs[0] else None, of_y
        of_y = _of_divisor(grad, x, y) if needs[1] else None
        return grad / _conjugate(y) if needs[0] else None, of_y

    wants = (x.requires_grad, y.requires_grad)
    # Nodes keep and drop by the names of operands: other before self.
    kept = (y if wants[0] or not is_product else None, x if wants[1] else None)
    return formula(name, (x, y), forward, gradients, kept)


def _of_exp_of_difference(grad, x, y):
    difference = y - x
    power = difference.exp()
    divisor = 1 + power
    out = grad / _conjugate(divisor)
    del divisor
    del power
    del difference
    return out


def _factor(grad, factor):
    return grad * _conjugate(factor)


# Operators of several tensors whose gradients are more than one operator: what is kept, by place, -1 the result; whose
# gradient is made first (their names' order: end, self, weight); the gradient of each operand, of what is kept and the
# number that is given. Source: tools/autograd/derivatives.yaml
_SEVERAL = {
    "addcmul": ((1, 2), (0, 1, 2), (
        lambda grad, kept, value: grad,
        lambda grad, kept, value: _factor(grad, kept[1] * value),
        lambda grad, kept, value: _factor(grad, kept[0] * value),
    )),
    "lerp": ((1, 0, 2), (1, 0, 2), (
        lambda grad, kept, value: _factor(grad, 1 - kept[2]),
        lambda grad, kept, value: _factor(grad, kept[2]),
        lambda grad, kept, value: _factor(grad, kept[0] - kept[1]),
    )),
    "hypot": ((1, -1, 0), (1, 0), (
        lambda grad, kept, value: grad * kept[2] / kept[1],
        lambda grad, kept, value: grad * kept[0] / kept[1],
    )),
    "logaddexp": ((1, 0), (1, 0), (
        lambda grad, kept, value: _of_exp_of_difference(grad, kept[1], kept[0]),
        lambda grad, kept, value: _of_exp_of_difference(grad, kept[0], kept[1]),
    )),
}  # fmt: skip


def _several(op, args, kwargs, name):
    places, turns, formulas = _SEVERAL[name]
    tensors = args[:len(formulas)]
    value = kwargs.get("value", 1)
    refuse_mixed(op.__name__, tensors)
    specs = [_C.spec_of(t) for t in tensors]
    shape = tuple(torch.broadcast_shapes(*[tuple(t.shape) for t in tensors]))
    laid, made = layout(specs, shape, _NOT_LINEAR, False, None)
    some = [s for s in specs if s is not None][0]

    def forward():
        parts = [part(t, p) for t, p in zip(tensors, laid)]
        out = spread(op(*parts, *args[len(formulas):], **kwargs), some, made, shape)
        while parts:
            parts.pop()
        return out, (out,) if -1 in places else (), f"{name.capitalize()}Backward0"

    def gradients(kept, needs, grad):
        if -1 in places:
            kept = [*kept[:places.index(-1)], kept[-1], *kept[places.index(-1):-1]]
        made = [None] * len(formulas)
        for i in turns:
            made[i] = formulas[i](grad, kept, value) if needs[i] else None
        return tuple(made)

    return formula(name, tensors, forward, gradients, tuple([tensors[i] for i in places if i >= 0]))


def elementwise(op, args, kwargs, name="", is_all=False):
    """is_all: the operator does nothing else"""
    if name in _SEVERAL and torch.is_grad_enabled():
        given = args[:len(_SEVERAL[name][2])]
        if len(given) == len(_SEVERAL[name][2]) and all([isinstance(a, torch.Tensor) for a in given]):
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
            return _by_formula(op, args, kwargs, name, "self", _of_clamp(given.get("min"), given.get("max")))
    if name in _FORMULAS and torch.is_grad_enabled() and args[0].requires_grad:
        return _by_formula(op, args, kwargs, name, *_FORMULAS[name])
    if name == "pow" and len(args) == 2 and isinstance(args[1], (int, float)) and args[1] != 0:
        exponent = args[1]
        if torch.is_grad_enabled() and args[0].requires_grad:
            return _by_formula(op, args, kwargs, name, "self", lambda grad, x: _of_power(grad, x, exponent))
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
