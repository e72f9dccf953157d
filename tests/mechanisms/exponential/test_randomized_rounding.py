"""Randomized rounding: exact thresholds, integers untouched, monotone; and its error bounds against enumeration."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.exponential import base2, randomized_rounding
from subnormal.mechanisms.privacy import Eta

UTILITIES = np.array(
    [0.5, -0.5, 2.25, -2.25, 1 / 3, -1 / 3, 1e-18, -1e-18, 2**-80, -(2**-80), 3.0, -4.0, 0.0, 1e15 + 0.5]
)


@pytest.mark.parametrize("precision", [1, 4, 53, 64])
def test_thresholds_are_the_exact_fractions_rounded_down(precision: int) -> None:
    expected = [math.floor((Fraction(u) - math.floor(Fraction(u))) * 2**precision) for u in UTILITIES.tolist()]
    assert randomized_rounding.thresholds(UTILITIES, precision).tolist() == expected


@pytest.mark.parametrize("word", range(16))
def test_every_word_rounds_to_a_neighbour_and_in_order(word: int) -> None:
    ordered = np.sort(UTILITIES)
    rounded = randomized_rounding.randomized(ordered, scripted_bits(f"{word:04b}" * len(ordered)), precision=4)
    assert ((rounded == np.floor(ordered)) | (rounded == np.ceil(ordered))).all()
    assert (np.diff(rounded) >= 0).all()  # Lemma A.1


def test_the_chance_of_rounding_up_is_the_fraction_by_every_word() -> None:
    up = [
        randomized_rounding.randomized(np.array([2.3125]), scripted_bits(f"{word:04b}"), 4)[0] == 3
        for word in range(16)
    ]
    assert Fraction(sum(up), 16) == Fraction(5, 16)


def test_the_bits_taken_do_not_depend_on_the_data() -> None:
    for utilities in ([1.0, 2.0], [0.1, 0.9]):
        bits = seeded_bits(1)
        randomized_rounding.randomized(np.array(utilities), bits)
        assert bits.consumed == 128


def distances(grid: int, lower: float = -10, upper: float = 10, value: float = 0) -> NDArray[np.float64]:
    return np.abs(np.arange(lower, upper + 2.0**grid, 2.0**grid) - value)


RNG = np.random.default_rng(1)
INSTANCES = {
    "one fraction": np.array([0.5, 1.0, 2.0]),
    "two fractions": np.array([0.5, 0.25]),
    "one outcome": np.array([0.75]),
    "notebook": np.array([0.5, 1.0, 1.5, 2.25]),
    "quarters": distances(-2, -1, 1),
    "off the grid of integers": distances(-1, -2, 2, 0.25),
    "negative": np.array([-1.75, -0.5, 0.0, 1.25]),
    "thirds": np.array([1 / 3, 2 / 3, 4 / 3, -1 / 3]),
    "ties": np.full(10, 0.5),
    "random": RNG.uniform(-3, 3, 8),
    "far apart": np.array([0.5, 8.5, 20.25, 3.0]),
    "among many": np.concatenate([np.arange(200) % 9, RNG.uniform(0, 4, 5)]),
}
ETAS = [Eta(1, 1, 1), Eta(1, 2, 1), Eta(3, 2, 1), Eta(5, 3, 2), Eta.from_epsilon(0.1, 16)]
instances = pytest.mark.parametrize("utilities", INSTANCES.values(), ids=list(INSTANCES))
etas = pytest.mark.parametrize("eta", ETAS, ids=str)


def enumerated(utilities: Any, eta: Eta, precision: int) -> list[Fraction]:
    """The exact rounded probabilities, as the mixture over all roundings."""
    law = base2.law(utilities, eta, rounding_precision=precision)
    return [law.probability(index)[0] for index in range(len(utilities))]


@etas
@instances
@pytest.mark.parametrize("precision", [2, 64])
def test_the_exact_rounded_probability_lies_between_the_bounds(
    utilities: NDArray[np.float64], eta: Eta, precision: int
) -> None:
    """Lemma A.2 and Proposition 3.6, in rationals."""
    bounds = randomized_rounding.bounds(utilities, eta, precision)
    exact = enumerated(utilities, eta, precision)
    factor = eta.base**2  # 2^(−2η)
    for low, truth, high, (least, most), error in zip(
        bounds.lower, exact, bounds.upper, bounds.unrounded, bounds.error, strict=True
    ):
        assert 0 < low <= truth <= high
        assert 0 < least <= most < least * (1 + Fraction(1, 1 << 200))
        assert max(abs(truth - least), abs(truth - most)) <= error
        assert error == max(abs(end - p) for end in (low, high) for p in (least, most))
        assert factor * most <= truth <= least / factor


@etas
def test_the_bounds_speak_of_the_rounding_that_the_code_does(eta: Eta) -> None:
    """Test of the test: with one bit 0.3 is never rounded up, and bounds for exact chances do not hold."""
    utilities = np.array([0.3, 1.0])
    bounds, exact = randomized_rounding.bounds(utilities, eta), enumerated(utilities, eta, 1)
    assert not bounds.lower[0] <= exact[0] <= bounds.upper[0]


@etas
def test_jensen_is_an_equation_for_the_only_fraction(eta: Eta) -> None:
    bounds = randomized_rounding.bounds([0.5, 1.0, 2.0], eta)
    assert bounds.lower[0] == enumerated(np.array([0.5, 1.0, 2.0]), eta, 64)[0]
    assert bounds.gap > 0


@etas
def test_integers_have_no_error(eta: Eta) -> None:
    bounds = randomized_rounding.bounds([3, 0, 1, 1, -2], eta)
    exact = enumerated(np.array([3, 0, 1, 1, -2]), eta, 64)
    assert list(bounds.lower) == exact
    assert list(bounds.unrounded) == [(p, p) for p in exact]
    assert 0 <= bounds.gap < Fraction(1, 1 << randomized_rounding.ENCLOSURE_BITS)


def test_the_unrounded_probabilities_where_they_are_rational() -> None:
    """B = 1/4: the weight of a half is 1/2."""
    exact = [Fraction(weight, 15) for weight in (8, 4, 2, 1)]
    for (low, high), truth in zip(
        randomized_rounding.bounds([0.0, 0.5, 1.0, 1.5], Eta(1, 2, 1)).unrounded, exact, strict=True
    ):
        assert low <= truth <= high
        assert high - low < Fraction(1, 1 << 240)


@pytest.mark.parametrize(
    ("eta", "at_a_quarter", "shares_of_error"),
    [
        pytest.param(Eta(1, 2, 1), (0.01542, 0.02157, 0.17157), (0.12574, 0.14421), id="that of the paper's plots"),
        pytest.param(Eta(1, 1, 1), (0.00274, 0.00372, 0.08650), (0.04306, 0.04959), id="half of it"),
    ],
)
def test_the_figures_of_the_paper(
    eta: Eta, at_a_quarter: tuple[float, ...], shares_of_error: tuple[float, float]
) -> None:
    """γ = 2^−2 to 2^−6 on [−10, 10]: bounds in the order of the outcomes, width and error falling with γ, roughly by
    half a step; beside the largest probability, which falls as well, both grow. At γ = 1/4: width, error and that."""
    widths, errors, peaks = [], [], []
    for grid in range(-2, -7, -1):
        utilities = distances(grid)
        bounds = randomized_rounding.bounds(utilities, eta)
        assert len(bounds.lower) == 20 * 2**-grid + 1
        assert bounds.lower == bounds.lower[::-1]
        assert max(bounds.lower) == bounds.lower[len(utilities) // 2]
        assert sum(bounds.lower) <= 1 <= sum(bounds.upper)
        assert 1 - sum(map(float, bounds.lower)) == pytest.approx(float(bounds.gap), abs=1e-12)
        widths.append(float(bounds.gap))
        errors.append(float(max(bounds.error)))
        peaks.append(float(max(low for low, _ in bounds.unrounded)))
    for falling in (widths, errors):
        assert all(0.5 < after / before < 0.56 for before, after in itertools.pairwise(falling))
    assert (widths[0], errors[0], peaks[0]) == pytest.approx(at_a_quarter, abs=1e-5)
    for growing in (np.divide(widths, peaks), np.divide(errors, peaks)):
        assert (np.diff(growing) > 0).all()
    assert (errors[0] / peaks[0], errors[-1] / peaks[-1]) == pytest.approx(shares_of_error, abs=1e-5)
