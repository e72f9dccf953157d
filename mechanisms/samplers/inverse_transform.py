"""Exact inverse transform sampling of an integer from certified bounds on its distribution function.

A draw is a uniform U of which some bits are known: an interval. Its integer is decided when the interval lies between
two values of the distribution function. A table of 64-bit bounds decides nearly always, at a fixed cost of one word.
The other cases use more precise bounds, and more bits of the same U where a boundary lies inside the interval. Nothing
is rejected: bits and passes depend on the result only with the probability `Table.undecided`, counted exactly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, require_draws

GUIDE_BITS = 16  # of U: what the guide table is looked up by
DRAWS_AT_ONCE = 1 << 15  # draws decided at a time, so that they stay in the cache
WORD = 64
FAR = 1 << 62  # integers beyond ±2^62 are returned as ±2^62: that is post-processing
UNDECIDED = -1
TIED = 256  # bits of precision beyond those of U from which an end of its interval passes for a value of F


@dataclass(frozen=True, slots=True, eq=False)
class DistributionBounds:
    """Bounds of a distribution function F on first, first + 1, …: low[j] ≤ 2^precision·F(first + j) ≤ high[j].

    Both ascend. An integer at or below `first`, or above the last, needs wider bounds.
    """

    first: int
    precision: int
    low: list[int]
    high: list[int]

    def find(self, drawn: int, known: int) -> int | None:
        """Return the integer whose step of F holds [drawn, drawn + 1)/2^known; None where these bounds cannot tell."""
        begin, end = drawn << (self.precision - known), (drawn + 1) << (self.precision - known)
        cell = bisect_right(self.high, begin)
        decided = 0 < cell < len(self.low) and end <= self.low[cell]
        return self.first + cell if decided else None

    def straddled(self, drawn: int, known: int) -> bool:
        """Return whether a value of F certainly lies inside that interval: then only more bits can decide."""
        begin, end = drawn << (self.precision - known), (drawn + 1) << (self.precision - known)
        cell = bisect_right(self.low, begin)
        if begin == 0:  # F is positive where it is not 0 exactly, so low = 0 < high says that it lies beyond 0
            cell = min(cell, bisect_right(self.high, 0))
        if cell < len(self.low) and self.high[cell] < end:
            return True
        # And below 1 where it is not 1 exactly.
        last = bisect_left(self.low, 1 << self.precision) - 1
        return end == 1 << self.precision and last >= 0 and begin < self.low[last]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A distribution on the integers, ready to be drawn from. Its contents depend on public values only."""

    bounds: Callable[[int], DistributionBounds]  # at any precision; the wider the more precise
    first: int
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    guide: NDArray[np.int32]  # the cell of every prefix of U, or UNDECIDED

    @classmethod
    def of(cls, bounds: Callable[[int], DistributionBounds]) -> Table:
        """Return the table of a distribution given by its bounds at any precision."""
        at_word = bounds(WORD)
        # F = 1 does not fit a word. One unit below it, only the very last word is left undecided.
        low, high = (
            np.array([min(value, 2**64 - 1) for value in side], dtype=np.uint64) for side in (at_word.low, at_word.high)
        )
        begin = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(WORD - GUIDE_BITS)
        end = begin | np.uint64((1 << (WORD - GUIDE_BITS)) - 1)
        first_cell, last_cell = _cells(low, high, begin), _cells(low, high, end)
        guide = np.where(first_cell == last_cell, first_cell, UNDECIDED).astype(np.int32)
        return cls(bounds, at_word.first, low, high, guide)

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, each exactly from the distribution, shape (n,). A word and a step each, hardly ever more.

        A single draw takes the same search whatever it is. Of many, those near a boundary are looked up apart. Raises
        ValueError for a negative n.
        """
        require_draws(n)
        if n == 1:  # without the guide, whose gaps would tell
            return np.array([settle(self.bounds, bits, bits.take(bits.word_bits))], dtype=np.int64)
        drawn = np.empty(n, dtype=np.int64)
        for start in range(0, n, DRAWS_AT_ONCE):
            part = drawn[start : start + DRAWS_AT_ONCE]
            self._draw_part(bits, part)
        return drawn

    def decided(self) -> tuple[int, list[int]]:
        """Return how many of the 2^64 words decide at once, in one step, for each of some neighbouring integers.

        (first, counts): counts[i] is that of first + i, exactly the words between the bounds of two values of F.
        """
        bounds = self.bounds(WORD)
        return bounds.first + 1, [
            max(0, end - begin) for begin, end in zip(bounds.high[:-1], bounds.low[1:], strict=True)
        ]

    def undecided(self) -> Fraction:
        """Return the probability that a word of 64 bits does not decide at once: more steps, if not more bits."""
        return 1 - Fraction(sum(self.decided()[1]), 1 << WORD)

    def _draw_part(self, bits: BitSource, part: NDArray[np.int64]) -> None:
        words = bits.words(len(part))
        if bits.word_bits == WORD:
            cells = self.guide.take((words >> np.uint64(WORD - GUIDE_BITS)).view(np.int64))
            left = (cells == UNDECIDED).nonzero()[0]
            cells[left] = _cells(self.low, self.high, words[left])
            np.add(cells, self.first, out=part, casting="unsafe")
            left = left[cells[left] == UNDECIDED]
        else:
            left = np.arange(len(part))
        bits.steps += len(part) - len(left)
        for at in left.tolist():
            part[at] = settle(self.bounds, bits, int(words[at]))


def settle(bounds: Callable[[int], DistributionBounds], bits: BitSource, drawn: int) -> int:
    """Return the integer that U decides, saturated, U beginning with `drawn`, a word.

    Ends with probability 1, also where a value of F is a dyadic that no precision at hand tells from an end of U's
    interval: more bits of U lead away from it.
    """
    known = bits.word_bits
    precision = WORD
    while True:
        bits.steps += 1
        at_precision = bounds(precision)
        integer = at_precision.find(drawn, known)
        if integer is not None:
            return max(-FAR, min(FAR, integer))
        if at_precision.straddled(drawn, known) or precision >= known + TIED:
            drawn, known = drawn << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits
        else:
            precision *= 2
        precision = max(precision, known)


def _cells(low: NDArray[np.uint64], high: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[Any]:
    """Return the cell of each word at a precision of 64 bits, or UNDECIDED."""
    cells = high.searchsorted(words, side="right")
    decided = (cells > 0) & (words < low.take(cells, mode="clip")) & (cells < len(low))
    return np.where(decided, cells, UNDECIDED)
