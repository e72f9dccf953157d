"""Normalized sampling without division: an index with probability exactly w_i / Σ w, from exact running sums."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.numerics.mpfr import Real, ceiling_log2, divided, exact, scaled

FIRST_BITS = 62  # of a try, that are taken together with those of other draws: signed 64-bit integers hold them


class InsufficientPrecisionError(ArithmeticError):
    """The random bits of one try do not decide between two outcomes."""


def all_bits(sums: Sequence[Real], bits: BitSource, precision: int, n: int, minimum_tries: int = 1) -> list[int]:
    """Return n indices with probability exactly (sums[i] − sums[i−1]) / sums[-1]. Ilvento 2020, Algorithm 2.

    Each try takes `precision` bits as s, uniform on [0, 2^k), 2^k the least power of two ≥ the total, and is accepted
    when s lies below the total. At least `minimum_tries` tries are made and the first accepted is kept, so that the
    number of tries leaks the data with probability at most 2^−minimum_tries (Proposition 3.8).
    Of several draws, the first bits are taken together, and the others only where the first do not decide: the same
    law, in a fraction of the bits.
    Raises InsufficientPrecisionError when the bits leave more than one index, and ValueError for minimum_tries below 1.
    Leaks: tries; several draws, bits consumed.
    """
    if minimum_tries < 1:
        raise ValueError(f"minimum_tries must be at least 1, got {minimum_tries}")
    with exact(precision):
        unit = ceiling_log2(sums[-1]) - precision
        if n > 1 and minimum_tries == 1:
            return _of_first_bits(sums, bits, precision, unit, n)
        accepted = (_first_accepted(sums[-1], bits, precision, unit, minimum_tries) for _ in range(n))
        return [_eliminate(sums, drawn, unit) for drawn in accepted]


def _of_first_bits(sums: Sequence[Real], bits: BitSource, precision: int, unit: int, n: int) -> list[int]:
    """Return n indices as `all_bits` does with a single try. A try's first bits are the number of a cell of the grid
    of 2^first cells; they decide unless a running sum lies inside of the cell."""
    first = min(precision, bits.word_bits, FIRST_BITS)
    rest = precision - first
    cells_below = [divided(total, unit + rest) for total in sums]
    below = np.array([-1, *(whole for whole, _ in cells_below)])  # whole cells below each running sum
    inside = np.array([False, *(left for _, left in cells_below)])  # whether the sum lies inside of the next cell
    chosen = np.empty(n, dtype=np.int64)
    pending = np.arange(n)
    while len(pending):
        bits.tries += len(pending)
        cells = bits.words(len(pending), first).astype(np.int64)
        found = np.searchsorted(below, cells, side="right") - 1
        # Of the sums with so many whole cells below, the last is the largest: if any lies inside, it does.
        for place in np.flatnonzero(inside[found] & (below[found] == cells)).tolist():
            drawn = int(cells[place]) << rest | bits.take(rest)
            accepted = scaled(drawn, unit) < sums[-1]
            found[place] = _eliminate(sums, drawn, unit) if accepted else len(sums)
        chosen[pending] = found
        pending = pending[found == len(sums)]  # rejected
    return chosen.tolist()


def _first_accepted(total: Real, bits: BitSource, precision: int, unit: int, minimum_tries: int) -> int:
    accepted, tries = None, 0
    while accepted is None or tries < minimum_tries:
        tries += 1
        bits.tries += 1
        candidate = bits.take(precision)
        if accepted is None and scaled(candidate, unit) < total:
            accepted = candidate
    return accepted


def _eliminate(sums: Sequence[Real], drawn: int, unit: int) -> int:
    """Return the index whose cell holds [drawn, drawn + 1)·2^unit, by binary search."""
    index = bisect_right(sums, scaled(drawn, unit))
    if sums[index] < scaled(drawn + 1, unit):
        raise InsufficientPrecisionError(f"the bits drawn leave more than one outcome at a unit of 2^{unit}")
    return index


def uniform_below(counts: NDArray[np.int64], width: int, bits: BitSource) -> NDArray[np.int64]:
    """Return for each count an integer from 0 to count − 1, all equally likely; shape (counts,).

    By rejection: of `width` bits as many as count − 1 has are kept, anew until they lie below it. 2^width is at least
    the largest count, and width at most 62. Leaks: bits consumed.
    """
    drawn = np.zeros(len(counts), dtype=np.int64)
    if width == 0:
        return drawn
    lengths = np.frexp((counts - 1).astype(np.float64))[1]  # of the bits; from 2^53 on one too many now and then
    masks = (np.int64(1) << np.minimum(lengths, width).astype(np.int64)) - 1
    pending = np.arange(len(counts))
    while len(pending):
        drawn[pending] = bits.words(len(pending), width).astype(np.int64) & masks[pending]
        pending = pending[drawn[pending] >= counts[pending]]
    return drawn


def bit_by_bit(sums: Sequence[Real], bits: BitSource, precision: int, n: int) -> list[int]:
    """Return n indices with probability exactly (sums[i] − sums[i−1]) / sums[-1]. Ilvento 2020, Algorithm 4.

    A dummy outcome pads the total to a power of two; bits are drawn one at a time until a single outcome is left, and
    the dummy starts again. Fewer bits than Algorithm 2. Leaks: bits consumed, which tell how concentrated weights are.
    Raises InsufficientPrecisionError when `precision` bits leave more than one index.
    """
    with exact(precision):
        top = ceiling_log2(sums[-1])
        draws = _until_accepted(sums, bits, top, precision)
        return [next(draws) for _ in range(n)]


def _until_accepted(sums: Sequence[Real], bits: BitSource, top: int, precision: int) -> Iterator[int]:
    dummy = len(sums)
    while True:
        bits.tries += 1
        index, _ = _narrowed(sums, lambda step: bits.take(1), top, precision, dummy)
        if index != dummy:
            yield index


def most_significant_first(
    sums: Sequence[Real], bits: BitSource, precision: int, n: int, minimum_tries: int = 1
) -> list[int]:
    """Return n indices as `all_bits` does, but eliminate as Ilvento 2020, Algorithm 2, line 11 is written.

    Outcomes are dropped bit by bit of the accepted draw, from the most significant, until one is left. Leaks: tries;
    and steps, the bits that were looked at, which tell how concentrated the weights are, as time does. Raises
    ValueError for minimum_tries below 1.
    """
    if minimum_tries < 1:
        raise ValueError(f"minimum_tries must be at least 1, got {minimum_tries}")
    chosen = []
    with exact(precision):
        top = ceiling_log2(sums[-1])
        for _ in range(n):
            drawn = _first_accepted(sums[-1], bits, precision, top - precision, minimum_tries)
            read = partial(_bit_of, drawn, precision)
            index, steps = _narrowed(sums, read, top, precision, len(sums) - 1)
            bits.steps += steps
            chosen.append(index)
    return chosen


def _bit_of(drawn: int, precision: int, step: int) -> int:
    return drawn >> (precision - step) & 1


def _narrowed(sums: Sequence[Real], read: Callable[[int], int], top: int, precision: int, last: int) -> tuple[int, int]:
    """Return the one index up to `last` that bits 1, 2, … of a number below 2^top leave, and how many were read."""
    first, drawn = 0, 0
    for step in range(1, precision + 1):
        drawn = 2 * drawn + read(step)
        unit = top - step
        first = bisect_right(sums, scaled(drawn, unit), first, last)
        last = bisect_left(sums, scaled(drawn + 1, unit), first, last)  # its cell holds the end, or reaches it
        if first == last:
            return first, step
    raise InsufficientPrecisionError(f"{precision} bits leave more than one outcome")
