"""Shuffled answers: the bounds enclose the largest δ of all datasets, in rationals."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal.audit.claims import shuffling_kinds
from subnormal.audit.claims.holding import hold
from subnormal.audit.claims.kinds import kind

SHUFFLED = kind("shuffled-response")
Law = Mapping[tuple[int, ...], Fraction]


def counts_of(values: tuple[int, ...], categories: int, truth: Fraction, lie: Fraction) -> Law:
    """Return the law of the numbers of each answer."""
    law: dict[tuple[int, ...], Fraction] = {(0,) * categories: Fraction(1)}
    for value in values:
        following: Counter[tuple[int, ...]] = Counter()
        for counts, chance in law.items():
            for answer in range(categories):
                more = tuple(count + (place == answer) for place, count in enumerate(counts))
                following[more] += chance * (truth if answer == value else lie)  # type: ignore[assignment]
        law = dict(following)  # type: ignore[arg-type]
    return law


def delta_of(own: Law, other: Law, ratio: Fraction) -> float:
    return float(sum(max(Fraction(0), chance - ratio * other[counts]) for counts, chance in own.items()))


@pytest.mark.parametrize(
    ("categories", "local", "users", "epsilon"),
    [(2, 1.0, 1, 0.3), (2, 1.0, 4, 0.3), (2, 2.0, 5, 0.0), (3, 1.0, 4, 0.2), (4, 1.5, 3, 0.1), (5, 3.0, 3, 1.0)],
)
def test_bounds_enclose_the_worst_of_all_datasets(categories: int, local: float, users: int, epsilon: float) -> None:
    """The lower bound is δ of two datasets; of three categories and more they are the worst of these few users."""
    weight, ratio = Fraction(math.exp(local)), Fraction(math.exp(epsilon))
    lie = 1 / (weight + categories - 1)
    found: dict[tuple[int, ...], float] = {}
    for others in combinations_with_replacement(range(categories), users - 1):
        laws = [counts_of((first, *others), categories, weight * lie, lie) for first in range(categories)]
        found[others] = max(delta_of(own, other, ratio) for own, other in permutations(laws, 2))
    low, up = SHUFFLED.bounds(categories=categories, local=local, users=users, epsilon=epsilon)
    assert low == pytest.approx(found[(0,) * (users - 1)], rel=1e-12)
    assert max(found.values()) <= up * (1 + 1e-12)
    if categories > 2:
        assert low == pytest.approx(max(found.values()), rel=1e-12)


@pytest.mark.parametrize(("categories", "local", "users", "epsilon"), [(2, 1.5, 40, 0.2), (3, 1.0, 25, 0.05)])
def test_of_more_users_the_lower_bound_is_that_of_two_datasets(
    categories: int, local: float, users: int, epsilon: float
) -> None:
    lie = 1 / (Fraction(math.exp(local)) + categories - 1)
    laws = [
        counts_of((0,) * (users - 1) + (one,), categories, 1 - (categories - 1) * lie, lie) for one in range(categories)
    ]
    own, other = laws[:2] if categories == 2 else laws[1:]
    low, _ = SHUFFLED.bounds(categories=categories, local=local, users=users, epsilon=epsilon)
    proved = max(delta_of(*pair, Fraction(math.exp(epsilon))) for pair in ((own, other), (other, own)))
    assert low == pytest.approx(proved, rel=1e-12)


@pytest.mark.parametrize("categories", [2, 7])
def test_a_window_of_many_coins_proves_nearly_as_much(categories: int, monkeypatch: pytest.MonkeyPatch) -> None:
    of = {"categories": categories, "local": 2.0, "users": 900, "epsilon": 0.3}
    whole = SHUFFLED.bounds(**of)
    monkeypatch.setattr(shuffling_kinds, "WINDOW", 150)
    part = SHUFFLED.bounds(**of)
    assert part[0] <= whole[0] * (1 + 1e-12)
    assert whole[1] <= part[1] * (1 + 1e-12)
    assert part == pytest.approx(whole, rel=1e-3)
    monkeypatch.setattr(shuffling_kinds, "WINDOW", 5)
    narrow = SHUFFLED.bounds(**of)
    assert narrow[0] <= whole[0] * (1 + 1e-12)
    assert narrow[1] >= 0.5


def test_nothing_is_lost_beyond_the_local_epsilon() -> None:
    assert SHUFFLED.bounds(categories=3, local=1.0, users=10, epsilon=1.0) == (0.0, 0.0)


FEW = {"users": st.integers(2, 400), "categories": st.integers(2, 5), "local": st.floats(0.1, 3)}


def held(said: Any) -> Any:
    few = replace(SHUFFLED, parameters={**SHUFFLED.parameters, **FEW})
    return hold("own", said, few, examples=15)


def test_the_bound_of_feldman_mcmillan_and_talwar_is_not_accused() -> None:
    """Theorem 3.1: ε = ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1)·(8·√(e^ε₀·ln(4/δ)/n) + 8·e^ε₀/n)), solved for δ; 1 where it says
    nothing."""

    def said(categories: int, local: float, users: int, epsilon: float) -> float:
        part = math.expm1(epsilon) / math.tanh(local / 2) - 8 * math.exp(local) / users
        if part <= 0:
            return 1.0
        delta = min(1.0, 4 * math.exp(max(-700.0, -users * math.exp(-local) * (part / 8) ** 2)))
        return delta if local <= math.log(users / (16 * math.log(2 / delta))) else 1.0

    assert held(said).violated is None


def test_a_promise_for_twice_as_many_users_is_violated() -> None:
    def said(users: int, **rest: Any) -> float:
        return SHUFFLED.bounds(users=2 * users, **rest)[0]

    found = held(said).violated
    assert found is not None
    assert found.said < found.low
