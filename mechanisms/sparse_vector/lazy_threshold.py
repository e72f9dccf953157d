"""Whether discrete Laplace noise reaches a threshold, exactly, by region sums in closed form: no noise is drawn.

The working precision is that of the sums, from public values alone: the rate, and how far thresholds lie from 0.
Source: the working paper on the discrete sparse vector mechanism (GetSum, LazyThreshold and CondLazyThreshold).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.inverse_transform import WORD

SUM_BITS_MAX = 1 << 31  # of all region sums together: 256 MiB


def working_precision(eta: Eta, reach: int) -> int:
    """Return the bits of a region sum of B^|k| for bounds up to `reach` steps from 0, from public values alone."""
    return eta.y * eta.z * (reach + 1) + 1


@dataclass(frozen=True, slots=True, eq=False)
class LazyThreshold:
    """Whether discrete Laplace noise, P(k) ∝ B^|k|, is at least t: decided by region sums, without drawing the noise.

    sums[t + reach] is (1−B)·Σ_{k≥t} B^|k| for |t| ≤ reach, and total that over all k, 1 + B: integers over one unit.
    heads: the first 64 bits of their quotients.
    """

    reach: int
    sums: list[int]
    total: int
    heads: NDArray[np.uint64]

    def levels(self, thresholds: NDArray[np.int64], offsets: Sequence[int], bits: BitSource) -> NDArray[np.int64]:
        """Return for each t how many of t + offset the noise reaches, offsets ascending; shape (thresholds,).

        One uniform U is compared with all of them, as P(noise ≥ t + offset | noise ≥ t) asks: CondLazyThreshold,
        without a division. A word a draw; more bits of U only where it lies on a head.
        """
        places = thresholds + self.reach
        words = bits.words(len(places))
        reached, near = np.zeros(len(places), dtype=np.int64), np.full(len(places), bits.word_bits != WORD)
        if bits.word_bits == WORD:
            for offset in offsets:
                heads = self.heads[places + offset]
                reached += words < heads
                near |= words == heads
        for at in np.flatnonzero(near).tolist():
            sums = [self.sums[int(places[at]) + offset] for offset in offsets]
            reached[at] = self._level(sums, int(words[at]), bits)
        return reached

    def _level(self, sums: list[int], drawn: int, bits: BitSource) -> int:
        """Return how many of sums/total lie above U, which begins with a word `drawn`."""
        known = bits.word_bits
        while True:
            surely = sum((drawn + 1) * self.total <= one << known for one in sums)
            if surely == sum(drawn * self.total < one << known for one in sums):
                return surely
            drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits


@lru_cache(maxsize=16)
def lazy_threshold(eta: Eta, reach: int) -> LazyThreshold:
    """Return the region sums of a rate up to `reach` steps from 0, in closed form. Cached: both are public.

    With B = x/2^y, over 2^(y·(reach+1)): B^t for t ≥ 0, and 1 + B − B^(1−t) for t < 0 (GetSum).
    Raises ValueError where they take more than 256 MiB.
    """
    x, y = eta.x**eta.z, eta.y * eta.z
    if 2 * reach * working_precision(eta, reach) > SUM_BITS_MAX:
        raise ValueError(f"reach = {reach} steps take region sums of more than {SUM_BITS_MAX} bits in all")
    powers = [1 << (y * (reach + 1))]
    for _ in range(reach + 1):
        powers.append(powers[-1] * x >> y)
    total = powers[0] + powers[1]
    sums = [total - powers[1 - t] if t < 0 else powers[t] for t in range(-reach, reach + 1)]
    return LazyThreshold(reach, sums, total, np.array([(one << WORD) // total for one in sums], dtype=np.uint64))
