"""Sums are exact: each number is a ratio of integers, and only the result is rounded to the type of the data."""

import math
from _normal_distribution import NormalDist, _normal_dist_inv_cdf
from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from numbers import Real

__all__ = [
    "NormalDist",
    "StatisticsError",
    "correlation",
    "covariance",
    "fmean",
    "geometric_mean",
    "harmonic_mean",
    "linear_regression",
    "mean",
    "median",
    "median_grouped",
    "median_high",
    "median_low",
    "mode",
    "multimode",
    "pstdev",
    "pvariance",
    "quantiles",
    "stdev",
    "variance",
]

LinearRegression = namedtuple("LinearRegression", ("slope", "intercept"))


class StatisticsError(ValueError):
    pass


def _is_one(kind, base):
    """as issubclass(), without asking the class itself"""
    return base in kind.__mro__


def _coerce(T, S):
    """The type of a sum of numbers of both types."""
    if T is S or S is int or S is bool:
        return T
    if T is int or _is_one(S, T):
        return S
    if _is_one(T, S) or _is_one(S, int):
        return T
    if _is_one(T, int) or _is_one(T, Fraction) and _is_one(S, float):
        return S
    if _is_one(T, float) and _is_one(S, Fraction):
        return T
    raise TypeError(f"don't know how to coerce {T.__name__} and {S.__name__}")


def _isfinite(x):
    try:
        return x.is_finite()
    except AttributeError:
        return math.isfinite(x)


def _exact_ratio(x):
    """Numerator and denominator; an infinity or what is no number is its own numerator, over None."""
    if type(x) is int:
        return x, 1
    try:
        return x.as_integer_ratio()
    except AttributeError:
        pass
    except (OverflowError, ValueError):
        return x, None
    try:
        return x.numerator, x.denominator
    except AttributeError:
        raise TypeError(f"can't convert type '{type(x).__name__}' to numerator/denominator") from None


def _convert(value, T):
    """The exact value as a T."""
    if type(value) is T:
        return value
    if _is_one(T, int) and value.denominator != 1:
        T = float
    try:
        return T(value)
    except TypeError:
        if not _is_one(T, Decimal):
            raise
        return T(value.numerator) / value.denominator


