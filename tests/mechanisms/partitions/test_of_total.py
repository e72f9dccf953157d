"""Frequency lists of a fixed total: the law against brute force, and every string of bits against the law."""

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.partitions import of_total
from subnormal.mechanisms.partitions.bounds import by_total
from tests.mechanisms.partitions.test_exact import HALF, all_partitions


def test_lists_of_exactly_so_many_records() -> None:
    """Brute force over the partitions of 9, and every string of 12 bits of a smaller case."""
    lower, upper = by_total(9, 9)
    data = (4, 3, 1, 1, 0, 0, 0, 0, 0)
    law = of_total.law(data, HALF, 9, lower=lower, upper=upper)
    outcomes = all_partitions(9, 9, 9)
    assert sorted(law.atoms) == sorted(outcomes)  # type: ignore[type-var]
    distance = {one: sum(abs(a - b) for a, b in zip(one, data, strict=True)) for one in outcomes}
    total = sum(Fraction(1, 1 << d) for d in distance.values())
    for one, apart in distance.items():
        assert law.probability(one)[0] == Fraction(1, 1 << apart) / total
    small: dict[str, Any] = {"lower": [0, 0], "upper": [3, 2]}
    law = of_total.law([2, 1], HALF, 3, **small)

    def draw(bits: BitSource) -> tuple[int, ...]:
        return tuple(of_total.sample([2, 1], HALF, 3, bits, 1, **small)[0].tolist())

    walked = exhaustive.law(draw, depth=12, word_bits=2)
    assert walked.rest <= Fraction(1, 64)
    for atom in law.atoms:
        low = walked.probability(atom)[0]
        assert low <= law.probability(atom)[0] <= low + walked.rest
    drawn = of_total.sample(data, HALF, 9, seeded_bits(4), 200, lower=lower, upper=upper)
    assert (drawn.sum(axis=1) == 9).all()
    assert (drawn[:, 1:] <= drawn[:, :-1]).all()


def test_no_list_of_that_total() -> None:
    for call in (of_total.law, partial(of_total.sample, bits=seeded_bits(1), n=1)):
        with pytest.raises(ValueError, match="total = 9"):
            call([2, 1], HALF, total=9, lower=[0, 0], upper=[3, 2])


def test_bounds_on_a_row_are_rounded_outwards() -> None:
    """A uniform that begins with 1/4 may lie below 1/3 or above: two bits do not decide."""
    found = of_total._bounds([1, 2, 3], 5, 2)
    assert (list(found.low), list(found.high)) == ([0, 1, 2, 4], [0, 2, 3, 4])
