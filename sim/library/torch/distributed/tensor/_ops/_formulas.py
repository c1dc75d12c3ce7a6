import math
import torch

# Gradients of more than one operator, each an operator on DTensors of its own. C++ works out the last argument of a
# call first, the object of a method before its arguments; what a statement made goes at its end, the last first. A
# number before an operator is `empty_like(y).fill_(n).sub_(y)`, `y.reciprocal().mul_(n)`. Source:
# tools/autograd/derivatives.yaml, FunctionsManual.cpp, TensorOperators.h; sim/ops/records.


def conjugate(x):
    """handle_r_to_c and conj() of derivatives.yaml: of real numbers nothing"""
    return x.conj() if x.is_complex() else x


def zero_of(grad):
    """a number that an operator takes for a tensor"""
    return torch.full((), 0.0, dtype=grad.dtype, device=grad.device)


def _without(number, x):
    return torch.empty_like(x).fill_(number).sub_(x)


def _divided(number, x):
    return x.reciprocal().mul_(number)


def _steps(*makers):
    """one statement: each step sees the gradient, what is kept and what was made before it; the last is the result"""

    def of(grad, *kept):
        made = []
        for maker in makers:
            made.append(maker(grad, *kept, *made))
        out = made.pop()
        while made:
            made.pop()
        return out

    return of


def of_clamp(low, high):
    def of(grad, x):
        zero = zero_of(grad)
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


def of_power(grad, x, exponent):
    power = x.pow(exponent - 1)
    factor = exponent * power
    out = grad * factor
    del factor
    del power
    return out


def of_power_of(number):
    """by the exponent"""
    scale = math.log(number) if number > 0 else math.nan
    return _steps(lambda g, y: conjugate(y * scale), lambda g, y, factor: g * factor)


def of_divisor(grad, x, y):
    quotient = x / y
    again = quotient / y
    negative = -grad
    out = negative * conjugate(again)
    del negative
    del again
    del quotient
    return out


def _of_mish(grad, x):
    """Source: math_mish_backward"""
    soft = torch.nn.functional.softplus(x)
    curve = soft.tanh()
    del soft
    gate = x.sigmoid()
    square = curve * curve
    rest = _without(1, square)
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


def _of_sinc(grad, x):
    """Source: sinc_backward"""
    scaled = x * math.pi
    square = x * x
    squared = square * math.pi
    del square
    inner = _steps(
        lambda g, a, b: a.sin(), lambda g, a, b, sine: a.cos(), lambda g, a, b, sine, cosine: a * cosine,
        lambda g, a, b, sine, cosine, product: product - sine, lambda g, a, b, *made: made[-1] / b,
        lambda g, a, b, *made: g * conjugate(made[-1]),
    )  # fmt: skip
    out = inner(grad, scaled, squared)
    zero = zero_of(grad)
    nothing = squared == 0
    chosen = torch.where(nothing, zero, out)
    del nothing
    del zero
    del out
    del squared
    del scaled
    return chosen


def _is_finite(x):
    size = x.abs()
    bounded = size != math.inf
    same = x == x
    out = same * bounded
    del same
    del bounded
    del size
    return out


def _of_error(scale):
    return _steps(
        lambda g, x: x.pow(2), lambda g, x, square: -square, lambda g, x, *made: made[-1].exp(),
        lambda g, x, *made: made[-1] * scale, lambda g, x, *made: made[-1] * g,
    )  # fmt: skip


