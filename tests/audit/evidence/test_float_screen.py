"""Bounds on ratios of many pairs of laws in floats, against Fractions. In small domains every pair is compared exactly
as well, which hides what the floats say: so they are looked at alone."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import float_screen
from subnormal.audit.evidence.float_screen import SLACK, Screen, Screened, floats_of
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds
from subnormal.mechanisms.privacy import Claim

NEAR = Fraction(1, 1 << 44)  # relative: SLACK is 2^-48, and each bound has it once
SIZES = (2, 7, 1 << 60, (1 << 70) + 1, 3**400)


def bounds_of(law: Law[Any]) -> dict[Any, tuple[Fraction, Fraction]]:
    return {atom: law.probability(atom) for atom in law.atoms}


def drawn(random: Random, *, exact: bool = False) -> Law[Any]:
    """Return a law, or bounds on one: of some outcomes among four, in any order, with blocks of one or two atoms."""
    atoms = random.sample("abcd", random.randint(1, 4))
    ends = sorted({*random.sample(range(1, len(atoms) + 1), random.randint(1, len(atoms))), len(atoms)})
    counts = np.diff([0, *ends]).tolist()
    weights = [random.choice((0, 1, 1, 2, random.randrange(1, 1 << 80))) for _ in ends]
    weights[-1] += not any(weights)
    if exact:
        return exact_law(atoms, ends, weights, sum(map(int.__mul__, weights, counts)))
    size = random.choice(SIZES)
    total = sum(map(int.__mul__, weights, counts)) * size
    low = [random.choice((0, weight, weight * size - weight, weight * size)) for weight in weights]
    high = [weight * size + random.choice((0, weight, weight * size)) for weight in weights]
    return Law(atoms, ends, low, high, total, Fraction(0))


def one_way(first: Law[Any], second: Law[Any], factor: Fraction) -> tuple[Fraction | float, Fraction | float, Fraction]:
    """Return the largest ratio that the bounds allow, the largest that they prove, and the divergence they prove."""
    own, other = bounds_of(first), bounds_of(second)
    most: Fraction | float = Fraction(1)
    least: Fraction | float = Fraction(1)
    delta = Fraction(0)
    for atom, (low, high) in own.items():
        below, above = other.get(atom, (Fraction(0), Fraction(0)))
        most = max(most, high / below if below else inf) if high else most
        least = max(least, low / above if above else inf) if low else least
        delta += max(Fraction(0), low - factor * above)
    return most, least, delta


def screen_of(laws: list[Law[Any]], claim: Claim) -> Screen:
    screen = Screen.of([floats_of(law) for law in laws], claim)
    assert screen is not None
    return screen


def test_floats_of_a_law_are_next_to_its_probabilities() -> None:
    random = Random(1)
    large = [1 << 54, 1 << 60]  # no probability is so large, but a bound may be
    for law in [Law("ab", [1, 2], [0, 0], large, 3, Fraction(0)), *(drawn(random) for _ in range(100))]:
        floats: Any = floats_of(law)
        for place, (low, high) in enumerate(bounds_of(law).values()):
            below = Fraction(float(floats.low[place])) * Fraction(2) ** int(floats.low_exponent[place])
            above = Fraction(float(floats.high[place])) * Fraction(2) ** int(floats.high_exponent[place])
            assert low * (1 - Fraction(1, 1 << 51)) <= below <= low
            assert high <= above <= high * (1 + Fraction(1, 1 << 51))


def test_mass_outside_the_atoms_many_atoms_and_products_are_not_in_floats() -> None:
    assert floats_of(Law(range(2), [1, 2], [1, 1], [2, 2], 3, Fraction(1, 3))) is None
    assert floats_of(Product({"key": exact_law(range(1), [1], [1], 1)})) is None
    many = float_screen.ATOMS_MAX
    assert floats_of(exact_law(range(many), [many], [1], many)) is not None
    assert floats_of(exact_law(range(many + 1), [many + 1], [1], many + 1)) is None


def test_claims_and_laws_without_a_screen() -> None:
    law = floats_of(exact_law(range(2), [1, 2], [1, 1], 2))
    assert Screen.of([law, law], Claim(600.0)) is not None
    assert Screen.of([law, law], Claim(601.0)) is None
    assert Screen.of([law, law], Claim(1.0, 1e-300)) is None
    assert Screen.of([law, None], Claim(1.0)) is None
    for epsilon in (1e-9, 1.0, 37.0):
        screen: Any = Screen.of([law], Claim(epsilon))
        low, high = exp_bounds(Fraction(epsilon))
        assert screen.factor[0] < low < high < screen.factor[1] == np.nextafter(screen.factor[0], inf)


@pytest.mark.parametrize("exact", [False, True])
def test_what_the_floats_say_of_a_pair_is_what_rationals_say(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float_screen, "ENTRIES", 4 * 17)  # pairs are compared in several parts
    random = Random(2)
    laws = [drawn(random, exact=exact) for _ in range(30)]
    pairs = list(combinations(range(len(laws)), 2))
    seen = np.zeros(3, dtype=np.int64)
    for epsilon in (0.8, 3.0, 40.0):
        screened = screen_of(laws, Claim(epsilon)).compare(*np.array(pairs).T)
        low, high = exp_bounds(Fraction(epsilon))
        for at, (one, other) in enumerate(pairs):
            ways = [one_way(laws[a], laws[b], high) for a, b in ((one, other), (other, one))]
            most, least, delta = (max(column) for column in zip(*ways, strict=True))
            told = f"{bounds_of(laws[one])}, {bounds_of(laws[other])}"
            assert screened.ratio[at] == most == inf or most <= screened.ratio[at] <= most * (1 + NEAR), told
            is_violated, is_undecided = bool(screened.violated[at]), bool(screened.undecided[at])
            assert is_violated == (least > high), told
            assert is_undecided == (not is_violated and most > low), told
            assert screened.delta[at] == pytest.approx(float(delta), rel=1e-12, abs=1e-300), told
            seen += is_violated, is_undecided, not is_violated and not is_undecided
    assert min(seen[0], seen[2]) > 15
    assert exact or seen[1] > 15


def test_the_ratio_that_convicts_is_the_largest_that_the_bounds_prove() -> None:
    random, seen = Random(3), 0
    laws = [drawn(random) for _ in range(40)]
    screen = screen_of(laws, Claim(1.0))
    for one, other in combinations(range(len(laws)), 2):
        least = max(one_way(laws[a], laws[b], Fraction(1))[1] for a, b in ((one, other), (other, one)))
        if 1 < least < inf:
            pair = np.array([one]), np.array([other])
            below, above = (float(least * (1 + side * NEAR)) for side in (-1, 1))
            found = replace(screen, factor=(1.0, below)).compare(*pair)
            assert found.violated[0]
            assert found.delta[0] > 0
            assert not replace(screen, factor=(1.0, above)).compare(*pair).violated[0]
            seen += 1
    assert seen > 40  # pairs with a finite one


def test_the_bound_on_all_losses_is_above_the_largest_and_near() -> None:
    laws = [exact_law("ab", [1, 2], [weight, 100 - weight], 100) for weight in (50, 55, 70)]
    screened = screen_of(laws, Claim(1.0)).compare(np.array([0, 0]), np.array([1, 2]))
    low, _ = log_bounds(Fraction(50, 30))
    assert low < Fraction(screened.most) < low * (1 + NEAR)
    wide = [Law("ab", [1, 2], [1, 1], [3, 3], 4, Fraction(0)), Law("ab", [1, 2], [0, 1], [3, 4], 4, Fraction(0))]
    assert screen_of(wide, Claim(1.0)).compare(np.array([0]), np.array([0])).most == pytest.approx(np.log(3))
    assert screen_of(wide, Claim(1.0)).compare(np.array([0]), np.array([1])).most == inf


def test_a_ratio_at_the_bound_is_neither_beyond_it_nor_open() -> None:
    screen = screen_of([exact_law("ab", [1, 2], [3, 1], 4), exact_law("ab", [1, 2], [1, 3], 4)], Claim(1.0))
    pair = np.array([0]), np.array([1])
    most, least = 3 * (1 + SLACK), 3 * (1 - SLACK)

    def at(low: float, high: float) -> tuple[bool, bool]:
        found = replace(screen, factor=(low, high)).compare(*pair)
        return bool(found.violated[0]), bool(found.undecided[0])

    assert at(most, 9.0) == (False, False)
    assert at(np.nextafter(most, 0.0), 9.0) == (False, True)
    assert at(1.0, least) == (False, True)
    assert at(1.0, np.nextafter(least, 0.0)) == (True, False)
    assert at(1.0, 3.0) == (False, True)


EXPONENTS = (  # differences of exponents from those of the first, constants, and whether 11/4 rates allow them
    ((0, 0, 0), (0, 1, 2), True),
    ((2, -2, 1), (0, 1, 2), True),
    ((3, 0, 0), (0, 1, 2), False),
    ((0, 0, -3), (0, 1, 2), False),
    ((0, 0, 0), (0, 1, 3), False),
)


@pytest.mark.parametrize("parts", [1, 10**6])
def test_powers_decide_what_bounds_do_not(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All laws have the same wide bounds. The claim allows losses of 11/4 rates, so two steps of the exponents."""
    monkeypatch.setattr(float_screen, "ENTRIES", parts)

    def law(exponents: Any, constants: Any, rate: Fraction = Fraction(4, 11), atoms: str = "abc") -> Law[Any]:
        powers = Powers(rate, np.array(exponents), np.array(constants))
        return Law(atoms, [1, 2, 3], [1] * 3, [9] * 3, 12, Fraction(0), powers)

    laws = [law((0, 0, 0), (0, 1, 2)), *(law(exponents, constants) for exponents, constants, _ in EXPONENTS)]
    others = np.arange(1, len(laws))
    for pairs in ((np.zeros_like(others), others), (others, np.zeros_like(others))):
        undecided = screen_of(laws, Claim(1.0)).compare(*pairs).undecided
        assert undecided.tolist() == [not allowed for _, _, allowed in EXPONENTS]
    same = [law((0, 0, 0), (0, 1, 2)), law((0, 0, 0), (0, 1, 2))]
    another_rate = [same[0], law((0, 0, 0), (0, 1, 2), rate=Fraction(1, 5))]
    another_order = [same[0], law((0, 0, 0), (0, 1, 2), atoms="acb")]
    without = [same[0], replace(same[0], powers=None)]
    for two, number in ((same, 0), (another_rate, 1), (another_order, 1), (without, 1), (without[::-1], 1)):
        found = screen_of(two, Claim(1.0)).compare(np.array([0]), np.array([1]))
        assert (found.violated.sum(), found.undecided.sum()) == (0, number)


