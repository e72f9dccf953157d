"""Bounds on what runs cost: below and above the exact value, always, and as near to it as they promise."""

import dataclasses
import itertools
import math
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from subnormal.attacks.catalogue import attack
from subnormal.audit.composition import other_accountants
from subnormal.audit.composition.buckets import buckets
from subnormal.audit.evidence import exact
from subnormal.mechanisms.composition.closed_forms import (
    Direction,
    gaussian,
    laplace,
    randomized_response,
    subsampled_gaussian,
)
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.families import member
from subnormal.mechanisms.numerics.mpfr import exp_bounds

A, B = [0.6, 0.3, 0.1], [0.3, 0.5, 0.2]
PAIRS = 500
GRIDS: tuple[tuple[int, float | None], ...] = ((4_000, None), (1_000, 1.01), (40, None), (16, 1.3), (9, 3.0))

Weights = tuple[list[int], list[int]]


def types(weights: Weights, runs: int) -> list[tuple[int, int]]:
    """The weights of every type of `runs` outcomes (how often each atom came up) in both worlds, over sum^runs."""
    atoms, found = len(weights[0]), []
    for bars in itertools.combinations(range(runs + atoms - 1), atoms - 1):
        counts = [right - left - 1 for left, right in itertools.pairwise((-1, *bars, runs + atoms - 1))]
        ways = math.factorial(runs) // math.prod(map(math.factorial, counts))
        one, other = (ways * math.prod(x**n for x, n in zip(world, counts, strict=True)) for world in weights)
        found.append((one, other))
    return found


def exact_delta(weights: Weights, runs: int, epsilon: float) -> tuple[Fraction, Fraction]:
    """δ(ε) by enumeration of types: bounds that differ by those of e^ε alone, 2^-128."""
    low, high = exp_bounds(Fraction(epsilon))
    scale_in, scale_out = (sum(world) ** runs for world in weights)
    both = types(weights, runs)

    def at(ratio: Fraction) -> Fraction:
        top, bottom = ratio.numerator * scale_in, ratio.denominator * scale_out
        return Fraction(sum(max(a * bottom - b * top, 0) for a, b in both), scale_in * bottom)

    return at(high), at(low)


def random_weights(rng: random.Random) -> Weights:
    """Up to 6 atoms of small integer weights, some impossible in one world, some very rare."""
    while True:
        atoms = rng.randint(1, 6)
        p, q = ([rng.choice((0, 1, 1, 2, 3, 5, 8, 1000)) for _ in range(atoms)] for _ in range(2))
        if sum(p) and sum(q):
            return p, q


def shares(weights: list[int]) -> list[Fraction]:
    return [Fraction(one, sum(weights)) for one in weights]


def gaussian_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of N(μ, 1) against N(0, 1). Source: Balle, Wang 2018, Theorem 8."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))


def encloses(bounds: tuple[float, float], value: float, relative: float) -> bool:
    """Whether the bounds hold a value that is itself rounded, and lie within a relative distance of it."""
    low, up = bounds
    rounding = 1e-12 * value
    return (1 - relative) * value - rounding <= low <= value + rounding and value - rounding <= up <= (1 + relative) * (
        value + rounding
    )


