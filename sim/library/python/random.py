import math

_n, _m = 624, 397
_state = []
_index = [0]
_next_gauss = [None]  # gauss() makes two numbers at a time


def _init(seed):
    state = [seed]
    for i in range(1, _n):
        previous = state[i - 1]
        state.append((1812433253 * (previous ^ (previous >> 30)) + i) & 0xffffffff)
    return state


def seed(a=None, version=2):
    if a is None:
        raise RuntimeError("random.seed() without a number takes the operating system's chance; give a number")
    if isinstance(a, float) or isinstance(a, str):
        raise RuntimeError("random.seed(): only whole numbers are modelled")
    a = abs(int(a))
    key = [a & 0xffffffff]
    if a >> 32:
        key.append(a >> 32)
    state = _init(19650218)
    i, j = 1, 0
    for k in range(max(_n, len(key))):
        # products of two 32-bit numbers are taken in halves: they need more than 63 bits
        previous = state[i - 1] ^ (state[i - 1] >> 30)
        product = ((((previous >> 16) * 1664525 & 0xffff) << 16) + (previous & 0xffff) * 1664525) & 0xffffffff
        state[i] = ((state[i] ^ product) + key[j] + j) & 0xffffffff
        i, j = i + 1, j + 1
        if i >= _n:
            state[0] = state[_n - 1]
            i = 1
        if j >= len(key):
            j = 0
    for k in range(_n - 1):
        previous = state[i - 1] ^ (state[i - 1] >> 30)
        product = ((((previous >> 16) * 1566083941 & 0xffff) << 16) + (previous & 0xffff) * 1566083941) & 0xffffffff
        state[i] = ((state[i] ^ product) - i) & 0xffffffff
        i += 1
        if i >= _n:
            state[0] = state[_n - 1]
            i = 1
    state[0] = 0x80000000
    _state[:] = state
    _index[0] = _n
    _next_gauss[0] = None


def _word():
    if not _state:
        raise RuntimeError("random is used before random.seed(number): its values would differ from run to run")
    if _index[0] >= _n:
        for i in range(_n):
            y = (_state[i] & 0x80000000) | (_state[(i + 1) % _n] & 0x7fffffff)
            _state[i] = _state[(i + _m) % _n] ^ (y >> 1) ^ (0x9908b0df if y & 1 else 0)
        _index[0] = 0
    y = _state[_index[0]]
    _index[0] += 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return y ^ (y >> 18)


def _unknown(is_whole):
    """before the first seed() a number differs from run to run, so nobody knows it"""
    import torch._C as _C

    return _C.unknown_number(is_whole)


def random():
    if not _state:
        return _unknown(False)
    a, b = _word() >> 5, _word() >> 6
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0)


def getrandbits(k):
    if not _state:
        return _unknown(True)
    if k <= 32:
        return _word() >> (32 - k)
    if k > 62:
        raise OverflowError("getrandbits: at most 62 bits are modelled")
    low = _word()
    return low | ((_word() >> (64 - k)) << 32)


def _below(n):
    k = n.bit_length()
    r = getrandbits(k)
    while r >= n:
        r = getrandbits(k)
    return r


def randrange(start, stop=None, step=1):
    if stop is None:
        start, stop = 0, start
    width = stop - start
    n = width if step == 1 else (width + step - 1) // step if step > 0 else (width + step + 1) // step
    if n <= 0:
        raise ValueError(f"empty range for randrange() ({start}, {stop}, {width})")
    return start + step * _below(n) if _state else _unknown(True)


def randint(a, b):
    return randrange(a, b + 1)


def uniform(a, b):
    return a + (b - a) * random()


def choice(seq):
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[_below(len(seq))]


def choices(population, weights=None, *, cum_weights=None, k=1):
    n = len(population)
    if cum_weights is None:
        if weights is None:
            return [population[math.floor(random() * (n + 0.0))] for i in range(k)]
        total, cum_weights = 0, []
        for w in weights:
            total += w
            cum_weights.append(total)
    total = cum_weights[-1] + 0.0
    out = []
    for i in range(k):
        x, at = random() * total, 0
        while at < n - 1 and cum_weights[at] <= x:
            at += 1
        out.append(population[at])
    return out


