"""Randomized rounding of real utilities to integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanisms.bits import BitSource

PRECISION = 64  # random bits an outcome; exact for every float whose fraction has no bits below 2**-64


def thresholds(utilities: NDArray[np.float64], precision: int = PRECISION) -> NDArray[np.uint64]:
    """Return ⌊(u − ⌊u⌋)·2^precision⌋, shape (outcomes,): u is rounded up when a random word lies below it.

    Rounding the probability down to `precision` bits costs accuracy, not privacy (Ilvento 2020, Lemma 3.5).
    """
    if not 1 <= precision <= 64:
        raise ValueError(f"precision must be between 1 and 64, got {precision}")
    # u − ⌊u⌋ is exact for u ≥ 0 and ⌈u⌉ − u for u ≤ 0, each a float; scaling by 2^64 is exact too.
    above = np.floor(np.ldexp(np.abs(utilities - np.trunc(utilities)), 64))
    lost = np.ldexp(np.abs(utilities - np.trunc(utilities)), 64) != above
    words = above.astype(np.uint64)
    negative = utilities < 0
    # For u < 0 the fraction is 1 − a with a = ⌈u⌉ − u: ⌊(1−a)·2^64⌋ = 2^64 − ⌈a·2^64⌉, computed modulo 2^64.
    words[negative] = np.uint64(0) - words[negative] - lost[negative].astype(np.uint64)
    return words >> np.uint64(64 - precision)


def randomized(utilities: NDArray[np.float64], bits: BitSource, precision: int = PRECISION) -> NDArray[np.int64]:
    """Return integers: ⌈u⌉ with probability u − ⌊u⌋ (to `precision` bits), else ⌊u⌋. An integer stays itself, always.

    Takes `precision` bits an outcome whatever the data. Monotone: one word rounds u ≤ v to integers in that order.
    Source: Ilvento 2020, Mechanism 4, Lemmas 3.5 and A.1.
    """
    up = bits.words(len(utilities), precision) < thresholds(utilities, precision)
    return np.floor(utilities).astype(np.int64) + up
