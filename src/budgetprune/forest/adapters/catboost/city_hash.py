"""CityHash64, version 1: the hash by which CatBoost knows categories.

Reference: https://github.com/google/cityhash. All arithmetic is modulo 2^64.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_K0, _K1, _K2, _K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_MIX = 0x9DDFEA08EB382D69


def city_hash(text: bytes) -> int:
    """Return the hash of a text as an unsigned 64-bit number."""
    n = len(text)
    if n <= 16:
        return _short(text, n)
    if n <= 32:
        return _medium(text, n)
    return _long(text, n) if n <= 64 else _longest(text, n)


def _word(text: bytes, start: int) -> int:
    return int.from_bytes(text[start : start + 8], "little")


def _half(text: bytes, start: int) -> int:
    return int.from_bytes(text[start : start + 4], "little")


def _rotate(x: int, by: int) -> int:
    x &= _MASK
    return (x >> by | x << (64 - by)) & _MASK


def _shift_mix(x: int) -> int:
    x &= _MASK
    return x ^ x >> 47


def _join(low: int, high: int) -> int:
    """Hash of two words."""
    low &= _MASK
    high &= _MASK
    a = _shift_mix((low ^ high) * _MIX)
    return _shift_mix((high ^ a) * _MIX) * _MIX & _MASK


def _short(text: bytes, n: int) -> int:
    if n > 8:
        a, b = _word(text, 0), _word(text, n - 8)
        return _join(a, _rotate(b + n, n)) ^ b
    if n >= 4:
        return _join(n + (_half(text, 0) << 3), _half(text, n - 4))
    if n == 0:
        return _K2
    y = text[0] + (text[n >> 1] << 8)
    z = n + (text[n - 1] << 2)
    return _shift_mix(y * _K2 ^ z * _K3) * _K2 & _MASK


def _medium(text: bytes, n: int) -> int:
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, n - 8) * _K2, _word(text, n - 16) * _K0
    return _join(_rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ _K3, 20) - c + n)


def _long(text: bytes, n: int) -> int:
    def half(a: int, start: int, z: int) -> tuple[int, int]:
        b, c = _rotate(a + z, 52), _rotate(a, 37)
        a += _word(text, start)
        c += _rotate(a, 7)
        a += _word(text, start + 8)
        return a + z, b + _rotate(a, 31) + c

    first = _word(text, 0) + (n + _word(text, n - 16)) * _K0
    v = half(first, 8, _word(text, 24))
    w = half(_word(text, 16) + _word(text, n - 32), n - 24, _word(text, n - 8))
    mixed = _shift_mix((v[0] + w[1]) * _K2 + (w[0] + v[1]) * _K0)
    return _shift_mix(mixed * _K0 + v[1]) * _K2 & _MASK


def _weak(text: bytes, start: int, a: int, b: int) -> tuple[int, int]:
    """Two words from 32 bytes and two seeds."""
    w, x, y, z = (_word(text, start + 8 * i) for i in range(4))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    return (a + z) & _MASK, (b + _rotate(a, 44) + c) & _MASK


def _longest(text: bytes, n: int) -> int:
    x, y, z = _word(text, 0), _word(text, n - 16) ^ _K1, _word(text, n - 56) ^ _K0
    v = _weak(text, n - 64, n, y)
    w = _weak(text, n - 32, n * _K1, _K0)
    z += _shift_mix(v[1]) * _K1
    x, y = _rotate(z + x, 39) * _K1, _rotate(y, 33) * _K1
    for start in range(0, (n - 1) & ~63, 64):
        x = _rotate(x + y + v[0] + _word(text, start + 16), 37) * _K1
        y = _rotate(y + v[1] + _word(text, start + 48), 42) * _K1
        x = (x ^ w[1]) & _MASK
        y = (y ^ v[0]) & _MASK
        z = _rotate(z ^ w[0], 33)
        v = _weak(text, start, v[1] * _K1, x + w[0])
        w = _weak(text, start + 32, z + w[1], y)
        z, x = x, z
    return _join(_join(v[0], w[0]) + _shift_mix(y) * _K1 + z, _join(v[1], w[1]) + x)
