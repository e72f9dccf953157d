"""Mechanisms with different budgets: the bounds are δ of all answers together, in rationals."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal.audit.claims.holding import hold
from subnormal.audit.claims.kinds import kind

MIXED, PARALLEL = kind("mixed-composition"), kind("parallel-composition")
Budgets = tuple[tuple[float, float], ...]


def leak(budgets: Budgets, epsilon: float) -> Fraction:
    """Return δ(ε) over all outcomes: each mechanism tells its value for certain, or is true, or lies."""
    worlds = []
    for each, failure in budgets:
        ratio, failed = Fraction(math.exp(each)), Fraction(failure)
        truth, lie = (1 - failed) * ratio / (1 + ratio), (1 - failed) / (1 + ratio)
        worlds.append([(failed, Fraction(0)), (Fraction(0), failed), (truth, lie), (lie, truth)])
    ratio = Fraction(math.exp(epsilon))
    products = ([math.prod(side) for side in zip(*outcomes, strict=True)] for outcomes in product(*worlds))
    return sum((max(Fraction(0), own - ratio * other) for own, other in products), Fraction(0))


@pytest.mark.parametrize(
    "budgets",
    [((1.0, 0.0),), ((0.5, 0.0), (2.0, 0.0), (0.1, 0.0)), ((0.5, 1e-3), (1.0, 1e-2)), ((0.3, 1e-4),) * 4],
)
@pytest.mark.parametrize("delta", [0.2, 0.02])
def test_a_mixed_composition_is_the_sum_over_all_answers(budgets: Budgets, delta: float) -> None:
    low, up = MIXED.bounds(budgets=budgets, delta=delta)
    assert up == pytest.approx(low, rel=1e-12)
    assert leak(budgets, up + 1e-9) <= delta
    assert low == 0 or leak(budgets, low - 1e-9) >= delta


def test_edges_of_budgets() -> None:
    assert MIXED.bounds(budgets=((1.0, 0.5), (1.0, 0.0)), delta=0.4) == (math.inf, math.inf)
    assert MIXED.bounds(budgets=((1.0, 0.5), (1.0, 0.0)), delta=0.5) == pytest.approx((2.0, 2.0))
    assert MIXED.bounds(budgets=((1.0, 0.0), (500.0, 0.0)), delta=0.0) == pytest.approx((501.0, 501.0))


def test_of_disjoint_parts_the_one_that_loses_most_counts() -> None:
    budgets = ((0.5, 0.0), (2.0, 0.0), (1.9, 1e-3))
    for delta in (0.0, 0.01, 0.1):
        every = [MIXED.bounds(budgets=(one,), delta=delta) for one in budgets]
        assert PARALLEL.bounds(budgets=budgets, delta=delta) == (
            max(one[0] for one in every),
            max(one[1] for one in every),
        )
    assert PARALLEL.bounds(budgets=budgets, delta=0.0)[0] == math.inf


def violation(one: Any, said: Any) -> Any:
    failure = st.sampled_from([0.0, 1e-3])
    few = st.lists(st.tuples(st.floats(0.1, 3), failure), min_size=1, max_size=4).map(tuple)
    return hold("own", said, replace(one, parameters={**one.parameters, "budgets": few}), examples=25).violated


def test_the_sum_is_not_accused_and_the_largest_is() -> None:
    """Of one record that is in all data; in disjoint parts the largest is enough."""

    def total(budgets: Budgets, delta: float) -> float:
        return sum(epsilon for epsilon, _ in budgets) if sum(failure for _, failure in budgets) <= delta else math.inf

    def largest(budgets: Budgets, delta: float) -> float:
        return max(epsilon if failure <= delta else math.inf for epsilon, failure in budgets)

    assert violation(MIXED, total) is None
    assert violation(PARALLEL, largest) is None
    found = violation(MIXED, largest)
    assert found is not None
    assert len(found.parameters["budgets"]) == 2