def shuffle(x):
    for i in reversed(range(1, len(x))):
        j = _below(i + 1)
        x[i], x[j] = x[j], x[i]


def sample(population, k, *, counts=None):
    n = len(population)
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    size = 21
    if k > 5:
        size += 4 ** math.ceil(math.log(k * 3, 4))
    if n <= size:
        pool, out = list(population), []
        for i in range(k):
            j = _below(n - i)
            out.append(pool[j])
            pool[j] = pool[n - i - 1]
        return out
    selected, out = set(), []
    for i in range(k):
        j = _below(n)
        while j in selected:
            j = _below(n)
        selected.add(j)
        out.append(population[j])
    return out


def getstate():
    return 3, (*_state, _index[0]), _next_gauss[0]


def setstate(state):
    _state[:], _index[0], _next_gauss[0] = state[1][:-1], state[1][-1], state[2]


def gauss(mu=0.0, sigma=1.0):
    if not _state:
        return _unknown(False)
    z, _next_gauss[0] = _next_gauss[0], None
    if z is None:
        angle = random() * (2.0 * math.pi)
        radius = math.sqrt(-2.0 * math.log(1.0 - random()))
        z = math.cos(angle) * radius
        _next_gauss[0] = math.sin(angle) * radius
    return mu + z * sigma


def normalvariate(mu=0.0, sigma=1.0):
    if not _state:
        return _unknown(False)
    factor = 4 * math.exp(-0.5) / math.sqrt(2.0)
    while True:
        u1 = random()
        u2 = 1.0 - random()
        z = factor * (u1 - 0.5) / u2
        if z * z / 4.0 <= -math.log(u2):
            return mu + z * sigma


def expovariate(lambd=1.0):
    return -math.log(1.0 - random()) / lambd if _state else _unknown(False)


def triangular(low=0.0, high=1.0, mode=None):
    if not _state:
        return _unknown(False)
    u = random()
    if high == low:
        return low
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        u, c, low, high = 1.0 - u, 1.0 - c, high, low
    return low + (high - low) * math.sqrt(u * c)


class Random:
    """numbers of its own: seeded as the module is"""

    def __init__(self, x=None):
        self._own = 3, (0,), None
        if x is not None:
            self.seed(x)

    def _with_own(self, function, args, kwargs):
        others = getstate()
        setstate(self._own)
        try:
            return function(*args, **kwargs)
        finally:
            self._own = getstate()
            setstate(others)

    def seed(self, a=None, version=2):
        self._with_own(seed, (a,), {})

    def getstate(self):
        return self._own

    def setstate(self, state):
        self._own = state

    def random(self, *args, **kwargs):
        return self._with_own(random, args, kwargs)

    def getrandbits(self, *args, **kwargs):
        return self._with_own(getrandbits, args, kwargs)

    def randrange(self, *args, **kwargs):
        return self._with_own(randrange, args, kwargs)

    def randint(self, *args, **kwargs):
        return self._with_own(randint, args, kwargs)

    def uniform(self, *args, **kwargs):
        return self._with_own(uniform, args, kwargs)

    def gauss(self, *args, **kwargs):
        return self._with_own(gauss, args, kwargs)

    def normalvariate(self, *args, **kwargs):
        return self._with_own(normalvariate, args, kwargs)

    def expovariate(self, *args, **kwargs):
        return self._with_own(expovariate, args, kwargs)

    def triangular(self, *args, **kwargs):
        return self._with_own(triangular, args, kwargs)

    def choice(self, *args, **kwargs):
        return self._with_own(choice, args, kwargs)

    def choices(self, *args, **kwargs):
        return self._with_own(choices, args, kwargs)

    def shuffle(self, *args, **kwargs):
        return self._with_own(shuffle, args, kwargs)

    def sample(self, *args, **kwargs):
        return self._with_own(sample, args, kwargs)


class SystemRandom(Random):
    pass
