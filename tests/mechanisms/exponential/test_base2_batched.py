"""Many draws with randomized rounding: by every string of bits, on the same bits, and by their fit to exact laws."""

import contextlib
import itertools
import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, OutOfBitsError, scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.exponential import base2, base2_batched
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace import as_selection as laplace_as_selection
from subnormal.mechanisms.privacy import Eta


def by_every_string(utilities: NDArray[np.float64], eta: Eta, limits: Limits, precision: int) -> Law[int]:
    """The law of the fast path: for each string of roundings the accepted words, each as likely as another."""
    word = base2_batched._word(eta, limits)
    assert word <= base2_batched.TOTAL_BITS_MAX
    rounding_bits, total = len(utilities) * precision, [Fraction(0)] * len(utilities)
    for roundings in range(1 << rounding_bits):
        accepted = []
        for last in range(1 << word):
            bits = scripted_bits(f"{roundings:0{rounding_bits}b}{last:0{word}b}")
            with contextlib.suppress(OutOfBitsError):  # rejected: the next word would be drawn as the first
                options: dict[str, Any] = {"limits": limits, "rounding_precision": precision}
                accepted.append(int(base2_batched.sample(utilities, eta, bits, 1, **options)[0]))
        for index in accepted:
            total[index] += Fraction(1, len(accepted) << rounding_bits)
    denominator = math.lcm(*(mass.denominator for mass in total))
    masses = [int(mass * denominator) for mass in total]
    return exact_law(range(len(total)), range(1, len(total) + 1), masses, denominator)


@pytest.mark.parametrize(
    ("utilities", "eta", "limits", "precision"),
    [
        ([0.0, 0.5, 1.0, 1.5], Eta(1, 1, 1), Limits(0, 2, 4), 1),
        ([0.5, 0.5], Eta(1, 2, 1), Limits(0, 1, 2), 1),
        ([0.25, 0.75], Eta(2, 2, 2), Limits(0, 1, 3), 2),
        ([-0.5, 0.5, 9.5], Eta(1, 1, 1), Limits(-1, 1, 3), 2),
        ([0.25], Eta(1, 1, 3), Limits(0, 1, 1), 2),
        ([0.375, 0.0], Eta(1, 1, 1), Limits(0, 1, 2), 3),
    ],
)
def test_the_fast_path_of_randomized_rounding_by_every_string_of_bits(
    utilities: list[float], eta: Eta, limits: Limits, precision: int
) -> None:
    """By ==, against the mixture over all roundings."""
    walked = by_every_string(np.array(utilities), eta, limits, precision)
    law = base2.law(utilities, eta, limits=limits, rounding_precision=precision)
    for index in range(len(utilities)):
        assert walked.probability(index) == law.probability(index)


def oracle(utilities: NDArray[np.float64], shift: int, top: int, bits: BitSource, n: int, word: int) -> list[int]:
    """One batch in whole Python integers, on the same bits: knows nothing of arrays."""
    width, count = 4, len(utilities)
    sums = []
    for _ in range(n):
        up = [
            word < (u % 1) * 2**width
            for word, u in zip(bits.words(count, width).tolist(), utilities.tolist(), strict=True)
        ]
        rounded = [math.floor(u) + one for u, one in zip(utilities.tolist(), up, strict=True)]
        sums.append(list(itertools.accumulate(1 << shift * (top - u) for u in rounded)))
    chosen, pending = [0] * n, list(range(n))
    while pending:
        points = {}
        for draw, drawn in zip(pending, bits.words(len(pending), word).tolist(), strict=True):
            points[draw] = drawn & (1 << int(sums[draw][-1] - 1).bit_length()) - 1
        for draw in pending:
            chosen[draw] = bisect_right(sums[draw], points[draw])
        pending = [draw for draw in pending if points[draw] >= sums[draw][-1]]
    return chosen


@pytest.mark.parametrize(("value", "eta"), [(0, Eta(1, 1, 1)), (3.3125, Eta(1, 1, 2)), (10, Eta(2, 3, 1))])
def test_many_draws_on_the_same_bits_are_those_of_whole_integers(value: float, eta: Eta) -> None:
    grid: dict[str, Any] = {"grid": -4, "lower": -10, "upper": 10}
    batch, limits = base2_batched.BATCH // 321, Limits(0, 20, 321)
    n = 2 * batch + 5
    units = laplace_as_selection.steps(value, **grid) / 16
    ours, theirs = seeded_bits(3), seeded_bits(3)
    drawn = laplace_as_selection.sample_rounded(value, eta, ours, n, **grid)
    shift, word = base2_batched._halvings(eta), base2_batched._word(eta, limits)
    expected = [index for size in (batch, batch, 5) for index in oracle(units, shift, 20, theirs, size, word)]
    assert drawn.tolist() == [index / 16 - 10 for index in expected]
    assert ours.consumed == theirs.consumed
