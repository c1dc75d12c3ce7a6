import math


class StatisticsError(ValueError):
    pass


def _numbers(data):
    numbers = list(data)
    if not numbers:
        raise StatisticsError("no data points")
    return numbers


def mean(data):
    numbers = _numbers(data)
    total = math.fsum(numbers) if any([isinstance(x, float) for x in numbers]) else sum(numbers)
    out = total / len(numbers)
    return int(out) if isinstance(total, int) and total % len(numbers) == 0 else out


def fmean(data, weights=None):
    numbers = _numbers(data)
    if weights is None:
        return math.fsum(numbers) / len(numbers)
    return math.fsum([w * x for w, x in zip(weights, numbers)]) / math.fsum(weights)


def median(data):
    numbers = sorted(_numbers(data))
    half = len(numbers) // 2
    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2


def mode(data):
    numbers = _numbers(data)
    return max(dict.fromkeys(numbers), key=numbers.count)


def pvariance(data, mu=None):
    numbers = _numbers(data)
    middle = fmean(numbers) if mu is None else mu
    return math.fsum([(x - middle) ** 2 for x in numbers]) / len(numbers)


def variance(data, xbar=None):
    numbers = list(data)
    if len(numbers) < 2:
        raise StatisticsError("variance requires at least two data points")
    middle = fmean(numbers) if xbar is None else xbar
    return math.fsum([(x - middle) ** 2 for x in numbers]) / (len(numbers) - 1)


def pstdev(data, mu=None):
    return math.sqrt(pvariance(data, mu))


def stdev(data, xbar=None):
    return math.sqrt(variance(data, xbar))
