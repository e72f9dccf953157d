"""Random allocation: the bounds enclose δ by quadrature, and sums of few values in rationals."""

import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import stats

from subnormal.audit.claims import allocation_kinds
from subnormal.audit.claims.allocation_kinds import Rounding, _added, _epoch, _one_step, _pair, _Sum
from subnormal.audit.claims.kinds import kind
from subnormal.mechanisms.composition.closed_forms import Direction

ALLOCATION = kind("random-allocation-gaussian")
BOTH: tuple[Direction, Direction] = ("in", "out")


def nodes(sigma: float, pieces: int = 60) -> tuple[Any, Any]:
    """Return likelihood ratios of one step, and their probabilities: Gauss-Legendre on pieces of a normal density."""
    places, shares = leggauss(8)
    edges = np.linspace(-10, 10 + 1 / sigma, pieces + 1)
    halves = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + halves * (1 + places)).ravel()
    return np.exp(z / sigma - 0.5 / sigma**2), (halves * shares).ravel() * stats.norm.pdf(z)


def excess(sigma: float, threshold: Any, direction: Direction) -> Any:
    """Return E(X − k)₊ of one step's ratio X, or E(k − X)₊: Black and Scholes' formula."""
    with np.errstate(divide="ignore", invalid="ignore"):
        d = (0.5 / sigma**2 - np.log(threshold)) * sigma
        call = np.where(threshold > 0, stats.norm.cdf(d) - threshold * stats.norm.cdf(d - 1 / sigma), 1 - threshold)
        put = np.where(threshold > 0, threshold * stats.norm.cdf(1 / sigma - d) - stats.norm.cdf(-d), 0.0)
    return call if direction == "in" else put


@pytest.mark.parametrize("steps", [2, 3])
@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_two_and_three_steps_are_enclosed(sigma: float, steps: int) -> None:
    """δ = E(ΣX/t − e^ε)₊ where a record is added, and E(1 − e^ε·ΣX/t)₊ where it is removed."""
    values, chances = nodes(sigma)
    if steps == 3:
        values, chances = np.add.outer(values, values).ravel(), np.multiply.outer(chances, chances).ravel()
    for direction in BOTH:
        pair = _pair(sigma, steps, direction, 4_000)
        for epsilon in (0.1, 0.5, 1.0, 2.0):
            sign = 1 if direction == "in" else -1
            rest = steps * math.exp(sign * epsilon) - values
            exact = float(chances @ excess(sigma, rest, direction)) / steps * (1 if sign > 0 else math.exp(epsilon))
            low, up = pair.delta(epsilon)
            assert low * (1 - 1e-6) <= exact <= up * (1 + 1e-6)
            assert up - low <= 0.03 * exact + 1e-3 * min(1.0, exact / 1e-3)


def gains(one: list[tuple[Fraction, Fraction]], threshold: Fraction, sign: int) -> Fraction:
    """Return E(S − c)₊ or E(c − S)₊ of values with masses."""
    return sum((mass * max(Fraction(0), sign * (value - threshold)) for value, mass in one), Fraction(0))


def rational(one: _Sum) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(value), Fraction(mass)) for value, mass in zip(one.values, one.masses, strict=True)]


THREE = np.array([0.3, 0.9, 2.6]), np.array([0.4, 0.5, 0.1])