def test_powers_of_a_block_are_those_of_each_of_its_atoms() -> None:
    def law(first: int, second: int) -> Law[Any]:
        powers = Powers(Fraction(1), np.array([first, second]), np.array([0, 1]))
        return Law("abc", [1, 3], [1] * 2, [9] * 2, 12, Fraction(0), powers)

    floats: Any = floats_of(law(5, 7))
    assert (floats.powers.exponents.tolist(), floats.powers.constants.tolist()) == ([5, 7, 7], [0, 1, 1])


def test_the_pairs_that_are_compared_exactly() -> None:
    """Violations of the largest divergence and of the largest ratio, or whatever may have the largest loss."""
    ratio = np.array([2.0, 9.0, 4.0, 9.0 * (1 - 4 * SLACK), 9.0 * (1 - 16 * SLACK), 5.0])
    violated = np.array([True, True, False, True, True, True])
    delta = np.array([0.9, 0.1, 0.0, 0.2, 0.3, 0.8])
    screened = Screened(ratio=ratio, violated=violated, undecided=~violated, delta=delta, most=np.log(9.0))
    assert np.flatnonzero(screened.largest(9)).tolist() == [1, 3]
    assert np.flatnonzero(screened.largest(1)).tolist() == [1]
    assert np.flatnonzero(screened.worst(1)).tolist() == [0, 1]
    assert np.flatnonzero(screened.worst(2)).tolist() == [0, 1, 3, 5]
    assert np.flatnonzero(screened.worst(9)).tolist() == [0, 1, 3, 4, 5]
