"""The assertion that other people's test suites call: it accuses with evidence, or says why it cannot.

False alarms: at most ALPHA for each sound release, by its own bounds; its bits come from generators with seeds.
"""

import itertools
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Gdp, NotPrivateError, Profile, Renyi, Verdict, Zcdp, add_or_remove, assert_private, within
from subnormal.attacks.core.event_words import in_words
from subnormal.attacks.core.events import Between, OneOf, Refuses
from subnormal.audit.check.score import runs_needed
from subnormal.audit.evidence import sequential
from subnormal.audit.evidence.sequential import FIRST
from subnormal.audit.statistics import e_process
from tests.support.checks import sequential_of

ALPHA = 1e-6
RUNS = 4_000
VALUES = st.integers()
NO_INPUT = r"is no input: write assert_private\(release, data=strategy, adjacent="


def counting(scale: float, seed: int = 1) -> Callable[[Sequence[int]], float]:
    rng = random.Random(seed)
    return lambda records: round(sum(records) + rng.expovariate(1 / scale) - rng.expovariate(1 / scale), 2)


def test_a_sound_release_passes() -> None:
    assert_private(counting(1.0), [1, 1], [1], epsilon=1.0, runs=RUNS)
    assert_private(lambda records: None, [1, 1], [1], epsilon=0.5, runs=RUNS)
    assert_private(counting(1.0), [1, 1], [1], claim=Zcdp(0.5), runs=RUNS)
    assert_private(counting(1.0), [1, 1], [1], epsilon=1.0, runs=RUNS, event=Between(-math.inf, 1.0))