@pytest.mark.parametrize("rounding", ["up", "down", "grouped"])
def test_sums_are_ordered_in_rationals(rounding: Rounding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight steps of three values, on grids of 12: all outcomes, and thresholds on a grid.

    E(S − c)₊ is no smaller after splits upward, E(c − S)₊ after splits downward, and neither is larger after grouping,
    but for the error of the masses.
    """
    monkeypatch.setattr(allocation_kinds, "POINTS", 12)
    one = _Sum(1, *THREE, THREE[0] * THREE[1], 0.0, 0.0)
    made = one
    for _ in range(3):
        made = _added(made, made, rounding)
    assert made.lost < 2.0**-90
    assert made.error < 1e-12
    exact = rational(one)
    for _ in range(3):
        law: dict[Fraction, Fraction] = defaultdict(Fraction)
        for (left, mass), (right, other) in product(exact, exact):
            law[left + right] += mass * other
        exact = list(law.items())
    error = Fraction(made.error)
    for place in range(1, 60):
        threshold = Fraction(place, 3)
        for sign in {"up": (1,), "down": (-1,), "grouped": (1, -1)}[rounding]:
            own, true = gains(rational(made), threshold, sign), gains(exact, threshold, sign)
            if rounding == "grouped":
                assert own <= true * (1 + 2 * error) + error
            else:
                assert own * (1 + error) >= true
    mean = sum(value * mass for value, mass in rational(made))
    true_mean = sum(value * mass for value, mass in exact)
    if rounding == "grouped":
        assert made.weights.sum() == pytest.approx(float(true_mean), rel=1e-13)
    else:
        assert (mean > true_mean) == (rounding == "up")
        assert float(mean) == pytest.approx(float(true_mean), rel=1e-13)


def test_errors_of_products_multiply() -> None:
    rough = _Sum(1, *THREE, THREE[0] * THREE[1], 0.5, 0.0)
    assert _added(rough, rough, "up").error >= (1 + 0.5) ** 2 - 1


def test_what_is_left_out_counts_as_revealed() -> None:
    """Sums that leave the grid, on either side, are lost; and what is lost adds to δ in both directions."""
    wide = _Sum(1, np.array([1e-3, 1.0, 1e3]), np.array([1e-31, 1.0, 1e-40]), np.array([1e-34, 1.0, 1e-37]), 1e-3, 1e-9)
    made = _added(wide, wide, "up")
    assert made.error > 2e-3
    exact = replace(wide, lost=0.0)
    assert _added(exact, exact, "up").lost == pytest.approx(2e-31, rel=1e-2, abs=0)
    assert made.lost == pytest.approx(2e-9 + 2e-31, rel=1e-12)
    assert made.masses.sum() == pytest.approx(1.0)
    tiny = _Sum(1, np.array([1.0, 2.0]), np.array([1.0, 1e-160]), np.array([1.0, 2e-160]), 0.0, 0.0)
    assert len(allocation_kinds._kept(tiny).masses) == 1
    assert allocation_kinds._kept(tiny).lost == pytest.approx(2e-160, rel=1e-9, abs=0)
    lost = replace(_epoch(1.0, 2, "up"), lost=0.25)
    for direction in BOTH:
        own, other = allocation_kinds._worlds(lost, direction, 0.0)
        assert own.high[-1] == 0.25
        assert own.low[-1] == other.low[-1] == 0.0
    assert _one_step(1.0, "up").lost > 0


def test_rounding_goes_up_where_a_record_is_added_and_down_where_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratio of one step has the mean 1."""
    assert _one_step(1.0, "up").weights.sum() > 1 > _one_step(1.0, "down").weights.sum()
    asked = []

    def noted(sigma: float, steps: int, rounding: Rounding) -> _Sum:
        asked.append(rounding)
        return _epoch(sigma, steps, rounding)

    monkeypatch.setattr(allocation_kinds, "_epoch", noted)
    for direction in BOTH:
        _pair(1.0, 2, direction, 400)
    assert asked == ["up", "grouped", "down", "grouped"]


def test_epochs_of_one_step_are_gaussian_noise() -> None:
    """Without another step to hide in, also where the sums are followed."""
    exact = kind("gaussian").bounds(sigma=2.0, steps=9, delta=1e-5)
    assert ALLOCATION.bounds(sigma=2.0, steps=1, epochs=9, delta=1e-5) == exact
    low, up = (
        end([_pair(2.0, 1, way, 4_000).compose(9).epsilon(1e-5)[side] for way in BOTH])
        for side, end in enumerate((max, max))
    )
    assert low <= exact[0] <= exact[1] <= up <= low * 1.002


def test_many_steps_hide_better_than_few_and_no_worse_than_one() -> None:
    same: dict[str, Any] = {"sigma": 0.8, "epochs": 3, "delta": 1e-6}
    found = [ALLOCATION.bounds(steps=steps, **same) for steps in (1, 4, 37)]
    assert found[0][0] > found[1][1] > found[1][0] > found[2][1] > found[2][0] > 0
    assert all(up <= 1.02 * low for low, up in found)
    assert ALLOCATION.bounds(steps=37, **(same | {"sigma": 0.1})) == (
        0.0,
        kind("gaussian").bounds(sigma=0.1, steps=3, delta=1e-6)[1],
    )
