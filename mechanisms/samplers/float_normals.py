"""Standard normal numbers in float32 or less, as array libraries draw them: from one word of few bits, so with a law.

Values of every type are stored as float32, which holds those of float16 and bfloat16: numpy has no bfloat16. A float32
operation on values of such a type, then rounded to it, is rounded once (24 ≥ 2·11 + 2 binary digits, Figueroa 1995).

Logarithms, sines and cosines are those of float64, rounded to the type, so that processors hardly differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import block_ends

FloatType = Literal["bfloat16", "float16", "float32"]
Floats = NDArray[np.float32]
Words = NDArray[np.uint64]

DIGITS: dict[FloatType, int] = {"bfloat16": 8, "float16": 11, "float32": 24}  # of a significand
CHUNK = 1 << 16  # words at a time: what a cache holds
LAWS = 4  # kept; one of float32 takes 128 MB

# Giles 2010, "Approximating the erfinv function", single precision: erfinv(u) = u·p(t), t from w = −ln(1 − u²).
CENTRAL: tuple[float, ...] = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
)
CENTRAL += (-0.00417768164, 0.246640727, 1.50140941)  # of t = w − 5/2, where w < 5
TAIL: tuple[float, ...] = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613)
TAIL += (0.00943887047, 1.00167406, 2.83297682)  # of t = √w − 3, where w ≥ 5


@dataclass(frozen=True, slots=True)
class FloatNormal:
    """A way to draw standard normals of a float type from words that are uniform below 2^bits.

    of_words(words, float_type): the normals of each word, of shape (words, normals).
    """

    float_type: FloatType
    bits: int
    normals: int
    of_words: Callable[[Words, FloatType], Floats]

    def draw(self, bits: BitSource, n: int) -> Floats:
        """Return the normals of n words, shape (n, normals)."""
        return self.of_words(bits.words(n, self.bits), self.float_type)


def rounded(values: ArrayLike, float_type: FloatType) -> Floats:
    """Return values rounded to float32 and then to the type, ties to even; beyond its largest, ±∞. Same shape."""
    with np.errstate(over="ignore"):
        single = np.asarray(values, dtype=np.float32)
        if float_type == "float16":
            return single.astype(np.float16).astype(np.float32)
    if float_type == "float32":
        return single
    pattern = single.view(np.uint32)
    nearest = pattern + np.uint32(0x7FFF) + ((pattern >> np.uint32(16)) & np.uint32(1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), single, nearest.view(np.float32))


def noisy(value: ArrayLike, sigma: float, normals: Floats, float_type: FloatType) -> Floats:
    """Return value + σ·normals, with the value, σ, the product and the sum each rounded to the type."""
    with np.errstate(over="ignore", invalid="ignore"):
        noise = rounded(rounded(sigma, float_type) * normals, float_type)
        return rounded(rounded(value, float_type) + noise, float_type)


def inverse_error_function(words: Words, float_type: FloatType) -> Floats:
    """Return √2·erfinv(u) for u = (4k − 2^p + 1)/2^p, k the word, p the digits of the type: uniform in (−1, 1).

    The type's k/2^(p−1)·2 − (1 − 2^−p), as jax.random.normal computes u, is exact. erfinv is a float32 polynomial,
    rounded to the type, and so is the product.
    """
    digits = DIGITS[float_type]
    uniform = ((4 * words.astype(np.int64) - (1 << digits) + 1) * 0.5**digits).astype(np.float32)
    inverse = rounded(error_function_inverse(uniform), float_type)
    return rounded(rounded(np.sqrt(2), float_type) * inverse, float_type)[:, np.newaxis]


def error_function_inverse(uniform: Floats) -> Floats:
    """Return erfinv(u) for −1 < u < 1 in float32, every step rounded. Source: Giles 2010, single precision."""
    w = -np.log1p(-(uniform * uniform).astype(np.float64)).astype(np.float32)
    value = _polynomial(CENTRAL, w - np.float32(2.5))
    far = np.flatnonzero(~(w < 5))  # one in 150
    value[far] = _polynomial(TAIL, np.sqrt(w[far]) - np.float32(3))
    value *= uniform
    return value


def _polynomial(coefficients: Sequence[float], t: Floats) -> Floats:
    """Return the polynomial at t, shape (t,), each step rounded to float32. coefficients: the highest power's first."""
    value = np.zeros_like(t)
    for coefficient in coefficients:
        value *= t
        value += np.float32(coefficient)
    return value


def box_muller(words: Words, float_type: FloatType) -> Floats:
    """Return √(−2·ln U₁)·(cos 2πU₂, sin 2πU₂), every step rounded to the type, shape (words, 2).

    The upper half of a word makes U₁ in (0, 1], the lower U₂ in [0, 1), each of as many bits as the type has digits.
    Source: Box and Muller 1958, in the order of `normal_fill_16` of PyTorch 2.7 to 2.11; 2.12 rounds at the end alone.
    """
    digits, (length, *directions) = DIGITS[float_type], _box_muller_factors(float_type)
    upper, lower = (words >> np.uint64(digits)).view(np.int64), (words & np.uint64((1 << digits) - 1)).view(np.int64)
    return np.stack([rounded(length[upper] * part[lower], float_type) for part in directions], axis=1)


@lru_cache(maxsize=len(DIGITS))
def _box_muller_factors(float_type: FloatType) -> tuple[Floats, Floats, Floats]:
    """Return the length for each upper half of a word, and the cosine and the sine for each lower half: few halves."""
    digits = DIGITS[float_type]
    halves = np.arange(1 << digits) * 0.5**digits
    logarithm = rounded(np.log(1 - halves), float_type)
    length = rounded(np.sqrt(-2 * logarithm), float_type)
    angle = rounded(2 * np.pi * halves, float_type).astype(np.float64)
    return length, rounded(np.cos(angle), float_type), rounded(np.sin(angle), float_type)


@lru_cache(maxsize=LAWS)
def law_of_normals(sampler: FloatNormal) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct values of the first normal of a word, ascending, and how many of the 2^bits words give each.

    By enumeration of all words. The values are exactly those of the type; −0 is 0. Both arrays are read-only.
    """
    values = np.empty(1 << sampler.bits, dtype=np.float32)
    for start in range(0, len(values), CHUNK):
        words = np.arange(start, min(start + CHUNK, len(values)), dtype=np.uint64)
        values[start : start + CHUNK] = sampler.of_words(words, sampler.float_type)[:, 0]
    return counted(values)


def counted(values: Floats) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and how often each comes, both read-only. −0 is 0."""
    values = values + np.float32(0)
    if (values[1:] >= values[:-1]).all():  # as by an inverse of a distribution function: there is nothing to sort
        ends = block_ends(values)
        distinct, counts = values[ends - 1], np.diff(ends, prepend=0)
    else:
        distinct, counts = np.unique(values, return_counts=True)
    law = distinct.astype(np.float64), counts.astype(np.int64)
    for part in law:
        part.flags.writeable = False
    return law


INVERSE_BFLOAT16 = FloatNormal("bfloat16", 7, 1, inverse_error_function)
INVERSE_FLOAT16 = FloatNormal("float16", 10, 1, inverse_error_function)
INVERSE_FLOAT32 = FloatNormal("float32", 23, 1, inverse_error_function)
BOX_MULLER_BFLOAT16 = FloatNormal("bfloat16", 16, 2, box_muller)
BOX_MULLER_FLOAT16 = FloatNormal("float16", 22, 2, box_muller)
