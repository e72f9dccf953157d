"""The assertion that other people's test suites call: it accuses with evidence, or says why it cannot.

False alarms: at most ALPHA for each sound release, by its own bounds; its bits come from generators with seeds.
"""

import itertools
import math
import random
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import assert_private
from subnormal.attacks.core.events import Between, OneOf, Refuses
from subnormal.audit.model import Verdict
from subnormal.audit.statistics import binomial
from subnormal.audit.targets.assertion import NotPrivateError
from subnormal.audit.targets.outcomes import as_outcome
from subnormal.mechanisms.core.mechanism import Refused
from tests.support.processes import run

ALPHA = 1e-6
RUNS = 4_000


def counting(scale: float, seed: int = 1) -> Callable[[Sequence[int]], float]:
    rng = random.Random(seed)
    return lambda records: round(sum(records) + rng.expovariate(1 / scale) - rng.expovariate(1 / scale), 2)


def test_a_sound_release_passes() -> None:
    assert_private(counting(1.0), [1, 1], [1], epsilon=1.0, runs=RUNS)
    assert_private(lambda records: None, [1, 1], [1], epsilon=0.5, runs=RUNS)
    assert_private(counting(1.0), [1, 1], [1], epsilon=1.0, runs=RUNS, event=Between(-math.inf, 1.0))


def test_half_the_noise_is_an_assertion_error_that_carries_its_evidence() -> None:
    with pytest.raises(AssertionError, match=r"not \(epsilon = 1, delta = 0\)-private") as caught:
        assert_private(counting(0.5), [1, 1], [1], epsilon=1.0, runs=RUNS)
    error = caught.value
    assert isinstance(error, NotPrivateError)
    assert error.evidence.verdict is Verdict.VIOLATED
    assert error.evidence.epsilon_lower > 1
    assert error.evidence.confidence == 1 - ALPHA
    message = str(error)
    for told in (f"of {RUNS:,} runs on data_in", "on data_out", "learned on 1,000 other runs", "confidence 1 - 1e-06"):
        assert told in message
    assert f"at least {error.evidence.epsilon_lower:.3g}" in message
    assert str(error.event.to_json()) in message


def test_a_given_event_is_looked_for_without_training() -> None:
    calls: list[object] = []

    def release(data: int) -> int:
        calls.append(data)
        return data

    for event in (OneOf((1,)), lambda outcome: outcome == 1):
        calls.clear()
        with pytest.raises(AssertionError, match="1,000 of 1,000 runs on data_in and in 0 of 1,000") as caught:
            assert_private(release, 1, 0, epsilon=2.0, runs=1_000, event=event)
        assert len(calls) == 2_000
        assert "learned" not in str(caught.value)


def test_an_exception_is_an_outcome_that_leaks() -> None:
    rng = random.Random(1)

    def mean(records: Sequence[int]) -> float:
        return (sum(records) + rng.expovariate(1) - rng.expovariate(1)) / len(records)

    with pytest.raises(NotPrivateError) as caught:
        assert_private(mean, [], [1], epsilon=1.0, runs=1_000)
    assert caught.value.event([Refused("ZeroDivisionError: division by zero"), 0.5]).tolist() in (
        [True, False],
        [False, True],
    )


def test_a_release_that_only_raises_has_not_been_tried() -> None:
    def misspelt(records: Sequence[int]) -> float:
        raise TypeError("no such option")

    with pytest.raises(ValueError, match=r"release raised in every run on both inputs.*TypeError: no such option"):
        assert_private(misspelt, [], [1], epsilon=1.0, runs=100)

    def telling(records: Sequence[int]) -> float:
        raise TypeError(f"{len(records)} records are too few")

    with pytest.raises(NotPrivateError):
        assert_private(telling, [], [1], epsilon=1.0, runs=100)


