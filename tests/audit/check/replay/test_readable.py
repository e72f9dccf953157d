"""What a replay counts as a loss: releases that the outcome shows, against each kind of claim."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

from subnormal.audit.check.replay.modelled import Replayed
from subnormal.audit.check.replay.readable import READABLE_MAX
from subnormal.mechanisms.curves import AnyClaim, Gdp, Renyi
from subnormal.mechanisms.privacy import Claim, Zcdp
from tests.support.replays import Pair, replays

BOUND = 1.001  # relative: a claim so much larger than the loss is kept, and the loss itself is not above it


def replay(function: Callable[[Any], Any], claim: AnyClaim, pair: Pair = (0.0, 1.0)) -> Replayed | None:
    return replays(function, claim, pair, [5])[0]


def convicts(function: Callable[[Any], Any], claim: AnyClaim, pair: Pair = (0.0, 1.0)) -> bool:
    seen = replay(function, claim, pair)
    return seen is not None and seen.evidence is not None


def laplace(x: float) -> float:
    return x + np.random.laplace(0, 0.5)


def gaussian(x: float) -> float:
    return x + random.gauss(0, 2.0)


@pytest.mark.parametrize(
    ("function", "kept", "broken"),
    [
        (laplace, Claim(2.0), Claim(2.0 / BOUND)),
        (laplace, Claim(1.0, 1 - math.exp(-0.5)), Claim(1.0, 0.95 * (1 - math.exp(-0.5)))),
        (lambda x: laplace(1_000 * x), Claim(1999.98, 0.01), Claim(1999.98, 0.003)),  # e^ε is no float; δ = 1 − e^−0.01
        (gaussian, Gdp(0.5), Gdp(0.48)),
        (gaussian, Zcdp(1 / 8), Zcdp(0.1)),
        (gaussian, Renyi(2.0, 0.25), Renyi(2.0, 0.1)),
        (gaussian, Claim(1.0, Gdp(0.5).delta(1.0)), Claim(1.0, 0.9 * Gdp(0.5).delta(1.0))),
        (gaussian, Claim(0.0, 1.0), Claim(50.0)),
        (lambda x: [laplace(x), laplace(x)], Claim(4.0), Claim(4.0 / BOUND)),
        (lambda x: [gaussian(x), gaussian(x)], Gdp(math.sqrt(0.5)), Gdp(0.66)),
        (lambda x: {"sum": -3 * laplace(x)}, Claim(2.0), Claim(2.0 / BOUND)),
        (lambda x: max(0.0, laplace(x)), Claim(2.0), Claim(2.0 / BOUND)),
        (lambda x: round(laplace(x)), Claim(2.0), Claim(2.0 / BOUND)),
        (lambda x: np.random.laplace(x, 0.5), Claim(2.0), Claim(2.0 / BOUND)),
        (lambda x: float((x + np.random.laplace(0, 0.5, 1))[0]), Claim(2.0), Claim(2.0 / BOUND)),
    ],
)
def test_a_loss_that_equals_the_claim_is_kept_and_a_larger_one_convicts(
    function: Callable[[Any], Any], kept: AnyClaim, broken: AnyClaim
) -> None:
    assert not convicts(function, kept)
    assert convicts(function, broken)


def test_at_a_positive_delta_each_laplace_release_counts_alone() -> None:
    """Together they have δ(1) = 0.61; one Laplace distribution with the sum of their losses would have 0.78."""
    both = [laplace, laplace]
    assert convicts(lambda x: [one(x) for one in both], Claim(1.0, 0.95 * (1 - math.exp(-0.5))))
    assert not convicts(lambda x: [one(x) for one in both], Claim(1.0, 0.65))


def at_most_half(x: float) -> float:
    """A sample: x counts with probability 1/2, so the loss is smaller than that of the noise."""
    return (x if random.random() < 1 / 2 else 0.0) + np.random.laplace(0, 1)


@pytest.mark.parametrize(
    ("function", "pair"),
    [
        (lambda x: abs(laplace(x)), (-1.0, 1.0)),
        (lambda x: laplace(x) % 1.0, (0.0, 1.0)),
        (lambda x: laplace(x) + laplace(0.0), (0.0, 1.0)),
        (lambda x: int(np.argmax([laplace(x), laplace(0.0)])), (0.0, 1.0)),
        (lambda x: "many" if laplace(x) > 0.3 else "few", (0.0, 1.0)),
        (lambda x: laplace(x) > 1e9, (0.0, 1.0)),
        (lambda x: laplace(x) + random.choice((0.0, 0.1)), (0.0, 1.0)),
        (at_most_half, (0.0, 1.0)),
        (at_most_half, (1.0, 0.0)),
    ],
)
def test_what_the_outcome_does_not_show_is_no_loss(function: Callable[[Any], Any], pair: tuple[Any, Any]) -> None:
    assert not convicts(function, Claim(0.1), pair)


def test_events_on_different_sides_of_two_clamps_add_up_to_what_they_show() -> None:
    """One shows its likelier tail, of loss 2; the other clamps it, to a part that is likelier by 1.49 nats."""
    clamp = math.log((1 - math.exp(-1) / 2) / (math.exp(-1) / 2))

    def above(x: float) -> list[float]:
        return [max(0.5, laplace(x)), max(0.5, laplace(-x))]

    def below(x: float) -> list[float]:
        return [min(0.5, laplace(x)), min(-0.5, laplace(-x))]

    for function in (above, below):
        assert not convicts(function, Claim((2 + clamp) * BOUND))
        assert convicts(function, Claim((2 + clamp) / BOUND))
    assert convicts(lambda x: [max(0.5, laplace(x)), max(0.5, laplace(x))], Claim(3.9))


def test_a_clamp_between_the_locations_has_no_more_than_the_loss_of_its_ends() -> None:
    loss = math.log(0.5 / 0.30853753872598694)

    def clamped(x: float) -> float:
        return min(max(gaussian(x), 0.0), 1.0)

    assert not convicts(clamped, Claim(loss * BOUND))
    assert convicts(lambda x: gaussian(x), Claim(loss * BOUND))


def flat_between(x: float) -> float:
    noisy = gaussian(x)
    return 0.5 if -0.2 < noisy < 1.2 else noisy


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (flat_between, Gdp(0.45)),  # the best thresholds lie where nothing shows, others do not
        (lambda x: min(max(gaussian(x), -6.0), 7.0), Claim(2.0, Gdp(0.5).delta(2.0) / 2)),  # they lie above and below
        (lambda x: min(max(20 * x + np.random.laplace(0, 1.0), 1.0), 8.0), Claim(19.9)),  # between the locations only
    ],
)
def test_where_a_claim_would_break_the_outcome_must_show_the_release(
    function: Callable[[Any], Any], claim: AnyClaim
) -> None:
    assert not convicts(function, claim)


def test_noise_of_scale_0_shows_all() -> None:
    assert convicts(lambda x: x + np.random.laplace(0, 0.0), Claim(1e4))
    assert convicts(lambda x: x + random.gauss(0, 0.0), Gdp(3.0))


def test_a_release_that_falls_where_it_was_drawn_is_not_read() -> None:
    """Every other value of the release shows it; the one that the first run had does not lie in their order."""
    drawn: list[float] = []

    def function(x: float) -> float:
        one = laplace(x)
        drawn.append(one)
        return -1e6 if one == drawn[0] else one

    assert not convicts(function, Claim(0.1))


def test_of_too_many_releases_none_is_looked_for() -> None:
    def function(x: float, many: int = READABLE_MAX) -> list[float]:
        return [laplace(x) for _ in range(many)]

    assert convicts(function, Claim(100.0))
    assert not convicts(lambda x: function(x, READABLE_MAX + 1), Claim(100.0))


def test_noise_that_has_been_added_before_the_data_may_hide_them() -> None:
    assert not convicts(lambda x: x + (0.1 + laplace(0.0)), Claim(2.0))
    assert not convicts(lambda x: x + sum(random.gauss(0, 1.0) for _ in range(4)) / 2, Gdp(1.0))


def test_data_without_noise_are_named() -> None:
    seen = replay(lambda x: [laplace(x), x], Claim(9.0))
    assert seen is not None
    assert seen.evidence is not None
    assert seen.evidence.without_noise == "part 1 of the outcome"


def test_a_difference_that_some_noise_without_a_location_may_hide_is_none() -> None:
    def response(x: float) -> tuple[float, bool]:
        return laplace(0.0), random.random() < (1 + x) / 2  # 0.62 with this seed

    assert replay(response, Claim(2.0)) is not None
    assert not convicts(response, Claim(2.0))


def test_a_scale_that_depends_on_the_data_is_noted_with_its_places() -> None:
    seen = replay(lambda x: x + np.random.laplace(0, 1 + x), Claim(9.0))
    assert seen is not None
    assert "the scale of numpy.random.laplace depends on the data: 1 at test_readable.py:" in seen.notes[0]
    assert seen.evidence is None


def test_of_steps_the_one_that_is_nearest_to_the_best_threshold_counts() -> None:
    """Steps of 0.3 scales; the nearest lies 0.05 scales beside the best threshold in one direction."""
    law = scipy.stats.laplace
    delta = law.cdf(0.225, 0, 0.5) - math.e * law.cdf(0.225, 1, 0.5)
    assert delta > law.sf(0.825, 1, 0.5) - math.e * law.sf(0.825, 0, 0.5)
    assert convicts(lambda x: 0.15 * round(laplace(x) / 0.15), Claim(1.0, delta * 0.9999))
    assert not convicts(lambda x: 0.15 * round(laplace(x) / 0.15), Claim(1.0, delta * 1.0001))


def test_each_world_has_its_own_scale() -> None:
    law = scipy.stats.laplace
    delta = max(law.sf(t, 1, 0.5 + 1 / 9) - math.e * law.sf(t, 0, 0.5) for t in np.linspace(0, 1, 1_001))
    assert convicts(lambda x: x + np.random.laplace(0, 0.5 + x / 9), Claim(1.0))
    assert convicts(lambda x: x + np.random.laplace(0, 0.5 + x / 9), Claim(1.0, 0.97 * delta))
    assert not convicts(lambda x: x + np.random.laplace(0, 0.5 + x / 9), Claim(1.0, 1.01 * delta))


def test_calls_that_differ_are_noted() -> None:
    seen = replay(lambda x: laplace(x) if x else laplace(x) + laplace(x), Claim(0.1))
    assert seen is not None
    assert seen.evidence is None
    assert "the number of draws from numpy.random.laplace depends on the data: 2 at test_readable.py:" in seen.notes[0]


def test_without_a_known_primitive_nothing_is_said() -> None:
    assert replay(lambda x: x, Claim(1.0)) is None


def test_a_run_that_cannot_be_repeated_says_nothing() -> None:
    calls = iter(range(100))
    assert replay(lambda x: [laplace(x), next(calls)], Claim(0.1)) is None


def test_a_tail_that_alone_is_shown_convicts_at_a_pure_claim() -> None:
    assert convicts(lambda x: max(3.0, laplace(x)), Claim(2.0 / BOUND))
    assert not convicts(lambda x: max(3.0, laplace(x)), Claim(2.0))


def test_a_part_that_rises_for_one_input_only_is_not_read() -> None:
    def function(x: float) -> float:
        noisy = laplace(x)
        return 1e3 if x == 1 and -3.1 < noisy < -2.9 else noisy

    assert not convicts(function, Claim(1.5))
    assert not convicts(function, Claim(1.5), (1.0, 0.0))


def away_at_the_best_threshold(x: float) -> float:
    noisy = gaussian(x)
    return noisy - x if 4 < noisy < 4.95 else noisy


def test_gaussian_releases_count_together_where_both_inputs_show_them_alike() -> None:
    claim = Claim(1.0, 0.5 * Gdp(math.sqrt(0.5)).delta(1.0))
    assert convicts(lambda x: [gaussian(x), gaussian(x)], claim)
    assert not convicts(lambda x: [away_at_the_best_threshold(x), away_at_the_best_threshold(x)], claim)


def other_noise_in_a_window(x: float) -> bool:
    """The loss is 0.50: ln (0.184 + 0.1·0.816) / (0.068 + 0.1·0.932), and not 1, that of a threshold at −1."""
    noisy = x + np.random.laplace()
    return random.random() < 0.9 if -1 < noisy < 20 else noisy >= 20


def elsewhere_in_a_window(x: float) -> list[float]:
    """δ(1) is 0.116, the probability of 0.184 below −1 times 1 − e^−1, and not the 0.39 of the second release alone."""
    first = x + np.random.laplace()
    return [first, (0.0 if -1 < first < 20 else x) + np.random.laplace(0, 0.5)]


@pytest.mark.parametrize(
    ("function", "claim"), [(other_noise_in_a_window, Claim(0.7)), (elsewhere_in_a_window, Claim(1.0, 0.3))]
)
def test_noise_is_the_same_wherever_a_release_is_looked_at(function: Callable[[Any], Any], claim: AnyClaim) -> None:
    """With another value of the release there is other noise, or it lies elsewhere."""
    assert not any(one is not None and one.evidence for one in replays(function, claim, (0.0, 1.0), range(10)))


def steps_of_the_noise(x: float) -> int:
    """The outcome differs between the inputs for noise in [−3 − x, −3] only, whose probability is at most 0.0045·x."""
    noisy = x + random.gauss(0, 1.0)
    step = math.floor((noisy - x) / 0.09)
    return max(step, -33) if noisy > -3 else min(step, -34)


def test_gaussian_releases_count_together_where_both_inputs_have_close_thresholds() -> None:
    """Steps of the release have them. Steps of its noise lie elsewhere for the other input, too near to be seen."""
    pair, claim = (0.0, 0.001), Claim(0.0, 1e-4)
    assert convicts(lambda x: [math.floor(gaussian(20 * x) / 0.18) for _ in range(2)], claim, pair)
    seen = replays(lambda x: [steps_of_the_noise(x), steps_of_the_noise(x)], claim, pair, range(10))
    assert not any(one is not None and one.evidence for one in seen)


def test_gaussian_releases_count_together_where_their_scales_are_the_same() -> None:
    def function(x: float, scale: float) -> list[float]:
        return [x + random.gauss(0, scale), x + random.gauss(0, scale)]

    claim = Claim(1.0, 0.9 * Gdp(math.sqrt(0.5)).delta(1.0))
    assert convicts(lambda x: function(x, 2.0), claim)
    assert not convicts(lambda x: function(x, 2.0 + 1e-6 * x), claim)
