"""Two numbers stand for all as far apart: noise of floats that looks sound at 6 and 5 is tried at 1 and 0 as well.

False alarms of the sound releases: at most ALPHA each; their bits come from generators with seeds.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, NotPrivateError, assert_private
from subnormal.attacks.core.events import OffGrid
from subnormal.audit.check import trial
from subnormal.audit.check.score import runs_needed
from tests.support.checks import sequential_of

ALPHA = 1e-6
RUNS = 4_000
TRAINING = RUNS // 4

Release = Callable[[Any], Any]


def naive(seed: int = 1) -> Release:
    rng = np.random.default_rng(seed)
    return lambda data: float(data + rng.laplace())


def rounded(seed: int = 1) -> Release:
    """Sound but for what no sample sees: of the 53 bits of the noise, sixteenths are released."""
    noisy = naive(seed)
    return lambda data: round(noisy(data) * 16) / 16


def recorded(release: Release) -> tuple[Release, list[Any]]:
    calls: list[Any] = []

    def called(data: Any) -> Any:
        calls.append(data)
        return release(data)

    return called, calls


@pytest.mark.parametrize(
    ("data_in", "data_out", "worlds", "told", "within"),
    [
        (6, 5, "(1, 0)", "the 6 and 5 asked for", float),
        (99, 100, "(0, 1)", "the 99 and 100 asked for", lambda one: [3, one]),
        (6.0, 5, "(1.0, 0.0)", "the 6.0 and 5 asked for", lambda one: {"mean": one}),
        (np.int64(-6), np.int64(-5), "(0, 1)", "the", float),
    ],
)
def test_naive_noise_is_convicted_wherever_it_is_asked_for(
    data_in: Any, data_out: Any, worlds: str, told: str, within: Any
) -> None:
    release = naive()
    with pytest.raises(NotPrivateError) as caught:
        assert_private(lambda data: within(release(data)), data_in, data_out, epsilon=1.0, runs=RUNS)
    assert repr(caught.value.result.worlds) == worlds
    assert f"these inputs are as far apart as {told}" in " ".join(str(caught.value).split())
    evidence = sequential_of(caught.value.result)
    assert (evidence.alpha, evidence.training) == (ALPHA / 2, TRAINING)


def test_a_sound_release_of_floats_passes_at_both_pairs() -> None:
    release, calls = recorded(rounded())
    assert_private(release, 6, 5, epsilon=1.0, runs=RUNS)
    assert {one: calls.count(one) for one in (6, 5)} == {6: RUNS + TRAINING, 5: RUNS + TRAINING}
    assert calls.count(1) == calls.count(0) == TRAINING
    assert len(calls) == 2 * RUNS + 4 * TRAINING


def test_what_is_judged_at_zero_costs_as_many_runs_again_at_the_most() -> None:
    release, calls = recorded(naive())
    with pytest.raises(NotPrivateError) as caught:
        assert_private(release, 6, 5, epsilon=1.0, runs=RUNS)
    evidence = sequential_of(caught.value.result)
    assert evidence.runs <= RUNS
    assert len(calls) == 2 * RUNS + 2 * evidence.runs + 4 * TRAINING


@pytest.mark.parametrize(
    ("data_in", "data_out"), [(1, 0), (0.0, -1.0), (5, 5.0), (True, False), ([6], [5]), ("6", "5"), (6.0, math.inf)]
)
def test_no_other_inputs_are_tried_than_those_asked_for(data_in: Any, data_out: Any) -> None:
    sound = rounded()
    release, calls = recorded(lambda data: sound(0.0))
    assert_private(release, data_in, data_out, epsilon=1.0, runs=RUNS)
    assert all(one in (data_in, data_out) for one in calls)
    assert len(calls) == 2 * (RUNS + TRAINING)


def test_integers_and_events_of_ones_own_are_tried_where_they_were_asked_for() -> None:
    rng = np.random.default_rng(1)
    counting, calls = recorded(lambda data: data + int(rng.geometric(0.5)) - int(rng.geometric(0.5)))
    assert_private(counting, 6, 5, epsilon=1.0, runs=RUNS)
    assert set(calls) == {6, 5}
    release, calls = recorded(naive())
    assert_private(release, 6, 5, epsilon=1.0, runs=RUNS, event=OffGrid(-52))
    assert set(calls) == {6, 5}


def outside(given: Callable[[float], Any]) -> Release:
    """Sound from 4 on; below, it is not made for its inputs."""
    sound = rounded()
    return lambda data: sound(data) if data >= 4 else given(data)


def refuses(data: float) -> float:
    raise ValueError(f"{data} is below 4")


@pytest.mark.parametrize(
    "given",
    [
        *(refuses, lambda data: refuses(data) if data == 0 else 1.0, lambda data: refuses(data) if data else 1.0),
        *(lambda data: None, lambda data: math.nan, lambda data: math.inf if data else 1.5, lambda data: [data]),
        *(lambda data: object(), lambda data: bool(data), lambda data: f"not {data}", lambda data: {"error": data}),
    ],
    ids=range(11),
)
def test_a_release_is_not_accused_of_what_it_does_outside_of_its_domain(given: Callable[[float], Any]) -> None:
    """Each of these tells zero from one; none of them by finite floats."""
    assert_private(outside(given), 6, 5, epsilon=1.0, runs=RUNS)


def test_a_refusal_among_the_runs_that_judge_is_no_accusation() -> None:
    rng = np.random.default_rng(3)
    left = 2 * TRAINING + 40  # calls below 4 before the first refusal

    def telling(data: float) -> float:
        nonlocal left
        left -= 1
        return refuses(data) if left < 0 else data + round(rng.laplace() / 4, 2)

    assert_private(outside(telling), 6, 5, epsilon=1.0, runs=RUNS)
    assert left < 0


def test_two_pairs_share_alpha_and_are_asked_for_as_many_runs_as_that_takes() -> None:
    alpha, claim = 0.01, Claim(1.0)
    whole, half = (int(runs_needed(claim, share)) for share in (alpha, alpha / 2))
    assert whole < half
    with pytest.raises(ValueError, match=rf"at alpha = 0.005: .* at least {half} runs are needed"):
        assert_private(pytest.fail, 6, 5, epsilon=1.0, runs=whole, alpha=alpha)
    for data, share in (((1, 0), alpha), ((6, 5), alpha / 2)):
        with pytest.raises(NotPrivateError) as caught:
            assert_private(float, *data, epsilon=1.0, runs=2 * half, alpha=alpha)
        evidence = sequential_of(caught.value.result)
        assert evidence.alpha == share


@pytest.mark.parametrize(
    ("data_in", "data_out", "expected"),
    [
        *((6, 5, (1, 0)), (5, 7, (0, 2)), (-3, 4, (0, 7)), (2**60 + 1, 2**60, (1, 0)), (1.5, 2, (0.0, 0.5))),
        *((2**60 + 1, 2.0**60, (1.0, 0.0)), (10**400, 1, (10**400 - 1, 0)), (0.1, 0.3, (0.0, 0.19999999999999998))),
        *((1e308, -1e308, (1.7976931348623157e308, 0.0)), (0.0, 1, None), (1.0, 1, None), (math.nan, 1, None)),
    ],
)
def test_the_distance_is_never_larger_than_the_one_asked_for(data_in: Any, data_out: Any, expected: Any) -> None:
    found = trial.distance_and_zero(data_in, data_out)
    assert repr(found) == repr(expected)
    if found is not None:
        assert abs(Fraction(found[0]) - Fraction(found[1])) <= abs(Fraction(data_in) - Fraction(data_out))