def test_half_the_noise_is_an_assertion_error_that_carries_its_result() -> None:
    with pytest.raises(AssertionError, match=r"not private as claimed, epsilon = 1:") as caught:
        assert_private(counting(0.5), [1, 1], [1], epsilon=1.0, runs=RUNS)
    error = caught.value
    assert isinstance(error, NotPrivateError)
    assert error.result.verdict is Verdict.VIOLATED
    evidence = sequential_of(error.result)
    assert (evidence.alpha, evidence.training) == (ALPHA, RUNS // 4)
    assert evidence.runs <= RUNS
    assert evidence.log_e_value >= -math.log(ALPHA)
    message = str(error)
    assert f"the event in {evidence.event_in:,} of {evidence.runs:,} runs in, {evidence.event_out:,} out" in message
    assert in_words(error.result.event) in message
    for told in (
        "in          [1, 1]",
        "out         [1]",
        "data_in = [1, 1]",
        "data_out = [1]",
        "\n\nA test for it:\n\n",
    ):
        assert told in message


def test_too_little_noise_breaks_claims_of_every_kind() -> None:
    for claim in (Zcdp(0.5), Gdp(1.0), Renyi(2.0, 0.5), Claim(1.0), Profile(Gdp(1.0).delta)):
        with pytest.raises(NotPrivateError) as caught:
            assert_private(counting(0.2), [1, 1], [1], claim=claim, runs=RUNS)
        assert caught.value.result.claim is claim
    with pytest.raises(NotPrivateError):
        assert_private(counting(0.2), [1, 1], [1], claim=Zcdp(0.5), runs=RUNS, event=Between(1.5, math.inf))


@pytest.mark.usefixtures("own_clock")
def test_a_pair_is_searched_in_a_domain() -> None:
    """It sums without clipping: two records of a large domain show it, those that come to mind do not."""
    rng = random.Random(4)

    def noisy_sum(records: list[int]) -> float:
        return round(sum(record if record < 900 else 5 * record for record in records) + rng.gauss(0, 4_000), 3)

    domain = st.lists(st.integers(0, 1_000), max_size=3)
    claim = Gdp(1_000 / 4_000)
    assert_private(noisy_sum, [1, 2], [1], claim=claim, runs=1_000)
    with pytest.raises(NotPrivateError) as caught:
        assert_private(noisy_sum, data=domain, adjacent=add_or_remove(), claim=claim, seconds=6)
    worlds = caught.value.result.worlds
    assert worlds is not None
    assert max(map(max, filter(None, worlds))) >= 900
    sound = random.Random(5)
    kept: Any = {"data": domain, "adjacent": add_or_remove(), "claim": Gdp(1.0), "runs": 500, "seconds": 2}
    assert_private(lambda records: round(len(records) + sound.gauss(0, 1), 3), **kept)
    with pytest.raises(ValueError, match="no verdict: every run of every input raised"):
        assert_private(lambda records: 1 // 0, data=domain, adjacent=add_or_remove(), epsilon=1.0)


def test_a_given_event_is_looked_for_without_training() -> None:
    calls: list[object] = []

    def release(data: int) -> int:
        calls.append(data)
        return data

    for event in (OneOf((1,)), lambda outcome: outcome == 1):
        calls.clear()
        with pytest.raises(NotPrivateError) as caught:
            assert_private(release, 1, 0, epsilon=2.0, runs=1_000, event=event)
        evidence = sequential_of(caught.value.result)
        assert (evidence.training, evidence.event_in, evidence.event_out) == (0, evidence.runs, 0)
        assert len(calls) == 2 * evidence.runs <= 2_000


def test_an_exception_is_an_outcome_that_leaks() -> None:
    rng = random.Random(1)

    def mean(records: Sequence[int]) -> float:
        return (sum(records) + rng.expovariate(1) - rng.expovariate(1)) / len(records)

    with pytest.raises(NotPrivateError) as caught:
        assert_private(mean, [], [1], epsilon=1.0, runs=1_000)
    evidence = sequential_of(caught.value.result)
    assert {evidence.event_in, evidence.event_out} == {0, evidence.runs}


def test_a_release_that_only_raises_has_not_been_tried() -> None:
    def misspelt(records: Sequence[int]) -> float:
        raise TypeError("no such option")

    with pytest.raises(ValueError, match=r"misspelt raised in every run on both inputs.*TypeError: no such option"):
        assert_private(misspelt, [], [1], epsilon=1.0, runs=200)

    def needing_a_budget(records: Sequence[int], epsilon: float) -> float:
        return epsilon

    with pytest.raises(TypeError, match=r"is called as function\(data\), but its signature is"):
        assert_private(needing_a_budget, [], [1], epsilon=1.0, runs=200)  # type: ignore[arg-type]  # refused when called

    def telling(records: Sequence[int]) -> float:
        raise TypeError(f"{len(records)} records are too few")

    with pytest.raises(NotPrivateError):
        assert_private(telling, [], [1], epsilon=1.0, runs=200)


@pytest.mark.parametrize(
    ("epsilon", "delta", "alpha"), [(1.0, 0.0, 1e-6), (5.0, 0.1, 0.05), (0.0, 0.5, 0.5), (5.0, 0.0, 1e-6)]
)
def test_too_few_runs_are_refused_before_the_first_with_how_many_are_needed(
    epsilon: float, delta: float, alpha: float
) -> None:
    def release(data: int) -> int:
        raise KeyboardInterrupt  # never called

    point = Claim(epsilon, delta)
    needed = int(runs_needed(point, alpha))
    wealth = -math.log(alpha) + sequential.SLACK
    assert e_process.reachable(needed - 1 - FIRST, point) < wealth <= e_process.reachable(needed - FIRST, point)
    with pytest.raises(ValueError, match=f"at least {needed:,} runs are needed"):
        assert_private(release, 1, 0, epsilon=epsilon, delta=delta, alpha=alpha, runs=needed - 1)
    # A few more are enough for a release that tells everything: bets are learned, too.
    with pytest.raises(NotPrivateError):
        assert_private(lambda data: data, 1, 0, epsilon=epsilon, delta=delta, alpha=alpha, runs=2 * needed)


@pytest.mark.parametrize(
    ("inputs", "options", "error", "message"),
    [
        ((1, 0), {"epsilon": 1.0, "alpha": 0.0}, ValueError, "alpha must be between 0 and 1, got 0.0"),
        ((1, 0), {"epsilon": -1.0}, ValueError, "epsilon must be non-negative and finite, got -1.0"),
        (
            (1, 0),
            {"epsilon": 1.0, "delta": 1.0},
            ValueError,
            "cannot refute epsilon = 1, delta = 1 .* no number of runs",
        ),
        ((1, 0), {"epsilon": 800.0}, ValueError, "cannot refute epsilon = 800 .* no number of runs could"),
        ((1, 0), {"epsilon": 1.0, "runs": 0}, ValueError, "runs = 0 cannot refute"),
        ((1, 0), {"claim": Zcdp(0.5), "runs": 9}, ValueError, r"rho = 0.5 \(zCDP\) .* at least \d+ runs are needed"),
        ((1, 0), {"epsilon": 1.0, "runs": 1e4}, TypeError, "integer"),
        ((), {"epsilon": 1.0}, TypeError, "name the inputs"),
        ((1,), {"epsilon": 1.0}, TypeError, "name the inputs"),
        ((1, 0), {"epsilon": 1.0, "data": st.integers(), "adjacent": within(1)}, TypeError, "name the inputs"),
        ((1, 0), {"epsilon": 1.0, "data": st.integers()}, TypeError, "name the inputs"),
        ((), {"epsilon": 1.0, "data": VALUES, "adjacent": within(1), "event": Refuses()}, TypeError, "event goes with"),
        ((1, 0), {}, TypeError, "state one claim"),
        ((1, 0), {"epsilon": 1.0, "claim": Zcdp(1.0)}, TypeError, "state one claim"),
        ((1, 0), {"delta": 1e-6, "claim": Zcdp(1.0)}, TypeError, "state one claim"),
        ((1, 0), {"claim": 1.0}, TypeError, "claim must be a Claim, Zcdp, Gdp, Renyi or Profile, got 1.0"),
        ((1, 1), {"epsilon": 1.0}, ValueError, "data_in and data_out are one input, 1: name two"),
        (([1, 2], [1, 2]), {"epsilon": 1.0}, ValueError, r"data_in and data_out are one input, \[1, 2\]"),
        ((np.zeros(9), np.zeros(9)), {"epsilon": 1.0}, ValueError, "data_in and data_out are one input, np.array"),
        ((), {"adjacent": [(1, 1)], "epsilon": 1.0}, ValueError, "pairs must hold two inputs that differ, got"),
        # `check(f, data, adjacent, claim)` has this order; here both would be taken for inputs.
        ((VALUES, add_or_remove()), {"epsilon": 1.0}, TypeError, rf"data_in = 'integers\(\)' {NO_INPUT}"),
        ((VALUES, lambda one, other: True), {"epsilon": 1.0}, TypeError, f"data_in = .* {NO_INPUT}"),
        (([1], within(1)), {"epsilon": 1.0}, TypeError, f"data_out = .* {NO_INPUT}"),
        (([1], add_or_remove), {"epsilon": 1.0}, TypeError, f"data_out = .* {NO_INPUT}"),
    ],
)
def test_a_mistake_is_named_before_anything_is_called(
    inputs: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        assert_private(lambda data: pytest.fail("called"), *inputs, **options)


@pytest.mark.parametrize("differs", [1.0, True, "1"])  # 1 is equal to some of these, but a release may tell them apart
def test_inputs_that_a_release_tells_apart_are_two(differs: Any) -> None:
    with pytest.raises(NotPrivateError):
        assert_private(repr, 1, differs, epsilon=1.0, runs=200)


@pytest.mark.parametrize("seed", range(3))
def test_what_drifts_with_the_number_of_calls_is_not_taken_for_the_data(seed: int) -> None:
    """Neither looks at its data; with all runs of one world first, both would be convicted. False alarms: 1e-6 each.

    The one that stops answering is an error, and no violation.
    """
    generator, calls, budget = random.Random(seed), itertools.count(), itertools.count()

    def drifting(data: int) -> int:
        return int(generator.random() < next(calls) / 10_000)

    def exhausted(data: int) -> int:
        if next(budget) > 6_000:
            raise RuntimeError("the budget is spent")
        return generator.randrange(2)

    assert_private(drifting, 1, 0, epsilon=0.1, runs=4_000)
    with pytest.raises(ValueError, match="stopped answering after 6,001 calls"):
        assert_private(exhausted, 1, 0, epsilon=0.1, runs=4_000, event=Refuses())


@pytest.mark.parametrize(
    "release",
    [
        lambda data: 10**400 * random.randrange(3) + data,
        lambda data: (10**400 * random.randrange(3), "a", data),
        lambda data: Decimal(random.random()) + 100 * data,
        lambda data: Fraction(random.random()) + 100 * data,
        lambda data: sys.exit(data),
    ],
)
def test_outcomes_of_odd_kinds_tell_all_the_same(release: Callable[[int], Any]) -> None:
    with pytest.raises(NotPrivateError):
        assert_private(release, 1, 0, epsilon=1.0, runs=2_000)


def test_a_release_too_slow_for_any_verdict_does_not_pass() -> None:
    """A release without noise that sleeps: no run could be judged, and that is no reason to trust it."""

    def release(records: list[int]) -> float:
        time.sleep(0.05)
        return sum(records) + random.random() * 1e-9

    with pytest.raises(ValueError, match=r"so few runs could not have shown a violation:\nUNDERPOWERED"):
        assert_private(
            release, data=st.lists(st.integers(0, 9), max_size=2), adjacent=add_or_remove(), epsilon=1.0, seconds=1
        )
