import math
import _random
import _seeds
import _tidemark
import numpy._core.multiarray as _a
import torch

# RandomState's numbers. A generator that nobody seeds has the seed 0 here, and the run says that it rests on it. Arrays
# of more than 2^16 numbers, and some distributions, are not computed: from then on its numbers are not known, which
# matters only where one is asked for by itself.

_most = 65536


class RandomState:
    def __init__(self, seed=None):
        self._words, self._gauss, self._is_known = None, None, True
        if seed is not None:
            self.seed(seed)

    def seed(self, seed=None):
        self._gauss, self._is_known, seed = None, True, _seeds.known(seed)
        if seed is None:
            self._words = None
            return
        if not isinstance(seed, int):
            self._words = _random.by_key([int(word) for word in seed])
            return
        seed = int(seed)
        if not 0 <= seed < 2**32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        self._words = _random.by_number(seed)

    def _generator(self):
        if self._words is None:
            _tidemark.note("numpy.random is used without a seed: its numbers are those of numpy.random.seed(0)")
            self._words = _random.by_number(0)
        return self._words

    def get_state(self, legacy=True):
        words, index = _random.state(self._generator())
        return "MT19937", words, index, int(self._gauss is not None), self._gauss or 0.0

    def set_state(self, state):
        _, words, index, has_gauss, gauss = state
        self._words, self._is_known = _random.by_state(tuple(words), index), True
        self._gauss = gauss if has_gauss else None

    # ---- numbers, one by one

    def _double(self):
        return _random.real(self._generator())

    def _interval(self, most):
        """a whole number from 0 to most"""
        return _random.interval(self._generator(), most)

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

    def _drawn(self, size, draw, kind="float64"):
        """draw(): one number; None: its numbers are not computed"""
        shape = _sizes(size)
        count = math.prod(shape)
        if draw is None or count > _most:
            self._is_known = False
        if size is None and self._is_known:
            return draw()
        out = torch.empty(shape, dtype=getattr(torch, kind))
        if size is None:
            return out.item()
        if self._is_known:
            torch._C.note_values(out, [draw() for _ in range(count)])
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

    def multinomial(self, n, pvals, size=None):
        return self._drawn([*_sizes(size), len(pvals)], None, "int64")

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
        if name in ("int16", "int8", "uint8", "bool"):
            self._is_known = False
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
        if isinstance(x, list):
            if not self._is_known:
                _tidemark.note("numpy.random: the order of a list is taken after numbers that are not known", True)
            x[:] = [x[i] for i in _random.order(self._generator(), len(x), True)]
            return
        if not self._is_known or len(x) > _most:
            self._is_known = False
            x._t.copy_(torch.empty_like(x._t))
            return
        order = _random.order(self._generator(), len(x), True)
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
            count = 1 if size is None else math.prod(_sizes(size))
            if count > n:
                raise ValueError("Cannot take a larger sample than population when 'replace=False'")
            if self._is_known and n <= _most:
                picked = _a.array_of(_random.order(self._generator(), n, True)[:count], kind="int64")
            else:
                picked = self.permutation(n)[:count]
            picked = picked[0] if size is None else picked.reshape(_sizes(size))
        if isinstance(a, int):
            return picked
        if isinstance(a, (list, tuple)) and not all([isinstance(each, (int, float, str, list, tuple)) for each in a]):
            # Of objects there are no arrays here: a list has those that are drawn.
            return a[int(picked)] if size is None else [a[int(i)] for i in picked]
        return _a.array_of(a, copies=False)[picked]


def _place_in(bounds, x):
    return len([bound for bound in bounds if bound / bounds[-1] <= x])


def _sizes(size):
    return [] if size is None else [int(n) for n in size] if isinstance(size, (tuple, list)) else [int(size)]


class Generator(RandomState):
    """PCG64's numbers are not computed"""

    def __init__(self, seed=None):
        self._words, self._gauss, self._is_known = _random.by_number(0), None, False

    def _of_type(self, size, dtype, out):
        if out is not None:
            out._t.copy_(torch.empty_like(out._t))
            return out
        return self._drawn(size, None, _a.dtype_of(dtype).name)

    def random(self, size=None, dtype=float, out=None):
        return self._of_type(size, dtype, out)

    def standard_normal(self, size=None, dtype=float, out=None):
        return self._of_type(size, dtype, out)

    def standard_exponential(self, size=None, dtype=float, method="zig", out=None):
        return self._of_type(size, dtype, out)

    def standard_gamma(self, shape, size=None, dtype=float, out=None):
        return self._of_type(size, dtype, out)

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
        if high is None:
            low, high = 0, low
        if int(high) + endpoint <= int(low):
            raise ValueError("low >= high")
        return self._drawn(size, None, _a.dtype_of(dtype).name)

    def permuted(self, x, *, axis=None, out=None):
        return self.permutation(x)


class SeedSequence:
    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        self.entropy = 0 if entropy is None else entropy
        self.spawn_key, self.pool_size, self.n_children_spawned = tuple(spawn_key), pool_size, n_children_spawned

    def spawn(self, n_children):
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [SeedSequence(self.entropy, spawn_key=(*self.spawn_key, first + i)) for i in range(n_children)]

    def generate_state(self, n_words, dtype="uint32"):
        return _a.made(torch.empty(n_words, dtype=torch.int64), dtype)


class BitGenerator:
    """whose numbers are not computed"""

    def __init__(self, seed=None):
        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)


class PCG64(BitGenerator):
    pass


class PCG64DXSM(BitGenerator):
    pass


class MT19937(BitGenerator):
    pass


class Philox(BitGenerator):
    pass


class SFC64(BitGenerator):
    pass


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
multinomial = _all.multinomial
laplace = _all.laplace
lognormal = _all.lognormal
multivariate_normal = _all.multivariate_normal
dirichlet = _all.dirichlet
