import math
import numpy._core.multiarray as _a
import torch

# RandomState's numbers, once it is seeded with a whole number. Arrays of more than 1024 numbers, and some
# distributions, are not computed: from then on its numbers are not known, which matters only where one is asked for by
# itself.

_n, _m = 624, 397
_most = 1024


class RandomState:
    def __init__(self, seed=None):
        self._state, self._why = [], "before it is given a seed"
        self._gauss = None
        if seed is not None:
            self.seed(seed)

    def seed(self, seed=None):
        self._gauss = None
        if seed is None:
            self._state, self._why = [], "after a seed from the operating system's chance"
            return
        seed = int(seed)
        if not 0 <= seed < 2**32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        state = [seed]
        for i in range(1, _n):
            before = state[i - 1] ^ (state[i - 1] >> 30)
            state.append((1812433253 * before + i) & 0xFFFFFFFF)
        self._state, self._at = state, _n

    def get_state(self, legacy=True):
        return ("MT19937", list(self._state), getattr(self, "_at", _n), self._why, self._gauss)

    def set_state(self, state):
        _, kept, self._at, self._why, self._gauss = state
        self._state = list(kept)

    # ---- numbers, one by one

    def _word(self):
        state = self._state
        if self._at >= _n:
            for i in range(_n):
                y = (state[i] & 0x80000000) | (state[(i + 1) % _n] & 0x7FFFFFFF)
                state[i] = state[(i + _m) % _n] ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
            self._at = 0
        y = state[self._at]
        self._at += 1
        y ^= y >> 11
        y ^= (y << 7) & 0x9D2C5680
        y ^= (y << 15) & 0xEFC60000
        return y ^ (y >> 18)

    def _double(self):
        a, b = self._word() >> 5, self._word() >> 6
        return (a * 67108864.0 + b) / 9007199254740992.0

    def _interval(self, most):
        """a whole number from 0 to most"""
        if most == 0:
            return 0
        if most > 0xFFFFFFFF:
            _a.refuse("random whole numbers of more than 32 bits")
        mask = (1 << most.bit_length()) - 1
        value = self._word() & mask
        while value > most:
            value = self._word() & mask
        return value

    def _normal(self):
        if self._gauss is not None:
            kept, self._gauss = self._gauss, None
            return kept
        square = 0.0
        while square >= 1.0 or square == 0.0:
            x, y = 2.0 * self._double() - 1.0, 2.0 * self._double() - 1.0
            square = x * x + y * y
        f = math.sqrt(-2.0 * math.log(square) / square)
        self._gauss = f * x
        return f * y

    def _exponential(self):
        return -math.log(1.0 - self._double())

    def _gamma(self, shape):
        if shape == 1.0:
            return self._exponential()
        if shape == 0.0:
            return 0.0
        if shape < 1.0:
            while True:
                u, v = self._double(), self._exponential()
                if u <= 1.0 - shape:
                    x = u ** (1.0 / shape)
                    if x <= v:
                        return x
                else:
                    y = -math.log((1 - u) / shape)
                    x = (1.0 - shape + shape * y) ** (1.0 / shape)
                    if x <= v + y:
                        return x
        b = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9 * b)
        while True:
            x = self._normal()
            v = 1.0 + c * x
            while v <= 0.0:
                x = self._normal()
                v = 1.0 + c * x
            v, u = v * v * v, self._double()
            if u < 1.0 - 0.0331 * (x * x) * (x * x) or math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
                return b * v

    def _beta(self, a, b):
        if a > 1.0 or b > 1.0:
            ga = self._gamma(a)
            return ga / (ga + self._gamma(b))
        while True:
            u, v = self._double(), self._double()
            x, y = u ** (1.0 / a), v ** (1.0 / b)
            if x + y <= 1.0 and u + v > 0.0:
                if x + y > 0:
                    return x / (x + y)
                x, y = math.log(u) / a, math.log(v) / b
                most = x if x > y else y
                x, y = x - most, y - most
                return math.exp(x - math.log(math.exp(x) + math.exp(y)))

    # ---- numbers and arrays of them

    def _forget(self, why):
        self._state, self._why, self._gauss = [], why, None

    def _drawn(self, size, draw, kind="float64"):
        """draw(): one number; None: its numbers are not computed"""
        if draw is None:
            self._forget("after numbers that are not computed")
        if size is None:
            if not self._state:
                _a.refuse(f"a number of numpy.random {self._why}")
            return draw()
        size = [int(n) for n in size] if isinstance(size, (tuple, list)) else [int(size)]
        count = math.prod(size)
        if count > _most and self._state:
            self._forget(f"after an array of more than {_most}")
        out = torch.zeros(size, dtype=getattr(torch, kind))
        if self._state:
            torch._C.note_values(out, [draw() for _ in range(count)])
        else:
            out = torch.empty(size, dtype=getattr(torch, kind))
        return _a.made(out)

    def random_sample(self, size=None):
        return self._drawn(size, self._double)

    random = sample = ranf = random_sample

    def rand(self, *size):
        return self._drawn(size or None, self._double)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self._drawn(size, lambda: low + (high - low) * self._double())

    def randn(self, *size):
        return self._drawn(size or None, self._normal)

    def standard_normal(self, size=None):
        return self._drawn(size, self._normal)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._drawn(size, lambda: loc + scale * self._normal())

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return self._drawn(size, lambda: math.exp(mean + sigma * self._normal()))

    def exponential(self, scale=1.0, size=None):
        return self._drawn(size, lambda: scale * self._exponential())

    standard_exponential = exponential

    def gamma(self, shape, scale=1.0, size=None):
        return self._drawn(size, lambda: scale * self._gamma(shape))

    def beta(self, a, b, size=None):
        return self._drawn(size, lambda: self._beta(a, b))

    def poisson(self, lam=1.0, size=None):
        return self._drawn(size, None, "int64")

    def binomial(self, n, p, size=None):
        return self._drawn(size, None, "int64")

    def laplace(self, loc=0.0, scale=1.0, size=None):
        return self._drawn(size, None)

    def dirichlet(self, alpha, size=None):
        return self._drawn([*_sizes(size), len(alpha)], None)

    def multivariate_normal(self, mean, cov, size=None):
        return self._drawn([*_sizes(size), len(mean)], None)

    def randint(self, low, high=None, size=None, dtype=int):
        if high is None:
            low, high = 0, low
        low, high = int(low), int(high)
        if high <= low:
            raise ValueError("low >= high")
        name = _a.dtype_of(dtype).name
        if name in ("int16", "int8", "uint8", "bool") and self._state:
            self._forget(f"after whole numbers of type {name}")
        return self._drawn(size, lambda: low + self._interval(high - low - 1), name)

    integers = randint

    def permutation(self, x):
        if isinstance(x, int):
            out = _a.made(torch.arange(x))
        else:
            out = _a.array_of(x)
        self.shuffle(out)
        return out

    def shuffle(self, x):
        n = len(x)
        if n > _most and self._state:
            self._forget(f"after an order of more than {_most}")
        if not self._state:
            if isinstance(x, list):
                _a.refuse(f"the order of a list by numpy.random {self._why}")
            x._t.copy_(torch.empty_like(x._t))
            return
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self._interval(i)
            order[i], order[j] = order[j], order[i]
        if isinstance(x, list):
            x[:] = [x[i] for i in order]
            return
        values = _a.known_of(x._t) if x.ndim == 1 else None
        x._t.copy_(x._t[torch.tensor(order)])
        if values is not None:
            torch._C.note_values(x._t, [values[i] for i in order])

    def choice(self, a, size=None, replace=True, p=None):
        n = a if isinstance(a, int) else len(a)
        if p is not None:
            if not replace:
                picked = self._drawn(size, None, "int64")
            else:
                total, bounds = 0.0, []
                for each in p:
                    total += float(each)
                    bounds.append(total)
                picked = self._drawn(size, lambda: _place_in(bounds, self._double()), "int64")
        elif replace:
            picked = self.randint(0, n, size)
        else:
            picked = self.permutation(n)[:1 if size is None else math.prod(_sizes(size))]
            picked = picked[0] if size is None else picked.reshape(_sizes(size))
        if isinstance(a, int):
            return picked
        return _a.array_of(a, copies=False)[picked]


def _place_in(bounds, x):
    return len([bound for bound in bounds if bound / bounds[-1] <= x])


def _sizes(size):
    return [] if size is None else list(size) if isinstance(size, (tuple, list)) else [size]


class Generator(RandomState):
    """PCG64's numbers are not computed"""

    def __init__(self, seed=None):
        self._state, self._why, self._gauss = [], "from default_rng()", None


def default_rng(seed=None):
    return Generator(seed)


def bytes(length):
    _a.refuse("numpy.random.bytes")


_all = RandomState()
seed = _all.seed
get_state = _all.get_state
set_state = _all.set_state
random = _all.random
rand = _all.rand
random_sample = _all.random_sample
sample = _all.sample
ranf = _all.ranf
uniform = _all.uniform
randn = _all.randn
standard_normal = _all.standard_normal
normal = _all.normal
randint = _all.randint
choice = _all.choice
shuffle = _all.shuffle
permutation = _all.permutation
beta = _all.beta
gamma = _all.gamma
exponential = _all.exponential
standard_exponential = _all.standard_exponential
poisson = _all.poisson
binomial = _all.binomial
laplace = _all.laplace
lognormal = _all.lognormal
multivariate_normal = _all.multivariate_normal
dirichlet = _all.dirichlet
