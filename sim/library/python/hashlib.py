"""Digests of bytes: md5, sha1, sha224, sha256, sha384 and sha512."""
import _sha512
import _tidemark
import math

algorithms_guaranteed = algorithms_available = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}
_MASK = 0xffffffff


def _rotate(x, n):
    return (x << n | x >> (32 - n)) & _MASK


_md5_turns = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4
_md5_sines = [int(abs(math.sin(i + 1)) * 4294967296) for i in range(64)]
_md5_start = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]


def _md5_block(state, block):
    words = [int.from_bytes(block[i:i + 4], "little") for i in range(0, 64, 4)]
    a, b, c, d = state
    for i in range(64):
        if i < 16:
            f, g = b & c | (b ^ _MASK) & d, i
        elif i < 32:
            f, g = d & b | (d ^ _MASK) & c, (5 * i + 1) % 16
        elif i < 48:
            f, g = b ^ c ^ d, (3 * i + 5) % 16
        else:
            f, g = c ^ (b | (d ^ _MASK)), 7 * i % 16
        f = (f + a + _md5_sines[i] + words[g]) & _MASK
        a, d, c, b = d, c, b, (b + _rotate(f, _md5_turns[i])) & _MASK
    return [(x + y) & _MASK for x, y in zip(state, (a, b, c, d))]


_sha1_start = _md5_start + [0xc3d2e1f0]


def _sha1_block(state, block):
    words = [int.from_bytes(block[i:i + 4], "big") for i in range(0, 64, 4)]
    for i in range(16, 80):
        words.append(_rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1))
    a, b, c, d, e = state
    for i in range(80):
        if i < 20:
            f, k = b & c | (b ^ _MASK) & d, 0x5a827999
        elif i < 40:
            f, k = b ^ c ^ d, 0x6ed9eba1
        elif i < 60:
            f, k = b & c | b & d | c & d, 0x8f1bbcdc
        else:
            f, k = b ^ c ^ d, 0xca62c1d6
        a, b, c, d, e = (_rotate(a, 5) + f + e + k + words[i]) & _MASK, a, _rotate(b, 30), c, d
    return [(x + y) & _MASK for x, y in zip(state, (a, b, c, d, e))]


def _primes(count):
    found, n = [], 2
    while len(found) < count:
        if all(n % p for p in found):
            found.append(n)
        n += 1
    return found


def _root_bits(n, power):
    """the first 32 bits behind the point of the root of a prime"""
    low, high = 0, 1 << 36
    while high - low > 1:       # the root times 2 ** 32, found by halving; in parts, as it has more than 63 bits
        middle = (low + high) // 2
        if _is_above(middle, n, power):
            high = middle
        else:
            low = middle
    return low & _MASK


def _is_above(scaled, n, power):
    """whether (scaled / 2 ** 32) ** power > n"""
    limbs = [1]
    for _ in range(power):
        limbs = _times(limbs, scaled)
    whole = limbs[2 * power:]
    value = 0
    for each in reversed(whole):
        value = (value << 16) + each
    return value >= n


def _times(limbs, factor):
    """a number in parts of 16 bits times one of at most 37"""
    out, carry = [], 0
    for each in limbs:
        carry += each * factor
        out.append(carry & 0xffff)
        carry >>= 16
    while carry:
        out.append(carry & 0xffff)
        carry >>= 16
    return out


_sha256_keys = []
_sha256_start = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]
_sha224_start = [0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4]


def _sha256_block(state, block):
    if not _sha256_keys:
        _sha256_keys.extend([_root_bits(p, 3) for p in _primes(64)])
    w = [int.from_bytes(block[i:i + 4], "big") for i in range(0, 64, 4)]
    for i in range(16, 64):
        s0 = _rotate(w[i - 15], 25) ^ _rotate(w[i - 15], 14) ^ w[i - 15] >> 3
        s1 = _rotate(w[i - 2], 15) ^ _rotate(w[i - 2], 13) ^ w[i - 2] >> 10
        w.append((w[i - 16] + s0 + w[i - 7] + s1) & _MASK)
    a, b, c, d, e, f, g, h = state
    for i in range(64):
        s1 = _rotate(e, 26) ^ _rotate(e, 21) ^ _rotate(e, 7)
        t1 = h + s1 + (e & f ^ (e ^ _MASK) & g) + _sha256_keys[i] + w[i]
        s0 = _rotate(a, 30) ^ _rotate(a, 19) ^ _rotate(a, 10)
        t2 = s0 + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (t1 + t2) & _MASK, a, b, c, (d + t1) & _MASK, e, f, g
    return [(x + y) & _MASK for x, y in zip(state, (a, b, c, d, e, f, g, h))]


class _Hash:
    def __init__(self, name, start, step, order, size, data, word=4):
        self.name, self._step, self._order, self.digest_size = name, step, order, size
        self._word, self.block_size = word, 16 * word
        self._state, self._rest, self._length = start, b"", 0
        self.update(data)

    def update(self, data, /):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        data = bytes(data)
        self._length += len(data)
        data = self._rest + data
        at = 0
        while len(data) - at >= self.block_size:
            self._state = self._step(self._state, data[at:at + self.block_size])
            at += self.block_size
        self._rest = data[at:]

    def digest(self):
        size, block = 2 * self._word, self.block_size
        zeros = (block - 1 - size - len(self._rest)) % block
        data = self._rest + b"\x80" + bytes(zeros) + (8 * self._length).to_bytes(size, self._order)
        state = self._state
        for at in range(0, len(data), block):
            state = self._step(state, data[at:at + block])
        return b"".join([each.to_bytes(self._word, self._order) for each in state])[:self.digest_size]

    def hexdigest(self):
        return self.digest().hex()

    def copy(self):
        other = _Hash(self.name, self._state, self._step, self._order, self.digest_size, b"", self._word)
        other._rest, other._length = self._rest, self._length
        return other


def md5(string=b"", *, usedforsecurity=True):
    return _Hash("md5", _md5_start, _md5_block, "little", 16, string)


def sha1(string=b"", *, usedforsecurity=True):
    return _Hash("sha1", _sha1_start, _sha1_block, "big", 20, string)


def sha224(string=b"", *, usedforsecurity=True):
    return _Hash("sha224", _sha224_start, _sha256_block, "big", 28, string)


def sha256(string=b"", *, usedforsecurity=True):
    return _Hash("sha256", _sha256_start, _sha256_block, "big", 32, string)


def sha384(string=b"", *, usedforsecurity=True):
    return _Hash("sha384", _sha512.start_384, _sha512.block_512, "big", 48, string, 8)


def sha512(string=b"", *, usedforsecurity=True):
    return _Hash("sha512", _sha512.start_512, _sha512.block_512, "big", 64, string, 8)


def new(name, data=b"", *, usedforsecurity=True):
    known = {"md5": md5, "sha1": sha1, "sha224": sha224, "sha256": sha256, "sha384": sha384, "sha512": sha512}
    if name.lower() not in known:
        raise ValueError("unsupported hash type " + name)
    return known[name.lower()](data)


def __getattr__(name):
    return _tidemark.later("hashlib." + name)
