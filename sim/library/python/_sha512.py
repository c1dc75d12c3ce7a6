"""hashlib's sha384 and sha512: words of 64 bits."""

import math

_MASK = (1 << 64) - 1


def _primes(count):
    found, n = [], 2
    while len(found) < count:
        if all([n % p for p in found]):
            found.append(n)
        n += 1
    return found


def _cube_root(n):
    """The whole part, by Newton's steps from above."""
    root = 1 << (n.bit_length() + 2) // 3
    while True:
        near = (2 * root + n // (root * root)) // 3
        if near >= root:
            return root
        root = near


# The first 64 bits of the fractions of the primes' roots.
_keys = [_cube_root(p << 192) & _MASK for p in _primes(80)]
start_512 = [math.isqrt(p << 128) & _MASK for p in _primes(8)]
start_384 = [math.isqrt(p << 128) & _MASK for p in _primes(16)[8:]]


def _rotate(x, n):
    return (x >> n | x << (64 - n)) & _MASK


def block_512(state, block):
    w = [int.from_bytes(block[i:i + 8], "big") for i in range(0, 128, 8)]
    for i in range(16, 80):
        s0 = _rotate(w[i - 15], 1) ^ _rotate(w[i - 15], 8) ^ w[i - 15] >> 7
        s1 = _rotate(w[i - 2], 19) ^ _rotate(w[i - 2], 61) ^ w[i - 2] >> 6
        w.append((w[i - 16] + s0 + w[i - 7] + s1) & _MASK)
    a, b, c, d, e, f, g, h = state
    for i in range(80):
        s1 = _rotate(e, 14) ^ _rotate(e, 18) ^ _rotate(e, 41)
        t1 = h + s1 + (e & f ^ (e ^ _MASK) & g) + _keys[i] + w[i]
        s0 = _rotate(a, 28) ^ _rotate(a, 34) ^ _rotate(a, 39)
        t2 = s0 + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (t1 + t2) & _MASK, a, b, c, (d + t1) & _MASK, e, f, g
    return [(x + y) & _MASK for x, y in zip(state, (a, b, c, d, e, f, g, h))]
