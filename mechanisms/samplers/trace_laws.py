"""Laws of traces: the pairs (outcome, Trace) of samplers over exact running sums, in integers throughout.

Running sums are integers in units of which 2^width, the least power of two that holds the total, are drawn from.
Outcomes that are too unlikely for an atom, about 2^−TAIL together, are the `rest` of a trace law.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from subnormal.mechanisms.core.law import Law, integers
from subnormal.mechanisms.core.mechanism import NoLawError, Trace

TAIL = 64
PRUNED = TAIL + 32  # passes of Algorithm 4 that together are less likely than 2^−PRUNED are not followed
ENCLOSED = 320  # bits of the bounds of a law whose exact weights would be long
EXACT_BITS = 1 << 12  # of a denominator, up to which weights are exact
ATOMS_MAX = 1 << 17

TraceLaw = Law[tuple[Any, Trace]]


class Leaf(NamedTuple):
    """An outcome that is settled once so many bits of the draw were looked at, and the mass of that over 2^width."""

    outcome: int
    depth: int
    mass: int


def closing(sums: Sequence[int], width: int, *, dummy: bool) -> list[Leaf]:
    """Return when the dyadic intervals of [0, 2^width), halved again and again, come to lie within a single outcome.

    The outcomes lie between the running sums; dummy: what is left of 2^width is the outcome len(sums), else it
    is never drawn. Intervals stay open only while a running sum lies inside, at most len(sums) of them a depth; what
    is still open after TAIL + log₂(outcomes) bits, below 2^−TAIL, is left out. At least one bit is looked at.
    """
    top, last = (1 << width, len(sums)) if dummy else (sums[-1], len(sums) - 1)
    open_cells = [(0, 0, last)]
    masses: dict[tuple[int, int], int] = defaultdict(int)
    for depth in range(1, min(width, TAIL + len(sums).bit_length()) + 1):
        size, halves = 1 << (width - depth), open_cells
        open_cells = []
        for prefix, first, final in ((2 * interval + half, *ends) for interval, *ends in halves for half in (0, 1)):
            start = prefix * size
            if start >= top:
                continue
            lowest = bisect_right(sums, start, first, final)
            highest = bisect_left(sums, start + size, lowest, final)
            if lowest == highest:
                masses[lowest, depth] += min(size, top - start)
            else:
                open_cells.append((prefix, lowest, highest))
    return [Leaf(outcome, depth, mass) for (outcome, depth), mass in masses.items()]


def all_bits(
    leaves: Sequence[Leaf], total: int, width: int, precision: int, minimum_tries: int = 1, steps: int = 0
) -> TraceLaw:
    """Return the law of (index, Trace) of one draw of Algorithm 2: the outcome is independent of the tries.

    A try takes `precision` bits and is accepted with probability total/2^width > 1/2. leaves: the outcomes of accepted
    ones. The steps are the `steps` of every draw and the bits of the leaf's depth. Exact while the denominator has at
    most `EXACT_BITS` bits, else bounds over 2^ENCLOSED, rounded outwards.
    """
    tries = minimum_tries
    cut = 0 if width <= EXACT_BITS else width - ENCLOSED
    rejected_low, rejected_high = _outward((1 << width) - total, -cut)
    scale = width - cut
    while rejected_high**tries << TAIL > 1 << scale * tries:
        tries += 1
    denominator_bits = scale * tries if cut == 0 and scale * tries <= EXACT_BITS else ENCLOSED
    masses = [_outward(leaf.mass, -cut) for leaf in leaves]
    traces, low, high = [], [], []
    for made in range(minimum_tries, tries + 1):
        before = range(made) if made == minimum_tries else (made - 1,)  # rejections before the one that is kept
        factors = [
            sum(rejected**count << scale * (made - 1 - count) for count in before)
            for rejected in (rejected_low, rejected_high)
        ]
        for leaf, (least, most) in zip(leaves, masses, strict=True):
            traces.append((leaf.outcome, Trace(made, made * precision, steps + leaf.depth)))
            low.append(_outward(least * factors[0], denominator_bits - scale * made)[0])
            high.append(_outward(most * factors[1], denominator_bits - scale * made)[1])
    return _law(traces, low, low if low == high else high, 1 << denominator_bits)


def bit_by_bit(sums: Sequence[int], width: int) -> TraceLaw:
    """Return the law of (index, Trace) of one draw of Algorithm 4: passes that end in the dummy add their bits.

    Exact. Raises NoLawError where it would have more than `ATOMS_MAX` atoms.
    """
    leaves = closing(sums, width, dummy=True)
    weights: dict[tuple[int, int, int], int] = defaultdict(int)  # by (outcome, tries, bits), over 2^bits
    passed, tries = {0: 1}, 0  # how many strings of so many bits end in the dummy, pass after pass
    while passed:
        tries += 1
        following: dict[int, int] = defaultdict(int)
        for bits, strings in passed.items():
            for outcome, depth, mass in leaves:
                more = strings * (mass >> width - depth)
                if outcome == len(sums):
                    following[bits + depth] += more
                else:
                    weights[outcome, tries, bits + depth] += more
        if len(weights) > ATOMS_MAX:
            raise NoLawError(f"the law of Algorithm 4's traces has more than {ATOMS_MAX} atoms")
        passed = {bits: strings for bits, strings in following.items() if strings << PRUNED > 1 << bits}
    longest = max(bits for _, _, bits in weights)
    traces = [(outcome, Trace(made, bits, 0)) for outcome, made, bits in weights]
    masses = [strings << (longest - bits) for (_, _, bits), strings in weights.items()]
    return _law(traces, masses, masses, 1 << longest)


def one_word(law: Law[Any], word_bits: int = 64) -> TraceLaw:
    """Return the law of (outcome, Trace) of inverse transform on words: one word for each atom, all else in `rest`.

    One word decides unless a boundary between two outcomes lies inside its interval of width 2^−word_bits. Each of the
    outcomes − 1 boundaries lies inside at most one interval, so more words are read with probability at most
    (outcomes − 1)·2^−word_bits; and index i takes one word for each interval between ⌈before·2^word_bits⌉ and
    ⌊after·2^word_bits⌋, where its own cell of the running sums begins and ends.
    """
    least, most = (integers(bounds).repeat(law.counts()).tolist() for bounds in (law.low, law.high))
    units, last = law.denominator, len(least) - 1
    before, low, high = (0, 0), [], []
    for index in range(len(least)):
        after = (before[0] + least[index], before[1] + most[index]) if index < last else (units, units)
        first = [-(-(edge << word_bits) // units) for edge in before]
        end = [(edge << word_bits) // units for edge in after]
        low.append(max(0, end[0] - first[1]))
        high.append(max(0, end[1] - first[0]))
        before = after
    traces = [(outcome, Trace(0, word_bits, 0)) for outcome in np.asarray(law.atoms).tolist()]
    return _law(traces, low, low if low == high else high, 1 << word_bits)


def running_sums(weights: Iterable[int]) -> tuple[list[int], int]:
    """Return the running sums of integer weights, and the width, at least 1: 2^width is the least that holds the total.

    A total of 1 is taken as 2 halves, so that there is a bit to look at.
    """
    sums = list(accumulate(weights))
    if sums[-1] == 1:
        sums = [2 * end for end in sums]
    return sums, (sums[-1] - 1).bit_length()


def _law(traces: list[tuple[Any, Trace]], low: list[int], high: list[int], denominator: int) -> TraceLaw:
    rest = Fraction(denominator - sum(low), denominator)
    return Law(traces, range(1, len(traces) + 1), low, high, denominator, rest)


def _outward(value: int, shift: int) -> tuple[int, int]:
    """Return value·2^shift rounded down and up."""
    return (value << shift, value << shift) if shift >= 0 else (value >> -shift, -(-value >> -shift))