@pytest.mark.parametrize(
    ("epsilon", "delta", "alpha"), [(1.0, 0.0, 1e-6), (5.0, 0.1, 0.05), (0.0, 0.5, 0.5), (9.0, 0.0, 1e-6)]
)
def test_too_few_runs_are_refused_before_the_first_with_how_many_are_needed(
    epsilon: float, delta: float, alpha: float
) -> None:
    def release(data: int) -> int:
        raise KeyboardInterrupt  # never called

    needed = binomial.runs_needed(alpha, epsilon, delta)
    assert not binomial.underpowered(needed, alpha, epsilon, delta)
    assert needed == 1 or binomial.underpowered(needed - 1, alpha, epsilon, delta)
    with pytest.raises(ValueError, match=f"at least {needed:,} runs are needed"):
        assert_private(release, 1, 0, epsilon=epsilon, delta=delta, alpha=alpha, runs=needed - 1)
    # So many runs are enough for a release that tells everything.
    with pytest.raises(NotPrivateError):
        assert_private(lambda data: data, 1, 0, epsilon=epsilon, delta=delta, alpha=alpha, runs=needed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 1.0, "alpha": 0.0}, "alpha must be between 0 and 1, got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be non-negative and finite, got -1.0"),
        ({"epsilon": 1.0, "delta": 1.0}, "no number of runs can refute delta = 1.0"),
        ({"epsilon": 800.0}, "no affordable number of runs can refute epsilon = 800.0"),
        ({"epsilon": 1.0, "runs": 0}, "runs = 0 cannot refute"),
    ],
)
def test_bad_input_is_named_with_its_value(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assert_private(lambda data: data, 1, 0, **options)


def test_outcomes_of_every_kind_become_hashable() -> None:
    assert as_outcome(np.array([[1, 2], [3, 4]])) == ((1, 2), (3, 4))
    assert as_outcome(np.float32(0.1)) == float(np.float32(0.1))
    assert as_outcome({"b": {2, 1}, "a": np.array([1.5])}) == (("a", (1.5,)), ("b", (1, 2)))
    assert as_outcome("text") == "text"
    assert as_outcome(bytearray(b"x")) == b"x"


def test_a_mapping_that_lacks_a_key_is_told() -> None:
    rng = random.Random(2)

    def histogram(records: Sequence[str]) -> dict[str, float]:
        return {record: rng.gauss(0, 1) for record in records}

    with pytest.raises(NotPrivateError):
        assert_private(histogram, ["a", "b"], ["a"], epsilon=1.0, runs=1_000)


def test_an_error_with_a_set_of_outcomes_stays_readable() -> None:
    rng = random.Random(3)
    with pytest.raises(NotPrivateError) as caught:
        assert_private(lambda data: data + 2 * rng.randrange(300) * math.pi, 0.0, 1.0, epsilon=1.0, runs=4_000)
    assert len(str(caught.value)) < 2_000


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import subnormal, sys; assert 'numpy' not in sys.modules; subnormal.assert_private"
    assert run([sys.executable, "-c", script]).returncode == 0
    with pytest.raises(ImportError):
        from subnormal import no_such_name  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize("seed", range(3))
def test_what_drifts_with_the_number_of_calls_is_not_taken_for_the_data(seed: int) -> None:
    """Neither looks at its data; with all runs of one world first, both would be convicted. False alarms: 1e-6 each."""
    generator, calls, budget = random.Random(seed), itertools.count(), itertools.count()

    def drifting(data: int) -> int:
        return int(generator.random() < next(calls) / 10_000)

    def exhausted(data: int) -> int:
        if next(budget) > 6_000:
            raise RuntimeError("the budget is spent")
        return generator.randrange(2)

    assert_private(drifting, 1, 0, epsilon=0.1, runs=4_000)
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


def test_runs_are_a_whole_number_before_anything_is_called() -> None:
    with pytest.raises(TypeError, match="integer"):
        assert_private(pytest.fail, 1, 0, epsilon=1.0, runs=1e4)  # type: ignore[arg-type]