@pytest.mark.parametrize(("count", "factor"), GRIDS)
def test_the_exact_value_lies_between_the_bounds(count: int, factor: float | None) -> None:
    """With many buckets the factor stays; with few it is squared again and again, and mass lies beyond the last."""
    rng = random.Random(f"{count}")
    gaps = []
    for _ in range(PAIRS // len(GRIDS)):
        weights, runs = random_weights(rng), rng.randint(1, 8)
        composed = buckets(*map(shares, weights), count=count, factor=factor).compose(runs)
        for epsilon in (0.0, math.log(2), rng.uniform(0, 3), rng.uniform(0, 40)):
            low, up = composed.delta(epsilon)
            least, most = exact_delta(weights, runs, epsilon)
            assert low <= most, (weights, runs, epsilon)
            assert up >= least, (weights, runs, epsilon)
            gaps.append(up - low)
    if count == 4_000:
        assert max(gaps) < 1e-3


def test_the_bounds_on_epsilon_hold_the_exact_epsilon() -> None:
    rng = random.Random(3)
    for _ in range(40):
        weights, runs, delta = random_weights(rng), rng.randint(1, 6), rng.choice((0.3, 0.01, 1e-4))
        low, up = buckets(*map(shares, weights), count=1_000).compose(runs).epsilon(delta)
        assert low <= up
        assert low == 0 or exact_delta(weights, runs, min(low, 100.0))[1] > delta
        assert up == math.inf or exact_delta(weights, runs, up)[0] <= delta


@pytest.mark.parametrize(
    ("other", "factor"),
    [(0.006, 1.01), (1e-320, None), (1e-320, math.exp(490.0))],
)
def test_a_finite_loss_beyond_the_grid_is_not_told_to_be_infinite(other: float, factor: float | None) -> None:
    one = buckets([0.9, 0.1], [other, 1 - other], count=8, factor=factor)
    for runs, delta in ((1, 0.1), (1, 0.85), (3, 0.5)):
        low, up = one.compose(runs).epsilon(delta)
        assert low <= runs * math.log(0.9 / other) <= up
    low, _ = one.epsilon(0.1)
    assert low <= math.log(0.8) - math.log(other) + 1e-12


@pytest.mark.filterwarnings("error")
def test_masses_down_to_the_least_floats_and_factors_up_to_the_largest() -> None:
    rng = random.Random(5)

    def world(atoms: int) -> list[int]:
        sizes = (0, 10**310, 10**310, 10**300, 10**263, 10**23, 10**14, 10**12, 10**5)
        return [rng.choice(sizes) * rng.randint(1, 9) for _ in range(atoms)]

    for _ in range(120):
        atoms, runs = rng.randint(1, 4), rng.choice((1, 2, 3, 8))
        weights = world(atoms), world(atoms)
        if not all(map(sum, weights)):
            continue
        factor = rng.choice((None, 1.0001, 1.5, 1e50, math.exp(490.0), 1e300))
        composed = buckets(*map(shares, weights), count=rng.choice((8, 9, 40, 1_000)), factor=factor).compose(runs)
        for epsilon in (0.0, 1e-12, rng.uniform(0, 3), rng.uniform(0, 800), rng.uniform(0, 5_000)):
            low, up = composed.delta(epsilon)
            least, most = exact_delta(weights, runs, epsilon)
            assert low <= most, (weights, runs, epsilon)
            assert up >= least, (weights, runs, epsilon)
        low, _ = composed.epsilon(0.01)
        if low == math.inf:
            missed = Fraction(sum(a for a, b in zip(*weights, strict=True) if not b), sum(weights[0]))
            assert 1 - (1 - missed) ** runs > 0.01
        else:
            assert low == 0 or exact_delta(weights, runs, low)[1] > 0.01


@pytest.mark.filterwarnings("error")
def test_steps_too_wide_for_floats_prove_less_and_nothing_false() -> None:
    one = buckets([0.9, 0.1], [1e-300, 1.0], count=8)
    low, up = one.compose(1 << 18).delta(1e6)
    assert low <= 1.0 <= up + 1e-12
    low, up = one.compose(1 << 18).epsilon(0.5)
    assert low <= 0.9 * (1 << 18) * math.log(0.9e300) <= up
    opposite = buckets([1e-300, 1.0], [0.9, 0.1], count=8, factor=1e300)
    assert opposite.compose(8).delta(0.0)[0] <= 1 - 0.1**8


@pytest.mark.parametrize("off", [9e-10, 0.0, -9e-10])
def test_a_sum_that_is_not_quite_1_is_no_loss_and_no_gain(off: float) -> None:
    """Both worlds are divided by their sums: only the first event tells, in either direction."""
    runs, p, q = 1 << 22, [1e-7, 1.0 - 1e-7 + off], [0.0, 1.0 + off]
    certain = -math.expm1(runs * math.log1p(-1e-7 / (1 + off)))
    low, up = buckets(p, q).compose(runs).delta(0.0)
    assert low <= certain * (1 + 1e-12)
    assert certain * (1 - 1e-12) <= up <= certain + 1e-6
    low, up = buckets(q, p).compose(runs).delta(0.0)
    assert low <= certain * (1 + 1e-12)
    assert up >= certain * (1 - 1e-12)


def test_distinguishing_events_are_kept_apart() -> None:
    one = buckets([Fraction(1, 100_000), Fraction(99_999, 100_000)], [Fraction(0), Fraction(1)])
    for runs in (1, 10, 10_000):
        certain = -math.expm1(runs * math.log1p(-1e-5))
        assert encloses(one.compose(runs).delta(1.0), certain, 1e-9)
        assert one.compose(runs).epsilon(0.9 * certain) == (math.inf, math.inf)
        assert one.compose(runs).epsilon(1.1 * certain)[1] < 1e-6


@pytest.mark.parametrize("runs", [1, 2, 7, 64, 1_000])
def test_gaussian_runs_are_one_gaussian(runs: int) -> None:
    composed, mu = gaussian(10.0, count=4_000).compose(runs), math.sqrt(runs) / 10
    for epsilon in (0.0, 0.5 * mu, 3 * mu, 6 * mu):
        assert encloses(composed.delta(epsilon), gaussian_delta(mu, epsilon), 1e-3)


def test_a_quarter_of_a_million_runs_in_100_000_buckets_take_seconds() -> None:
    runs, mu = 1 << 18, 2.0
    started = time.process_time()
    composed = gaussian(math.sqrt(runs) / mu, count=100_000).compose(runs)
    found = {epsilon: composed.delta(epsilon) for epsilon in (0.0, 1.0, 4.0, 10.0)}
    assert time.process_time() - started < 20
    for epsilon, bounds in found.items():
        assert encloses(bounds, gaussian_delta(mu, epsilon), 1e-4)


def test_truncated_laplace_meets_the_optimal_theorem_where_that_is_tight() -> None:
    """At r·ε only distinguishing events are left. In one run, from ε on; elsewhere the theorem knows less."""
    one = laplace(200.0, truncation=2_500.0)
    epsilon, delta = 1 / 200, (math.exp(-2_499 / 200) - math.exp(-2_500 / 200)) / 2 / (1 - math.exp(-2_500 / 200))
    for runs in (1, 4, 16, 256, 4_096):
        composed = one.compose(runs)
        optimal = other_accountants.kairouz_oh_viswanath(epsilon, delta, runs, runs * epsilon)
        assert optimal == pytest.approx(1 - (1 - delta) ** runs, rel=1e-6)
        low, up = composed.delta(runs * epsilon * (1 + 1e-9))
        assert low <= optimal * (1 + 1e-9)
        assert up >= optimal * (1 - 1e-9)
        assert up - low < 1e-13
        for at in (0.0, 0.3 * epsilon, math.sqrt(runs) * epsilon):
            low, up = composed.delta(at)
            assert low <= up
            assert low <= other_accountants.kairouz_oh_viswanath(epsilon, delta, runs, at)


@pytest.mark.parametrize("runs", [1, 3, 64, 4_096])
def test_randomized_response_meets_the_optimal_theorem_everywhere(runs: int) -> None:
    composed = randomized_response(1 / 200, count=4_000).compose(runs)
    for share in (0.0, 0.1, 0.5, 0.9):
        at = share * min(runs, 5 * math.sqrt(runs)) / 200
        assert encloses(composed.delta(at), other_accountants.kairouz_oh_viswanath(1 / 200, 0.0, runs, at), 1e-3)


@pytest.mark.parametrize("scale", [0.3, 2.0, 200.0])
def test_laplace_in_one_run(scale: float) -> None:
    """δ(ε) = 1 − e^((ε − 1/s)/2). Source: Balle, Barthe, Gaboardi 2018 (the privacy profile of Laplace noise)."""
    for share in (0.0, 0.31, 0.7):
        at = share / scale
        assert encloses(laplace(scale).delta(at), -math.expm1((at - 1 / scale) / 2), 1e-6)


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize(("sigma", "probability"), [(1.0, 0.01), (0.6, 0.3)])
def test_a_subsampled_step_is_its_integral(sigma: float, probability: float, direction: Direction) -> None:
    def density(x: float, epsilon: float) -> float:
        without = norm.pdf(x, 0, sigma)
        mixed = (1 - probability) * without + probability * norm.pdf(x, 1, sigma)
        a, b = (mixed, without) if direction == "in" else (without, mixed)
        return float(max(0.0, a - math.exp(epsilon) * b))

    one = subsampled_gaussian(sigma, probability, direction)
    for epsilon in (0.0, 0.1 * probability, 0.2):
        value, error = quad(density, -12 * sigma, 13 * sigma, args=(epsilon,), limit=500, points=[0, 0.5, 1])
        low, up = one.delta(epsilon)
        assert low - error <= value <= up + error
        assert up - low <= 2e-3 * value + error + 1e-15


@pytest.mark.parametrize("mechanism", ["laplace-exact", "laplace-exact-base-e", "laplace-snapping"])
def test_laws_in_one_run_are_their_curve(mechanism: str) -> None:
    what = attack("grid-precision")
    laws = [member(mechanism).law(data, what.parameters) for data in what.worlds()]  # type: ignore[misc]
    epsilons = [0.0, 0.2, 0.7, 0.999]
    low, up = exact.curve(laws[0], laws[1], epsilons)
    directions = [buckets(*laws), buckets(*laws[::-1])]
    for at, least, most in zip(epsilons, low, up, strict=True):
        bounds = [one.delta(at) for one in directions]
        assert max(one for one, _ in bounds) <= most
        assert max(one for _, one in bounds) >= least
        assert max(one for _, one in bounds) - max(one for one, _ in bounds) < 1e-5


def test_what_lies_outside_a_law_counts_against_it() -> None:
    whole = exact_law(range(2), [1, 2], [1, 1], 2)
    open_ended = Law(range(2), [1, 2], [4, 4], [5, 5], 10, Fraction(1, 5))
    assert buckets(open_ended, whole).delta(5.0)[1] >= 0.2  # its rest may be what the other never does
    assert buckets(open_ended, whole).delta(5.0)[0] == 0
    longer = exact_law(range(3), [2, 3], [2, 1], 5)
    assert buckets(longer, open_ended).delta(0.0)[0] < 1e-12  # the other's rest may be the atom that it does not name
    assert buckets(longer, open_ended).delta(0.0)[1] >= 0.2


PLD_CASES: dict[str, tuple[Callable[[int], Composition], float]] = {
    "three atoms": (lambda count: buckets(A, B, count=count), 0.01),
    "gaussian": (lambda count: gaussian(10.0, count=count), 1e-3),
    "laplace": (lambda count: laplace(200.0, count=count), 1e-4),
}


@pytest.mark.parametrize("case", PLD_CASES)
@pytest.mark.parametrize("runs", [1, 16, 256])
def test_no_wider_than_privacy_loss_distributions(case: str, runs: int) -> None:
    """Against Google's dp-accounting, both its estimates, at as many buckets as it has grid points in the end."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="pip install dp-accounting")
    made, interval = PLD_CASES[case]

    def of(pessimistic: bool) -> Any:
        options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
        if case == "gaussian":
            one = pld.from_gaussian_mechanism(10.0, use_connect_dots=pessimistic, **options)
        elif case == "laplace":
            one = pld.from_laplace_mechanism(200.0, use_connect_dots=pessimistic, **options)
        else:
            logs = ({place: math.log(mass) for place, mass in enumerate(world)} for world in (B, A))
            one = pld.from_two_probability_mass_functions(*logs, **options)
        return one.self_compose(runs)._pmf_remove

    below, above = of(False), of(True)
    composed = made(max(8, above.size))
    epsilon = 0.5 * composed.compose(runs).epsilon(1e-6)[1]
    low, up = composed.compose(runs).delta(epsilon)
    theirs = [one.get_delta_for_epsilon(epsilon) for one in (below, above)]
    assert low <= theirs[1] * (1 + 1e-9)
    assert up >= theirs[0] * (1 - 1e-9)
    assert up - low <= theirs[1] - theirs[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: buckets([0.5, 0.5], [1.0]), "over the same atoms, got 2 and 1"),
        (lambda: buckets([0.5, 0.6], [0.5, 0.5]), r"p must hold probabilities that sum up to 1, got \[0.5, 0.6\]"),
        (lambda: buckets([0.5, 0.5], [1.5, -0.5]), "q must hold probabilities"),
        (lambda: buckets([0.5, 0.5], [math.nan, 0.5]), "q must hold probabilities"),
        (lambda: buckets(A, B, count=7), "count must be from 8 to 2"),
        (lambda: buckets(A, B, factor=1.0), "factor must be above 1"),
        (lambda: buckets(A, B).compose(0), "runs must be an integer from 1 to 2"),
        (lambda: buckets(A, B).delta(-1.0), "epsilon must be non-negative and finite, got -1.0"),
        (lambda: buckets(A, B).epsilon(1.0), "delta must lie between 0 and 1, got 1.0"),
        (lambda: gaussian(0.001), r"sigma must be at least 0.03125: losses are kept up to 700 nats, got 0.001"),
        (lambda: subsampled_gaussian(1e-200, 0.1), "sigma must be at least 0.03125"),
        (lambda: laplace(1e-310), "scale must be at least 0.03125"),
        (lambda: buckets([0.5] * 1_000, A), "over the same atoms"),
        (lambda: buckets([0.5] * 1_000, [0.5] * 1_000), r"got \[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...\]"),
        (lambda: gaussian(0.0), "sigma must be positive and finite, got 0.0"),
        (lambda: laplace(1.0, truncation=0.5), "truncation must be at least the sensitivity, 1, got 0.5"),
        (lambda: subsampled_gaussian(1.0, 1.0), "probability must lie between 0 and 1, got 1.0"),
    ],
)
def test_mistakes_name_the_argument_and_its_value(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sigma", [1 / 32, 0.1, 1e9, 1e12, 1e300])
def test_noise_of_any_scale_that_is_taken(sigma: float) -> None:
    """At 10^12 the grid is far wider than the noise, and at 10^300 a loss is below every width."""
    low, up = gaussian(sigma, count=1_000).delta(0.0)
    assert low <= gaussian_delta(1 / sigma, 0.0) * (1 + 1e-4)
    assert up >= gaussian_delta(1 / sigma, 0.0) * (1 - 1e-4)
    assert up - low <= 1e-4 + 1e-9 / sigma
    steps = [subsampled_gaussian(sigma, 0.1, way, count=1_000).delta(0.0) for way in ("in", "out")]
    assert max(one for one, _ in steps) <= min(one for _, one in steps)  # both directions are alike at ε = 0
    assert sigma > 1 or min(one for one, _ in steps) > 0.099
    assert laplace(sigma).delta(0.0)[0] <= -math.expm1(-0.5 / sigma) <= laplace(sigma).delta(0.0)[1]


@pytest.mark.parametrize("runs", [1, 7])
def test_losses_above_the_grid_by_an_excess_count_every_run(runs: int) -> None:
    one = buckets(A, B, count=1_000)
    shifted = Composition(dataclasses.replace(one.one, excess=0.01)).compose(runs)
    for epsilon in (0.1, 0.5):
        assert shifted.delta(epsilon)[1] >= one.compose(runs).delta(epsilon - 0.01 * runs)[0]


def test_composing_twice_multiplies() -> None:
    assert buckets(A, B).compose(3).compose(5).runs == 15
    assert isinstance(buckets(A, B), Composition)
