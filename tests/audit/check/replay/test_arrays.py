"""An array of noise is a release of many numbers: what moved is judged by its norm, in well under a second per run.

False alarms: each function that keeps its claim is accused with a probability of at most 1e-6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Gdp
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay.outcome import key_of, leaves_of, with_arrays
from subnormal.audit.check.replay.proof import LONGEST, SHARE, _is_shown_at, affordable, exceeded, runs_needed
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.replay.releases import Seen
from subnormal.audit.randomness.primitives import intercepted
from subnormal.audit.values.outcomes import as_outcome
from tests.support.replays import accused, shown, suspected

RNG = np.random.default_rng(5)
FORTH = np.zeros(3), np.array([0.6, 0.0, -0.8])  # 1 apart, and no number as much
MILLION = 10**6


def seen(function: Callable[[Any], Any], pair: Any = FORTH) -> Seen:
    result = shown(function, pair)
    assert result is not None
    return result


def gaussian(x: Any) -> Any:
    return x + RNG.normal(0.0, 1.0, x.shape)


@pytest.mark.parametrize(
    ("function", "loss"),
    [
        (gaussian, 1.0),
        (lambda x: {"sum": x + 2.0 * RNG.normal(size=3), "of": 3}, 0.5),
        (lambda x: [gaussian(x), "a", gaussian(3 * x)], 4.0),  # two calls: the sum guides the search
        (lambda x: x + RNG.normal(0.0, [1.0, 5.0, 2.0]), math.hypot(0.6, 0.4)),
        (lambda x: x.reshape(3, 1) - RNG.normal(size=(3, 1)), 1.0),
        (lambda x: (x + RNG.normal(size=3))[::-1], 1.0),
        (lambda x: (x + RNG.normal(size=3)).astype(np.float32), 1.0),
        (lambda x: np.append(y := gaussian(x), y), 1.0),  # each number of noise counts once
        (lambda x: x + RNG.laplace(size=3), 1.4),
    ],
)
def test_the_loss_is_the_norm_of_what_moved(function: Callable[[Any], Any], loss: float) -> None:
    for pair in (FORTH, FORTH[::-1]):
        found = seen(function, pair)
        assert found.loss == pytest.approx(loss, rel=1e-3)
        assert found.is_complete


@pytest.mark.parametrize(
    ("function", "kept", "broken"),
    [
        (gaussian, Gdp(1.0), Gdp(0.9)),
        (lambda x: x + RNG.normal(0.0, [1.0, 5.0, 2.0]), Gdp(0.722), Gdp(0.65)),
        (lambda x: [gaussian(x), gaussian(x)], Gdp(1.0), Gdp(0.9)),  # of two calls each counts alone
        (lambda x: np.append(gaussian(x), gaussian(x)), Gdp(1.0), Gdp(0.9)),
        (lambda x: x + RNG.laplace(size=3), Claim(0.81), Claim(0.7)),  # Laplace numbers count alone
        (
            lambda x: np.append(y := gaussian(x), y),
            Gdp(0.8),
            Gdp(0.7),
        ),  # a number that is shown twice is not two: each alone
    ],
)
def test_the_numbers_of_a_call_convict_together(function: Callable[[Any], Any], kept: Any, broken: Any) -> None:
    for pair in (FORTH, FORTH[::-1]):
        assert suspected(function, kept, pair) is None
        assert suspected(function, broken, pair) is not None


def test_what_runs_agree_with_convicts_and_the_event_is_one_of_outcomes() -> None:
    assert accused(gaussian, Gdp(0.85), FORTH, range(1))
    beyond: Any = suspected(gaussian, Gdp(0.85), FORTH)
    assert beyond.release.weights == pytest.approx([0.6, -0.8])
    far = [as_outcome(FORTH[1] * by) for by in (-9.0, 9.0)]
    assert beyond.event()(far).tolist() == [beyond.sign < 0, beyond.sign > 0]
    assert beyond.described() == beyond.event().to_json()
    assert beyond.evidence(9).release.primitive == "numpy.random.Generator.normal (2 numbers, along what moved)"


def test_the_event_of_a_sum_holds_wherever_each_number_is_rounded_to() -> None:
    beyond: Any = suspected(lambda x: np.round(gaussian(x), 2), Gdp(0.7), FORTH)
    release = beyond.release
    assert release.each_rounding == pytest.approx([0.03, 0.03], rel=1e-3)
    assert release.rounding == pytest.approx(0.03 * np.abs(release.weights).sum(), rel=1e-3)
    assert release.loss == pytest.approx(1.0 - 2 * release.rounding, rel=1e-3)
    exact = release.weights * beyond.threshold  # of weights of norm 1: their sum is the threshold
    outcome = np.zeros(3)
    for share, holds in ((0.999, True), (1.001, False)):
        outcome[release.places] = exact - share * beyond.sign * np.sign(release.weights) * release.each_rounding
        assert beyond.event()([as_outcome(outcome)]).tolist() == [holds]


def test_numbers_are_moved_to_the_event_as_gaussian_noise_is_given_its_sum() -> None:
    """Of independent numbers, what a sum says of each is its weight times the square of its scale."""
    returned: list[Any] = []

    def function(x: Any) -> Any:
        returned.append(x + RNG.normal(0.0, [1.0, 5.0, 2.0]))
        return returned[-1]

    beyond: Any = suspected(function, Gdp(0.6), FORTH)
    assert beyond is not None
    audited = Function(function, "function")
    recorder = Recorder(audited)
    with isolated(1), intercepted(function, recorder.intercept):
        first = recorder.run(FORTH[0])
        for value in (1.0, 3.0):
            assert _is_shown_at(recorder, FORTH, replace(beyond, world=0), first, value)
    near, far = returned[-4::2]  # of the first input
    moved = (far - near)[beyond.release.places]
    assert moved == pytest.approx(2.0 * (law := beyond.release.weights * [1.0, 4.0]) / (law @ beyond.release.weights))


def in_a_window(x: Any) -> Any:
    """Where the weighted sum is likelier in one world, 0 is released: what is seen there has no loss."""
    noisy = x + RNG.normal(size=3)
    return np.zeros(3) if abs(noisy @ FORTH[1] - 0.5) > 1.2 else noisy


def one_of_two(x: Any) -> Any:
    """In 8 % of the runs the last number hides its noise, and the first does not."""
    noisy = gaussian(x)
    noisy[2] *= abs(noisy[0]) > 0.1
    return noisy


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (in_a_window, Gdp(0.7)),
        (one_of_two, Gdp(0.85)),
        (lambda x: np.sort(gaussian(x)), Gdp(0.5)),
        (lambda x: np.cumsum(gaussian(x)), Gdp(0.5)),
        (lambda x: x * (np.random.random() < 0.5) + RNG.normal(size=3), Gdp(0.9)),
        (lambda x: x + np.random.default_rng(7).normal(size=3), Gdp(0.5)),
        (lambda x: x + (np.random.default_rng(7) if x.any() else RNG).normal(size=3), Gdp(0.5)),  # in one world
        (lambda x: x + RNG.normal() * np.ones(3), Gdp(0.9)),  # one number of noise: broken, and not by a norm
        (lambda x: x + RNG.normal(size=4)[:3], Gdp(0.5)),  # some noise is not released
    ],
)
def test_nobody_is_accused(function: Callable[[Any], Any], claim: Gdp) -> None:
    assert not accused(function, claim, FORTH, range(1))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_million_numbers_take_well_under_a_second_per_run(kind: Any) -> None:
    """Seven runs. Each number moves by 1/500 of its scale, so that their norm is 2."""

    def function(x: float) -> Any:
        return (x / 500 + RNG.standard_normal(MILLION, dtype=kind)).astype(kind)

    started = time.process_time()
    found = seen(function, (0.0, 1.0))
    assert time.process_time() - started < 7
    assert found.loss == pytest.approx(2.0, rel=0.1)
    beyond: Any = exceeded(found.countable(), Gdp(1.0))
    assert beyond.release.weights.size == MILLION > LONGEST
    assert beyond.described()["kind"] == "predicate"


def test_fewer_runs_see_a_larger_share_and_never_leave_it_out() -> None:
    slow = Function(lambda x: x, "slow", seconds=0.01, runs=100)  # 10^-4 s a run
    runs, share = affordable(slow, 1e-6, 1.0)
    assert runs == 1 / 2 / 1e-4 // 7
    assert (1 - share) ** runs == pytest.approx(1e-6)
    assert affordable(slow, 1e-6, 100.0) == (runs_needed(1e-6), SHARE)
    assert affordable(slow, 1e-6, 1e-4)[1] == 1.0
    releases = seen(lambda x: x + RNG.laplace(0.0, 0.1), (0.0, 1.0)).countable()
    assert exceeded(releases, Claim(5.0)) is not None
    assert exceeded(releases, Claim(5.0), 0.02) is None
    assert exceeded(tuple(replace(one, is_compiled=True) for one in releases), Claim(5.0)) is None
    few: Any = exceeded(releases, Claim(1.0), 0.02)
    assert few.excess == pytest.approx(0.98 * few.likely - math.e * (few.other + 0.02), abs=1e-9)
    assert few.evidence(300).epsilon == pytest.approx(math.log(0.98 * few.likely / (few.other + 0.02)))


def test_an_array_without_noise_that_differs_is_seen() -> None:
    assert seen(lambda x: [gaussian(x), x]).without_noise
    assert seen(lambda x: [gaussian(x), np.ones(1 + int(abs(x).sum()))]).without_noise
    assert not seen(lambda x: [gaussian(x), np.ones(3)]).without_noise


def test_outcomes_with_arrays_have_one_key_where_they_are_equal() -> None:
    same = [with_arrays([np.array([1.0, 2.0]), 3]) for _ in range(2)]
    others = [
        [np.array([1.0, 2.0]), 4], [np.array([[1.0, 2.0]]), 3], [np.array([1.0, 2.0], dtype=np.float32), 3],
        [3, np.array([1.0, 2.0])], [np.array([1.0, 2.5]), 3], {"0": np.array([1.0, 2.0]), "1": 3},
    ]  # fmt: skip
    keys = [key_of(with_arrays(one)) for one in others]
    assert key_of(same[0]) == key_of(same[1])
    assert len({*keys, key_of(same[0])}) == len(others) + 1
    assert key_of(with_arrays(np.array([0.0]))) != key_of(with_arrays(np.array([-0.0])))
    assert with_arrays(["a", np.array([1.0])]) == as_outcome(["a", np.array([1.0])])
    assert leaves_of(with_arrays({"a": np.zeros(0), "b": 1})) == leaves_of(as_outcome({"a": np.zeros(0), "b": 1}))