# By operator of one tensor: what is kept, and the gradient.
FORMULAS = {
    "abs": ("self", lambda grad, x: grad * x.sgn()),
    "sin": ("self", lambda grad, x: grad * conjugate(x.cos())),
    "cos": ("self", _steps(lambda g, x: x.sin(), lambda g, x, s: -conjugate(s), lambda g, x, s, n: g * n)),
    "sinh": ("self", lambda grad, x: grad * conjugate(x.cosh())),
    "cosh": ("self", lambda grad, x: grad * conjugate(x.sinh())),
    "asin": ("self", _steps(
        lambda g, x: -x, lambda g, x, *made: made[-1] * x, lambda g, x, *made: made[-1] + 1,
        lambda g, x, *made: made[-1].rsqrt(), lambda g, x, *made: g * conjugate(made[-1]))),
    "acos": ("self", _steps(
        lambda g, x: -x, lambda g, x, *made: made[-1] * x, lambda g, x, *made: made[-1] + 1,
        lambda g, x, *made: made[-1].rsqrt(), lambda g, x, *made: -made[-1],
        lambda g, x, *made: g * conjugate(made[-1]))),
    "atan": ("self", _steps(
        lambda g, x: x * x, lambda g, x, square: square + 1, lambda g, x, *made: g / conjugate(made[-1]))),
    "asinh": ("self", _steps(
        lambda g, x: x.pow(2), lambda g, x, square: square + 1, lambda g, x, *made: made[-1].rsqrt(),
        lambda g, x, *made: g * conjugate(made[-1]))),
    "acosh": ("self", _steps(
        lambda g, x: x * x, lambda g, x, square: square - 1, lambda g, x, *made: made[-1].rsqrt(),
        lambda g, x, *made: g * conjugate(made[-1]))),
    "atanh": ("self", _steps(
        lambda g, x: x.pow(2), lambda g, x, square: _without(1, square), lambda g, x, *made: g * 1,
        lambda g, x, square, rest, own: own / conjugate(rest))),
    "erf": ("self", _of_error(2 / math.sqrt(math.pi))),
    "erfc": ("self", _of_error(-2 / math.sqrt(math.pi))),
    "erfinv": ("self", _steps(
        lambda g, x: x.erfinv(), lambda g, x, *made: made[-1].pow(2), lambda g, x, *made: made[-1].exp(),
        lambda g, x, *made: made[-1] * (0.5 * math.sqrt(math.pi)), lambda g, x, *made: made[-1] * g)),
    "digamma": ("self", lambda grad, x: grad * torch.polygamma(1, x)),
    "lgamma": ("self", lambda grad, x: grad * torch.digamma(x)),
    "sinc": ("self", _of_sinc),
    "nan_to_num": ("self", lambda grad, x: grad * _is_finite(x)),
    "log1p": ("self", lambda grad, x: grad / (x + 1)),
    "sqrt": ("result", lambda grad, y: grad / (2 * conjugate(y))),
    "rsqrt": ("result", _steps(lambda g, y: y.pow(3), lambda g, y, p: -0.5 * g, lambda g, y, p, own: own * p)),
    "reciprocal": ("result", _steps(
        lambda g, y: y * y, lambda g, y, square: -g, lambda g, y, square, own: own * conjugate(square))),
    "mish": ("self", _of_mish),
    "square": ("self", lambda grad, x: of_power(grad, x, 2)),
    "exp2": ("result", lambda grad, y: grad * conjugate(y) * math.log(2)),
}  # fmt: skip

_exp_of_difference = _steps(
    lambda g, x, y: y - x, lambda g, x, y, *made: made[-1].exp(), lambda g, x, y, *made: 1 + made[-1],
    lambda g, x, y, *made: g / conjugate(made[-1]),
)  # fmt: skip


def _factor(grad, factor):
    return grad * conjugate(factor)


def _of_base(grad, x, exponent):
    """Source: pow_backward_self"""
    power = x.pow(exponent - 1)
    factor = exponent * power
    own = grad * conjugate(factor)
    zero = zero_of(grad)
    nothing = exponent == 0
    out = torch.where(nothing, zero, own)
    del nothing
    del zero
    del own
    del factor
    del power
    return out


def _of_exponent(grad, x, exponent, result):
    """Source: pow_backward_exponent"""
    counts = exponent >= 0
    nothing = x == 0
    chosen = torch.logical_and(nothing, counts)
    del nothing
    del counts
    logarithm = x.log()
    product = result * logarithm
    zero = zero_of(grad)
    factor = torch.where(chosen, zero, conjugate(product))
    out = grad * factor
    del factor
    del zero
    del product
    del logarithm
    del chosen
    return out


