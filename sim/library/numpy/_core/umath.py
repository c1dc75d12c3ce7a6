import math
import numpy._core.multiarray as _a
import torch


def log(x):
    return _a.apply1("log", x)


def log2(x):
    return _a.apply1("log2", x)


def log10(x):
    return _a.apply1("log10", x)


def log1p(x):
    return _a.apply1("log1p", x)


def exp(x):
    return _a.apply1("exp", x)


def expm1(x):
    return _a.apply1("expm1", x)


def sqrt(x):
    return _a.apply1("sqrt", x)


def sin(x):
    return _a.apply1("sin", x)


def cos(x):
    return _a.apply1("cos", x)


def tan(x):
    return _a.apply1("tan", x)


def tanh(x):
    return _a.apply1("tanh", x)


def sinh(x):
    return _a.apply1("sinh", x)


def cosh(x):
    return _a.apply1("cosh", x)


def arctan(x):
    return _a.apply1("atan", x)


def arcsin(x):
    return _a.apply1("asin", x)


def arccos(x):
    return _a.apply1("acos", x)


def floor(x):
    return _a.apply1("floor", x)


def ceil(x):
    return _a.apply1("ceil", x)


def rint(x):
    return _a.apply1("round", x)


def trunc(x):
    return _a.apply1("trunc", x)


def abs(x):
    return _a.apply1("abs", x, False)


def absolute(x):
    return _a.apply1("abs", x, False)


def fabs(x):
    return _a.apply1("abs", x, False)


def square(x):
    return _a.apply1("square", x, False)


def sign(x):
    return _a.apply1("sign", x, False)


def isnan(x):
    return _a.apply1("isnan", x, False)


def isinf(x):
    return _a.apply1("isinf", x, False)


def isposinf(x):
    if isinstance(x, (int, float)):
        return x == float("inf")
    return _a.made(_a.tensor_of(x)) == float("inf")


def isneginf(x):
    if isinstance(x, (int, float)):
        return x == float("-inf")
    return _a.made(_a.tensor_of(x)) == float("-inf")


def isfinite(x):
    return _a.apply1("isfinite", x, False)


def negative(x):
    return _a.apply1("neg", x, False)


def logical_not(x):
    return _a.apply1("logical_not", x, False)


def add(x, y):
    return _a.apply2("add", x, y)


def subtract(x, y):
    return _a.apply2("sub", x, y)


def multiply(x, y):
    return _a.apply2("mul", x, y)


def divide(x, y):
    return _a.apply2("true_divide", x, y)


def true_divide(x, y):
    return _a.apply2("true_divide", x, y)


def power(x, y):
    return _a.apply2("pow", x, y)


def mod(x, y):
    return _a.apply2("remainder", x, y)


def remainder(x, y):
    return _a.apply2("remainder", x, y)


def floor_divide(x, y):
    return _a.apply2("floor_divide", x, y)


def maximum(x, y):
    return _a.apply2("maximum", x, y)


def minimum(x, y):
    return _a.apply2("minimum", x, y)


def arctan2(x, y):
    return _a.apply2("atan2", x, y)


def equal(x, y):
    return _a.apply2("eq", x, y)


def not_equal(x, y):
    return _a.apply2("ne", x, y)


def less(x, y):
    return _a.apply2("lt", x, y)


def less_equal(x, y):
    return _a.apply2("le", x, y)


def greater(x, y):
    return _a.apply2("gt", x, y)


def greater_equal(x, y):
    return _a.apply2("ge", x, y)


def logical_and(x, y):
    return _a.apply2("logical_and", x, y)


def logical_or(x, y):
    return _a.apply2("logical_or", x, y)


def logical_xor(x, y):
    return _a.apply2("logical_xor", x, y)


def bitwise_and(x, y):
    return _a.apply2("bitwise_and", x, y)


def bitwise_or(x, y):
    return _a.apply2("bitwise_or", x, y)


def fmod(x, y):
    return _a.apply2("fmod", x, y)


def hypot(x, y):
    return _a.apply2("hypot", x, y)


def gcd(x, y):
    return _a.apply2("gcd", x, y)


def lcm(x, y):
    return _a.apply2("lcm", x, y)


def reciprocal(x):
    return _a.apply2("true_divide", 1, x)


def cbrt(x):
    return _a.apply2("pow", x, 1 / 3)


def exp2(x):
    return _a.apply2("pow", 2.0, x)


def deg2rad(x):
    return _a.apply2("mul", x, math.pi / 180)


def rad2deg(x):
    return _a.apply2("mul", x, 180 / math.pi)


radians, degrees = deg2rad, rad2deg


def arcsinh(x):
    return _a.apply1("asinh", x)


def arccosh(x):
    return _a.apply1("acosh", x)


def arctanh(x):
    return _a.apply1("atanh", x)


def sinc(x):
    t = _a.tensor_of(x)
    return _a._given(torch.sinc(t if t.is_floating_point() else t.double()))


def heaviside(x, y):
    return _a.made(torch.heaviside(*_a._pair(x, y)))


def logaddexp(x, y):
    return _a.made(torch.logaddexp(*_a._pair(x, y)))


def bitwise_xor(x, y):
    return _a.apply2("bitwise_xor", x, y)


def left_shift(x, y):
    return x << y if isinstance(x, int) else _a.made(_a.tensor_of(x) << y)


def right_shift(x, y):
    return x >> y if isinstance(x, int) else _a.made(_a.tensor_of(x) >> y)


def divmod(x, y):
    return floor_divide(x, y), remainder(x, y)


def modf(x):
    whole = trunc(x)
    return subtract(x, whole), whole


def copysign(x, y):
    return _a.apply2("copysign", x, y)


def _has_nan(x):
    return _a.tensor_of(x).is_floating_point()


def fmax(x, y):
    return _a.apply2("fmax" if _has_nan(x) or _has_nan(y) else "maximum", x, y)


def fmin(x, y):
    return _a.apply2("fmin" if _has_nan(x) or _has_nan(y) else "minimum", x, y)


def float_power(x, y):
    return _a.apply2("float_power", x, y)


def logaddexp2(x, y):
    return _a.apply2("logaddexp2", x, y)


def ldexp(x, y):
    return _a.apply2("ldexp", x, y)


def signbit(x):
    return _a.apply1("signbit", _a.array_of(x, copies=False), False)


def positive(x):
    return _a.array_of(x)


def invert(x):
    return _a.apply1("bitwise_not", _a.array_of(x, copies=False), False)


conj = conjugate = positive
acos, acosh, asin, asinh, atan, atan2, atanh = arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh
pow = power
bitwise_invert = bitwise_not = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
