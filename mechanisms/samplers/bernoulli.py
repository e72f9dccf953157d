"""Bernoulli trials of exact probability 2^(−η·d) or e^(−rate·d), which take as many bits as the decision needs."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate

GUARD = 32  # bits of working precision beyond those asked for


def bernoulli_exp(exponent: Fraction, bits: BitSource, drawn: int, known: int) -> bool:
    """Return True with probability e^−exponent, exponent ≥ 0: see `bernoulli`."""
    return bernoulli(Fraction(1), exponent, bits, drawn, known)


def bernoulli(rate: Rate, distance: Fraction, bits: BitSource, drawn: int, known: int) -> bool:
    """Return True with the probability of a weight at that distance ≥ 0, 2^(−η·d) or e^(−rate·d).

    That is whether U lies below it, U beginning with `drawn`, of which `known` bits are drawn already; more are taken
    while they do not decide.
    """
    while True:
        low, high = chance(rate, distance, known)
        if drawn + 1 <= low:
            return True
        if drawn >= high:
            return False
        drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits


@lru_cache(maxsize=1 << 14)
def chance(rate: Rate, distance: Fraction, precision: int) -> tuple[int, int]:
    """Return bounds on 2^precision times the weight, nearly always neighbours."""
    low, high = weight_bounds(rate, distance, precision + GUARD)
    return low >> GUARD, -(-high >> GUARD)
