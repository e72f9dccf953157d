"""A threshold on a release makes two events, whose probabilities in the two worlds a replay bounds."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diffprivlib.mechanisms import Geometric
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from subnormal import Claim, Gdp, Profile
from subnormal.audit.check.replay import modelled
from subnormal.audit.check.replay.primitives import Primitive
from subnormal.audit.check.replay.readable import hoped_for
from subnormal.audit.check.replay.recorder import Call, Release, Run
from subnormal.audit.check.result import ModelledLoss
from tests.support.replays import Pair, accused, laplace


def laplace_of(scale: float) -> float:
    return -scale * laplace() / -1.0


@pytest.mark.parametrize(("kind", "law"), [("Laplace", laplace_law), ("Gaussian", norm)])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 3.0)])
@pytest.mark.parametrize("threshold", [-3.0, 0.4, 1.0, 7.0])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_the_events_of_a_threshold_have_bounds_for_all_places_in_its_interval(
    kind: str, law: Any, scales: tuple[float, float], threshold: float, width: float
) -> None:
    one, other = (Release(0, float(at), scale, 9.0) for at, scale in enumerate(scales))
    interval = threshold - width, threshold + width
    events = modelled._events(kind, interval, one, other)
    for event, tail in zip(events, (law.logsf, law.logcdf), strict=True):
        chances = [[tail(at, here.location, here.scale) for at in interval] for here in (one, other)]
        assert event[0] == pytest.approx((min(chances[0]), max(chances[1])))
        assert event[1] == pytest.approx((min(chances[1]), max(chances[0])))


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("threshold", [-7, -1, 0, 1, 3, 12])
def test_the_events_of_whole_noise_have_the_chances_that_its_atoms_add_up_to(scale: float, threshold: int) -> None:
    """P(Z = k) = (1 − p)/(1 + p)·p^|k| with p = e^(−1/scale), added up over 2000 atoms: what is left out is p^1900."""
    p = math.exp(-1 / scale)
    atoms = {k: (1 - p) / (1 + p) * p ** abs(k) for k in range(-1000, 1001)}
    one, other = Release(0, 0.0, scale, 9.0), Release(0, 3.0, scale, 9.0)
    events = modelled._events("geometric", (threshold - 1.0, float(threshold)), one, other)
    above = [math.fsum(atoms[k] for k in atoms if k + at >= threshold) for at in (0, 3)]
    below = [math.fsum(atoms[k] for k in atoms if k + at < threshold) for at in (0, 3)]
    for event, (here, there) in zip(events, (above, below), strict=True):
        assert [math.exp(chance) for ends in event for chance in ends] == pytest.approx([here, there, there, here])


def test_the_events_of_an_interval_of_whole_numbers_are_those_of_its_worst_thresholds() -> None:
    """Above one of (3, 6] lie at the least 6 and more, and at the most 4 and more; below, 3 and less, 5 and less."""
    one, other = Release(0, 0.0, 2.0, 9.0), Release(0, 1.0, 2.0, 9.0)
    above, below = modelled._events("geometric", (3.0, 6.0), one, other)
    events = {at: modelled._events("geometric", (at - 1.0, float(at)), one, other) for at in (4, 6)}
    assert above == tuple((events[6][0][world][0], events[4][0][world][1]) for world in (0, 1))
    assert below == tuple((events[4][1][world][0], events[6][1][world][1]) for world in (0, 1))


def test_whole_noise_of_scale_0_is_none() -> None:
    one, other = Release(0, 0.0, 0.0, 0.0), Release(0, 1.0, 0.0, 0.0)
    (above, below) = modelled._events("geometric", (0.0, 1.0), one, other)
    assert above == ((-math.inf, 0.0), (0.0, -math.inf))
    assert below == ((0.0, -math.inf), (-math.inf, 0.0))


def test_noise_that_is_neither_laplace_nor_gaussian_has_no_events() -> None:
    moved = {(0, 0): ModelledLoss("a primitive", "bounded", "mine.py:3", 0.0, 9.0, 1.0, 9.0)}
    claim = Claim(0.1)
    assert modelled._exceeded(moved, hoped_for(moved, claim), (Run(), Run()), claim) is None


@pytest.mark.parametrize("low", [-0.1, -30.0, -math.inf])
@pytest.mark.parametrize("other_high", [-0.2, -40.0, -1000.0, -math.inf])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 900.0])
def test_an_event_exceeds_a_claim_by_its_chances(low: float, other_high: float, epsilon: float) -> None:
    excess = math.exp(low) - math.exp(epsilon + other_high) if epsilon + other_high < 700 else -math.inf
    assert modelled._excess(low, other_high, epsilon) == pytest.approx(max(0.0, excess), abs=1e-15)
    assert modelled._loss(low, other_high) == (max(0.0, low - other_high) if low > -math.inf else 0.0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("resolution", [1e-3, 0.1])
def test_a_divergence_of_gaussian_noise_is_that_of_the_worst_event_near_the_best_one(
    mu: float, epsilon: float, resolution: float
) -> None:
    def above(t: float) -> float:
        return float(norm.sf(t - mu) - math.exp(epsilon + norm.logsf(t)))

    best = epsilon / mu + mu / 2
    ends = above(best - resolution), above(best + resolution)
    assert modelled._gaussian(mu, epsilon, resolution) == pytest.approx(min(ends), abs=1e-12)
    assert min(ends) <= above(best)


def test_an_infinite_loss_is_a_divergence_of_1() -> None:
    assert modelled._gaussian(math.inf, 5.0, 0.1) == 1.0


def majority(x: list[float]) -> bool:
    return sum(x) + laplace(5.0) > len(x) / 2


def taken_away_from_its_release(x: list[float]) -> bool:
    return (sum(x) + laplace()) - sum(x) > 3


def steps_from_the_data(x: list[float]) -> int:
    return round((sum(x) + laplace() - sum(x)) / 5)


def clamped_mean(x: list[float]) -> float:
    return min(1.05, max(0.95, round((sum(x) + laplace(10.0)) / len(x), 2)))


ONES = [1.0] * 6, [1.0] * 7


@pytest.mark.parametrize(
    ("function", "pair", "kept", "broken"),
    [
        (majority, ONES, Claim(0.1), None),  # sum − n/2 moves by 1/2
        (taken_away_from_its_release, ONES, Claim(0.0, 1e-12), None),
        (steps_from_the_data, ONES, Claim(0.0, 1e-12), None),
        (clamped_mean, ([1.0] * 400, [1.0] * 399), Claim(0.09), None),
        (lambda x: sum(x) + laplace(5.0) > 3.5, ONES, Claim(0.2), Claim(0.199)),
        (lambda x: bool(2 * x + laplace(1.0 + x) < -3), (0.0, 1.0), Claim(0.5), Claim(0.49)),
        (lambda x: round(x + random.gauss(0.0, -10.0), 1), (0.0, 1.0), Gdp(0.1), Gdp(0.09)),
        (lambda x: round(x + laplace_of(-10.0), 1), (0.0, 1.0), Claim(0.1), Claim(0.0999)),
        (lambda x: min(5.0, max(-5.0, x + random.gauss(0.0, 1.0))), (0.0, 0.01), Claim(0.052), Claim(0.051)),
    ],
)
def test_data_that_a_function_looks_at_again_move_its_thresholds(
    function: Callable[[Any], Any], pair: Pair, kept: Claim, broken: Claim | None
) -> None:
    assert not accused(function, kept, pair)
    assert broken is None or accused(function, broken, pair)


def whole(count: int, scale: float = 5.0) -> int:
    return int(Geometric(epsilon=1 / scale).randomise(count))


def curve(count: int, scale: float, epsilon: float) -> float:
    """Return δ(ε) of geometric noise at `count` and at 0, in sums over its atoms.

    P(Z = k) = (1 − p)/(1 + p)·p^|k| with p = e^(−1/scale); δ(ε) is the sum of P(Z = k − count) − e^ε·P(Z = k) over all
    k where that is positive. Both are 0 in double precision beyond 800 scales.
    """
    p, reach = math.exp(-1 / scale), math.ceil(800 * scale)
    atoms = ((1 - p) / (1 + p) * (p ** abs(k - count) - math.exp(epsilon) * p ** abs(k)) for k in range(-reach, reach))
    return math.fsum(max(0.0, atom) for atom in atoms)


@pytest.mark.parametrize("pair", [(5, 0), (0, 5)])
def test_one_event_on_whole_noise_has_the_chances_of_whole_noise(pair: tuple[int, int]) -> None:
    """P(Z ≥ k) = p^k/(1 + p) for k ≥ 0, so `at least 5` has 1/(1 + p) at 5 and p^5/(1 + p) at 0, where p = e^(−1/5).

    That is 0.54983 and 0.20227: they leave ε = 0.1 by 0.32629, and their complements by less. By the tail of Laplace
    noise it would be between 0.3262 and 0.3423, as the threshold lies anywhere in (4, 5].
    """
    p = math.exp(-1 / 5)
    at_5, at_0 = 1 / (1 + p), p**5 / (1 + p)
    true = max(at_5 - math.exp(0.1) * at_0, (1 - at_0) - math.exp(0.1) * (1 - at_5))
    assert true == pytest.approx(0.3262881761)

    def at_least_5(count: int) -> bool:
        return whole(count) >= 5

    assert not accused(at_least_5, Claim(0.1, true * (1 + 1e-9)), pair)
    assert accused(at_least_5, Claim(0.1, true - 1e-4), pair, range(5))


@pytest.mark.parametrize(
    ("function", "scale", "pair"),
    [
        (whole, 5, (5, 0)),
        (lambda count: whole(count, 1), 1, (1, 0)),
        (lambda count: whole(count, 0.5), 0.5, (4, 0)),
        (lambda count: max(0, whole(count, 2)), 2, (0, 3)),
        (lambda count: 7 - whole(count, 3), 3, (4, 0)),
    ],
)
@pytest.mark.parametrize("epsilon", [0.1, 0.4, 0.9])
def test_whole_noise_is_judged_by_its_own_curve(
    function: Callable[[int], Any], scale: float, pair: tuple[int, int], epsilon: float
) -> None:
    true = curve(max(pair), scale, epsilon)
    for ends in (pair, pair[::-1]):
        assert not accused(function, Claim(epsilon, true * (1 + 1e-9)), ends, range(5))
        assert accused(function, Claim(epsilon, true * (1 - 1e-5)), ends, range(5))
        assert not accused(function, Profile(lambda at: min(1.0, curve(max(pair), scale, at) + 1e-9)), ends, range(1))


@pytest.mark.parametrize(("share", "exceeded"), [(1 - 1e-5, True), (1 + 1e-5, False)])
def test_no_more_is_hoped_for_of_whole_noise_than_its_curve(share: float, exceeded: bool) -> None:
    moved = {(0, 0): ModelledLoss("a primitive", "geometric", "mine.py:3", 4.0, 0.0, 3.0, 4 / 3)}
    runs = [Run(), Run()]
    for run, location in zip(runs, (4.0, 0.0), strict=True):
        noise = Primitive("a module", "noise", "geometric", lambda: (0.0, 1.0))
        at, scale = np.array([location]), np.array([3.0])
        run.calls.append(Call(0, noise, "mine.py:3", at, scale, 1, run, None))
    claim = Claim(0.1, share * curve(4, 3.0, 0.1))
    found = modelled._exceeded(moved, hoped_for(moved, claim), (runs[0], runs[1]), claim)
    assert (found is not None) is exceeded


def test_whole_noise_of_a_small_scale_hides_nothing_where_it_is_clamped() -> None:
    def function(count: int) -> tuple[int, float]:
        return max(0, whole(0, 0.1)), count + laplace()

    assert accused(function, Claim(0.999), (0, 1), range(5))
    assert not accused(function, Claim(1.0), (0, 1), range(5))


def test_the_loss_of_whole_noise_is_the_distance_over_the_scale() -> None:
    """p^(k − 5)/p^k = e^(5/scale) at every k from 5 on."""
    for pair in ((5, 0), (0, 5)):
        assert not accused(whole, Claim(1.0), pair)
        assert accused(whole, Claim(0.999), pair, range(5))