def _total(partials):
    """The sum of numerators that lie by denominator."""
    if None in partials:
        return partials[None]
    shared = math.lcm(*partials)
    return Fraction(sum([top * (shared // below) for below, top in partials.items()]), shared)


def _sum(data):
    """Type, exact total and number of what there is."""
    count, kinds, partials = 0, {}, {}
    for x in data:
        count += 1
        kinds[type(x)] = True
        top, below = _exact_ratio(x)
        partials[below] = partials[below] + top if below in partials else top if below is not None else 0 + top
    return reduce(_coerce, kinds, int), _total(partials), count


def _squares(data, c):
    """Type, exact sum of squared distances from `c` or from the mean, that middle, and number of what there is."""
    if c is not None:
        T, total, count = _sum([(x - c) * (x - c) for x in data])
        return T, total, c, count
    count, kinds, sums, squares = 0, {}, {}, {}
    for x in data:
        count += 1
        kinds[type(x)] = True
        top, below = _exact_ratio(x)
        sums[below] = sums.get(below, 0) + top
        square = None if below is None else below * below
        squares[square] = squares.get(square, 0) + top * top
    T = reduce(_coerce, kinds, int)
    if count == 0:
        return T, Fraction(0), Fraction(0), 0
    if None in sums:
        return T, sums[None] - sums[None], sums[None], count
    total = _total(sums)
    return T, _total(squares) - total * total / count, total / count, count


def _fail_neg(values, errmsg="negative value"):
    for x in values:
        if x < 0:
            raise StatisticsError(errmsg)
        yield x


def _integer_sqrt_of_frac_rto(n, m):
    """The root of n/m without its fraction; odd where there was one, so that it rounds right later."""
    root = math.isqrt(n // m)
    return root | (root * root * m != n)


def _float_sqrt_of_frac(n, m):
    """The root of n/m, rounded once."""
    if m < 0:
        n, m = -n, -m
    if n < 0:
        raise ValueError("math domain error")
    shift = (n.bit_length() - m.bit_length() - 109) // 2  # a root of 55 bits or more
    if shift >= 0:
        return float(_integer_sqrt_of_frac_rto(n, m << 2 * shift) << shift)
    return _integer_sqrt_of_frac_rto(n << -2 * shift, m) / (1 << -shift)


def _decimal_sqrt_of_frac(n, m):
    """The root of n/m, rounded once to the context's precision."""
    if n == 0 and m:
        return Decimal("0.0")
    if m < 0:
        n, m = -n, -m
    root = (Decimal(n) / Decimal(m)).sqrt()
    exact = Fraction(n, m)
    for near, closer in (
        (root.next_plus(), lambda middle: exact > middle * middle),
        (root.next_minus(), lambda middle: exact < middle * middle),
    ):
        if closer((Fraction(root) + Fraction(near)) / 2):
            return near
    return root


def mean(data):
    T, total, count = _sum(data)
    if count < 1:
        raise StatisticsError("mean requires at least one data point")
    return _convert(total / count, T)


def fmean(data, weights=None):
    numbers = list(data)
    if weights is None:
        if not numbers:
            raise StatisticsError("fmean requires at least one data point")
        return math.fsum(numbers) / len(numbers)
    weights = list(weights)
    top = math.fsum([x * w for x, w in zip(numbers, weights)])
    if len(numbers) != len(weights):
        raise StatisticsError("data and weights must be the same length")
    below = math.fsum(weights)
    if not below:
        raise StatisticsError("sum of weights must be non-zero")
    return top / below


def geometric_mean(data):
    try:
        return math.exp(fmean([math.log(x) for x in data]))
    except ValueError:
        raise StatisticsError("geometric mean requires a non-empty dataset containing positive numbers") from None


def harmonic_mean(data, weights=None):
    data = list(data)
    negative = "harmonic mean does not support negative values"
    if not data:
        raise StatisticsError("harmonic_mean requires at least one data point")
    if len(data) == 1 and weights is None:
        if not isinstance(data[0], (Real, Decimal)):
            raise TypeError("unsupported type")
        if data[0] < 0:
            raise StatisticsError(negative)
        return data[0]
    if weights is None:
        weights, whole = [1] * len(data), len(data)
    else:
        weights = list(weights)
        if len(weights) != len(data):
            raise StatisticsError("Number of weights does not match data size")
        whole = _sum(_fail_neg(weights, negative))[1]
    try:
        T, total, count = _sum([w / x if w else 0 for w, x in zip(weights, _fail_neg(data, negative))])
    except ZeroDivisionError:
        return 0
    if total <= 0:
        raise StatisticsError("Weighted sum must be positive")
    return _convert(whole / total, T)


def _sorted(data):
    numbers = sorted(data)
    if not numbers:
        raise StatisticsError("no median for empty data")
    return numbers


def median(data):
    numbers = _sorted(data)
    half = len(numbers) // 2
    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2


def median_low(data):
    numbers = _sorted(data)
    return numbers[(len(numbers) - 1) // 2]


def median_high(data):
    numbers = _sorted(data)
    return numbers[len(numbers) // 2]


def median_grouped(data, interval=1.0):
    numbers = _sorted(data)
    x = numbers[len(numbers) // 2]
    below = bisect_left(numbers, x)
    inside = bisect_right(numbers, x, below) - below
    try:
        interval, x = float(interval), float(x)
    except ValueError:
        raise TypeError("Value cannot be converted to a float") from None
    return x - interval / 2.0 + interval * (len(numbers) / 2 - below) / inside


def mode(data):
    try:
        return Counter(iter(data)).most_common(1)[0][0]
    except IndexError:
        raise StatisticsError("no mode for empty data") from None


def multimode(data):
    counts = Counter(iter(data))
    highest = max(counts.values(), default=0)
    return [value for value, count in counts.items() if count == highest]


def quantiles(data, *, n=4, method="exclusive"):
    if n < 1:
        raise StatisticsError("n must be at least 1")
    numbers = sorted(data)
    size = len(numbers)
    if size < 2:
        raise StatisticsError("must have at least two data points")
    if method not in ("inclusive", "exclusive"):
        raise ValueError(f"Unknown method: {method!r}")
    found = []
    for i in range(1, n):
        if method == "inclusive":
            j, rest = divmod(i * (size - 1), n)
        else:
            j = min(max(i * (size + 1) // n, 1), size - 1)
            rest = i * (size + 1) - j * n
            j -= 1
        found.append((numbers[j] * (n - rest) + numbers[j + 1] * rest) / n)
    return found


def variance(data, xbar=None):
    T, total, middle, count = _squares(data, xbar)
    if count < 2:
        raise StatisticsError("variance requires at least two data points")
    return _convert(total / (count - 1), T)


def pvariance(data, mu=None):
    T, total, middle, count = _squares(data, mu)
    if count < 1:
        raise StatisticsError("pvariance requires at least one data point")
    return _convert(total / count, T)


def _root(exact, T):
    if not isinstance(exact, Fraction):
        return exact
    of = _decimal_sqrt_of_frac if _is_one(T, Decimal) else _float_sqrt_of_frac
    return of(exact.numerator, exact.denominator)


def stdev(data, xbar=None):
    T, total, middle, count = _squares(data, xbar)
    if count < 2:
        raise StatisticsError("stdev requires at least two data points")
    return _root(total / (count - 1), T)


def pstdev(data, mu=None):
    T, total, middle, count = _squares(data, mu)
    if count < 1:
        raise StatisticsError("pstdev requires at least one data point")
    return _root(total / count, T)


def _mean_stdev(data):
    T, total, middle, count = _squares(data, None)
    if count < 2:
        raise StatisticsError("stdev requires at least two data points")
    return float(middle), _root(total / (count - 1), float)


def _paired(x, y, what):
    if len(y) != len(x):
        raise StatisticsError(f"{what} requires that both inputs have same number of data points")
    if len(x) < 2:
        raise StatisticsError(f"{what} requires at least two data points")
    return math.fsum(x) / len(x), math.fsum(y) / len(y)


def covariance(x, y, /):
    mx, my = _paired(x, y, "covariance")
    return math.fsum([(a - mx) * (b - my) for a, b in zip(x, y)]) / (len(x) - 1)


def correlation(x, y, /):
    mx, my = _paired(x, y, "correlation")
    sxy = math.fsum([(a - mx) * (b - my) for a, b in zip(x, y)])
    sxx = math.fsum([(a - mx) * (a - mx) for a in x])
    syy = math.fsum([(b - my) * (b - my) for b in y])
    try:
        return sxy / math.sqrt(sxx * syy)
    except ZeroDivisionError:
        raise StatisticsError("at least one of the inputs is constant") from None


def linear_regression(x, y, /, *, proportional=False):
    mx, my = _paired(x, y, "linear regression")
    if proportional:
        mx = my = 0.0
    sxy = math.fsum([(a - mx) * (b - my) for a, b in zip(x, y)])
    sxx = math.fsum([(a - mx) * (a - mx) for a in x])
    try:
        slope = sxy / sxx
    except ZeroDivisionError:
        raise StatisticsError("x is constant") from None
    return LinearRegression(slope=slope, intercept=0.0 if proportional else my - slope * mx)
