import hashlib
import math
import _random
import _seeds
import _tidemark
import operator
import warnings
from _abstract import Sequence

# CPython's numbers. A generator that nobody seeds takes its seed from the operating system there; here it is 0, and the
# run says that it rests on it.

__all__ = [
    "Random", "SystemRandom", "betavariate", "choice", "choices", "expovariate", "gammavariate", "gauss", "getrandbits",
    "getstate", "lognormvariate", "normalvariate", "paretovariate", "randbytes", "randint", "random", "randrange",
    "sample", "seed", "setstate", "shuffle", "triangular", "uniform", "vonmisesvariate", "weibullvariate",
]
BPF = 53
LOG4 = math.log(4.0)
TWOPI = 2.0 * math.pi
NV_MAGICCONST = 4 * math.exp(-0.5) / math.sqrt(2.0)
SG_MAGICCONST = 1.0 + math.log(4.5)


def _hash_of_float(x):
    """CPython's hash(), which its generator takes as the seed"""
    if x - x != 0:
        return 0 if x != x else 314159
    prime = (1 << 61) - 1
    top, below = abs(x).as_integer_ratio()
    return top * pow(below, prime - 2, prime) % prime


class Random:
    def __init__(self, x=None):
        self._words = self.gauss_next = None
        if x is not None:
            self.seed(x)

    def _generator(self):
        if self._words is None:
            _tidemark.note("random is used without a seed: its numbers are those of random.seed(0)")
            self._words = _random.by_key([0])
        return self._words

    def seed(self, a=None, version=2):
        self.gauss_next, a = None, _seeds.known(a)
        if version == 1 and isinstance(a, (str, bytes)):
            a = a.decode("latin-1") if isinstance(a, bytes) else a
            x = ord(a[0]) << 7 if a else 0
            for c in a:
                x = (1000003 * x ^ ord(c)) & 0xFFFFFFFFFFFFFFFF
            x ^= len(a)
            a = -2 if x == 0xFFFFFFFFFFFFFFFF else x
        elif isinstance(a, (str, bytes, bytearray)):
            a = a.encode() if isinstance(a, str) else bytes(a)
            a = int.from_bytes(a + hashlib.sha512(a).digest(), "big")
        elif isinstance(a, float):
            a = _hash_of_float(a)
        elif a is not None and not isinstance(a, int):
            raise TypeError(
                "The only supported seed types are: None,\nint, float, str, bytes, and bytearray."
            )
        if a is None:
            self._words = None
            return
        a = abs(int(a))
        key = [a & 0xFFFFFFFF]
        while a >> 32:
            a >>= 32
            key.append(a & 0xFFFFFFFF)
        self._words = _random.by_key(key)

    def getstate(self):
        words, index = _random.state(self._generator())
        return 3, (*words, index), self.gauss_next

    def setstate(self, state):
        _, numbers, self.gauss_next = state
        self._words = _random.by_state(numbers[:-1], numbers[-1])

    def random(self):
        return _random.real(self._generator())

    def getrandbits(self, k):
        k = operator.index(k)
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        if k <= 62:
            return _random.bits(self._generator(), k)
        words, value = self._generator(), 0
        for place in range(0, k, 32):
            value |= _random.bits(words, min(32, k - place)) << place
        return value

    def randbytes(self, n):
        return self.getrandbits(n * 8).to_bytes(n, "little")

    def _below(self, n):
        if n < 1 << 62 and type(self) is Random:
            return _random.below(self._generator(), n)
        k = n.bit_length()
        value = self.getrandbits(k)
        while value >= n:
            value = self.getrandbits(k)
        return value

    _randbelow = _below

    def randrange(self, start, stop=None, step=1):
        start = _whole(start)
        if stop is None:
            if step != 1:
                raise TypeError("Missing a non-None stop argument")
            if start <= 0:
                raise ValueError("empty range for randrange()")
            return self._below(start)
        stop, step = _whole(stop), _whole(step)
        width = stop - start
        if step == 0:
            raise ValueError("zero step for randrange()")
        n = width if step == 1 else (width + step - 1) // step if step > 0 else (width + step + 1) // step
        if n <= 0:
            told = f" ({start}, {stop}, {width})" if step == 1 else ""
            raise ValueError("empty range for randrange()" + told)
        return start + step * self._below(n)

    def randint(self, a, b):
        return self.randrange(a, b + 1)

    def uniform(self, a, b):
        return a + (b - a) * self.random()

    def choice(self, seq):
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._below(len(seq))]

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        n = len(population)
        if cum_weights is None:
            if weights is None:
                return [population[math.floor(self.random() * (n + 0.0))] for i in range(k)]
            total, cum_weights = 0, []
            for w in weights:
                total += w
                cum_weights.append(total)
        elif weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        if len(cum_weights) != n:
            raise ValueError("The number of weights does not match the population")
        total = cum_weights[-1] + 0.0
        if total <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        if total - total != 0:
            raise ValueError("Total of weights must be finite")
        out = []
        for i in range(k):
            x, low, high = self.random() * total, 0, n - 1
            while low < high:
                middle = (low + high) // 2
                if x < cum_weights[middle]:
                    high = middle
                else:
                    low = middle + 1
            out.append(population[low])
        return out

    def shuffle(self, x):
        x[:] = [x[i] for i in _random.order(self._generator(), len(x), False)]

    def sample(self, population, k, *, counts=None):
        if not isinstance(population, (list, tuple, str, range, bytes, Sequence)) and not hasattr(
            type(population), "__is_sequence__"
        ):
            raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
        if counts is not None:
            counts = list(counts)
            if len(counts) != len(population):
                raise ValueError("The number of counts does not match the population")
            total = sum(counts)
            if not isinstance(total, int):
                raise TypeError("Counts must be integers")
            if total <= 0:
                raise ValueError("Total of counts must be greater than zero")
            population = [p for p, count in zip(population, counts) for _ in range(count)]
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("Sample larger than population or is negative")
        size = 21
        if k > 5:
            size += 4 ** math.ceil(math.log(k * 3, 4))
        if n <= size:
            pool, out = list(population), []
            for i in range(k):
                j = self._below(n - i)
                out.append(pool[j])
                pool[j] = pool[n - i - 1]
            return out
        selected, out = set(), []
        for i in range(k):
            j = self._below(n)
            while j in selected:
                j = self._below(n)
            selected.add(j)
            out.append(population[j])
        return out

    def triangular(self, low=0.0, high=1.0, mode=None):
        u = self.random()
        if high == low:
            return low
        c = 0.5 if mode is None else (mode - low) / (high - low)
        if u > c:
            u, c = 1.0 - u, 1.0 - c
            low, high = high, low
        return low + (high - low) * math.sqrt(u * c)

    def normalvariate(self, mu=0.0, sigma=1.0):
        while True:
            u1, u2 = self.random(), 1.0 - self.random()
            z = NV_MAGICCONST * (u1 - 0.5) / u2
            if z * z / 4.0 <= -math.log(u2):
                return mu + z * sigma

    def gauss(self, mu=0.0, sigma=1.0):
        z, self.gauss_next = self.gauss_next, None
        if z is None:
            angle = self.random() * TWOPI
            radius = math.sqrt(-2.0 * math.log(1.0 - self.random()))
            z, self.gauss_next = math.cos(angle) * radius, math.sin(angle) * radius
        return mu + z * sigma

    def lognormvariate(self, mu=0.0, sigma=1.0):
        return math.exp(self.normalvariate(mu, sigma))

    def expovariate(self, lambd=1.0):
        return -math.log(1.0 - self.random()) / lambd

    def vonmisesvariate(self, mu, kappa):
        if kappa <= 1e-6:
            return TWOPI * self.random()
        s = 0.5 / kappa
        r = s + math.sqrt(1.0 + s * s)
        while True:
            z = math.cos(math.pi * self.random())
            d = z / (r + z)
            u2 = self.random()
            if u2 < 1.0 - d * d or u2 <= (1.0 - d) * math.exp(d):
                break
        q = 1.0 / r
        f = (q + z) / (1.0 + q * z)
        angle = math.acos(f)
        return (mu + angle) % TWOPI if self.random() > 0.5 else (mu - angle) % TWOPI

    def gammavariate(self, alpha, beta):
        if alpha <= 0.0 or beta <= 0.0:
            raise ValueError("gammavariate: alpha and beta must be > 0.0")
        if alpha == 1.0:
            return -math.log(1.0 - self.random()) * beta
        if alpha > 1.0:
            ainv = math.sqrt(2.0 * alpha - 1.0)
            while True:
                u1 = self.random()
                if not 1e-7 < u1 < 0.9999999:
                    continue
                u2 = 1.0 - self.random()
                v = math.log(u1 / (1.0 - u1)) / ainv
                x = alpha * math.exp(v)
                z = u1 * u1 * u2
                r = alpha - LOG4 + (alpha + ainv) * v - x
                if r + SG_MAGICCONST - 4.5 * z >= 0.0 or r >= math.log(z):
                    return x * beta
        while True:
            b = (math.e + alpha) / math.e
            p = b * self.random()
            x = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
            u = self.random()
            if u <= x ** (alpha - 1.0) if p > 1.0 else u <= math.exp(-x):
                return x * beta

    def betavariate(self, alpha, beta):
        y = self.gammavariate(alpha, 1.0)
        return y / (y + self.gammavariate(beta, 1.0)) if y else 0.0

    def paretovariate(self, alpha):
        return (1.0 - self.random()) ** (-1.0 / alpha)

    def weibullvariate(self, alpha, beta):
        return alpha * (-math.log(1.0 - self.random())) ** (1.0 / beta)


def _whole(value):
    try:
        return operator.index(value)
    except TypeError:
        whole = int(value)
        if whole != value:
            warnings.warn("non-integer arguments to randrange() have been deprecated", DeprecationWarning, 3)
            raise ValueError("non-integer argument for randrange()") from None
        warnings.warn("non-integer arguments to randrange() have been deprecated", DeprecationWarning, 3)
        return whole


class SystemRandom(Random):
    """the operating system's chance: as one that nobody seeds"""

    def seed(self, *args, **kwargs):
        return None


_all = Random()
seed = _all.seed
getstate = _all.getstate
setstate = _all.setstate
random = _all.random
getrandbits = _all.getrandbits
randbytes = _all.randbytes
randrange = _all.randrange
randint = _all.randint
uniform = _all.uniform
choice = _all.choice
choices = _all.choices
shuffle = _all.shuffle
sample = _all.sample
triangular = _all.triangular
normalvariate = _all.normalvariate
gauss = _all.gauss
lognormvariate = _all.lognormvariate
expovariate = _all.expovariate
gammavariate = _all.gammavariate
betavariate = _all.betavariate
paretovariate = _all.paretovariate
weibullvariate = _all.weibullvariate
vonmisesvariate = _all.vonmisesvariate