def _of_angle(grad, kept, value, needs):
    """Source: atan2_backward"""
    y, x = kept[1], kept[0]
    of_x = x * x
    of_y = y * y
    squares = of_y + of_x
    del of_y
    del of_x
    inverse = squares.reciprocal()
    nothing = squares == 0
    inverse.masked_fill_(nothing, 0)
    del nothing
    made = [None, None]
    if needs[0]:
        made[0] = _steps(lambda g: g * x, lambda g, own: own * inverse)(grad)
    if needs[1]:
        made[1] = _steps(lambda g: -y, lambda g, minus: g * minus, lambda g, minus, own: own * inverse)(grad)
    del inverse
    del squares
    return made


def _of_larger(compare, is_first):
    """fmax, fmin: nothing where the other is taken"""

    def of(grad, kept, value):
        x, y = kept[1], kept[0]
        mask = compare(x, y)
        unknown = y.isnan()
        mask.logical_or_(unknown)
        if is_first:
            mask.logical_not_()
        out = grad.masked_fill(mask, 0)
        del unknown
        del mask
        return out

    return of


def _of_logarithm(grad, kept, value):
    """xlogy, by its first"""
    x, y = kept[1], kept[0]
    own = torch.xlogy(grad, y)
    low = y <= 0
    nothing = x == 0
    mask = nothing & low
    out = own.masked_fill(mask, 0)
    del mask
    del nothing
    del low
    del own
    return out


_LARGER, _SMALLER = (lambda x, y: x >= y), (lambda x, y: x <= y)
# By operator of several tensors: what is kept, by place, -1 the result; whose gradient is made first (their names'
# order: end, self, weight); the gradient of each operand, of what is kept and the number that is given, or one function
# for all of them.
SEVERAL = {
    "addcmul": ((1, 2), (0, 1, 2), (
        lambda grad, kept, value: grad,
        lambda grad, kept, value: _factor(grad, kept[1] * value),
        lambda grad, kept, value: _factor(grad, kept[0] * value),
    )),
    "addcdiv": ((1, 2), (0, 1, 2), (
        lambda grad, kept, value: grad,
        lambda grad, kept, value: _factor(grad, _divided(value, kept[1])),
        lambda grad, kept, value: _steps(
            lambda g, x, y: y * y, lambda g, x, y, square: x * value, lambda g, x, y, square, own: own / square,
            lambda g, x, y, *made: -g, lambda g, x, y, *made: made[-1] * conjugate(made[-2]))(grad, *kept),
    )),
    "lerp": ((1, 0, 2), (1, 0, 2), (
        lambda grad, kept, value: _factor(grad, _without(1, kept[2])),
        lambda grad, kept, value: _factor(grad, kept[2]),
        lambda grad, kept, value: _factor(grad, kept[0] - kept[1]),
    )),
    "hypot": ((1, -1, 0), (1, 0), (
        lambda grad, kept, value: grad * kept[2] / kept[1],
        lambda grad, kept, value: grad * kept[0] / kept[1],
    )),
    "logaddexp": ((1, 0), (1, 0), (
        lambda grad, kept, value: _exp_of_difference(grad, kept[1], kept[0]),
        lambda grad, kept, value: _exp_of_difference(grad, kept[0], kept[1]),
    )),
    "pow": ((1, -1, 0), (1, 0), (
        lambda grad, kept, value: _of_base(grad, kept[2], kept[0]),
        lambda grad, kept, value: _of_exponent(grad, kept[2], kept[0], kept[1]),
    )),
    "atan2": ((1, 0), (0, 1), _of_angle),
    "fmax": ((1, 0), (1, 0), (_of_larger(_LARGER, True), _of_larger(_LARGER, False))),
    "fmin": ((1, 0), (1, 0), (_of_larger(_SMALLER, True), _of_larger(_SMALLER, False))),
    "xlogy": ((1, 0), (1, 0), (_of_logarithm, lambda grad, kept, value: grad * kept[1] / kept[0])),
}  # fmt: skip
