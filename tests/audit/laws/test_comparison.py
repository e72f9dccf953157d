"""Verdicts from followed laws: what is proved, and what a rest forbids."""

import math
import random
from typing import Any
from unittest.mock import patch

import pytest

from subnormal import Claim, Verdict, law
from subnormal.audit.laws.comparison import compare, decide
from subnormal.audit.laws.draws import sources
from subnormal.audit.laws.path import NotFollowedError
from tests.audit.laws import samplers


def respond(answer: int) -> int:
    return answer if random.random() < 0.75 else 1 - answer


def test_a_loss_above_the_claim_is_violated_and_equal_to_it_is_not() -> None:
    laws = law(respond, 1), law(respond, 0)
    above: Any = compare(*laws, Claim(1.0986122886681096))  # below ln 3
    assert above.verdict is Verdict.VIOLATED
    assert set(above.event.outcomes) <= {0, 1}
    assert above.keeps is None
    kept = compare(*laws, Claim(1.0986122886681098))  # above it, the next float
    assert kept.verdict is Verdict.HOLDS
    assert kept.keeps == kept.claim


def test_a_violation_is_of_paths_that_plain_numbers_repeat() -> None:
    def by_type(answer: int) -> int:
        return answer if type(number := random.random()) is not float else int(number < 0.5)

    with pytest.raises(NotFollowedError, match="the same random numbers"):
        decide(by_type, 1, 0, Claim(1.0))


@pytest.mark.parametrize("noisy", [respond, lambda x: x + random.random()])
def test_generators_are_looked_for_once(noisy: Any) -> None:
    """There may be millions of objects: three looks took all of a pair's time."""
    with patch.object(sources, "alive", return_value=[]) as look:
        decide(noisy, 1, 0, Claim(1.0))
    look.assert_called_once()


def test_the_probability_of_a_float_is_no_exact_power() -> None:
    def responds(answer: int) -> int:
        return answer if random.random() < math.e / (1 + math.e) else 1 - answer

    found = compare(law(responds, 1), law(responds, 0), Claim(1.0))
    assert abs(found.evidence.epsilon - 1.0) < 1e-15


def test_a_rest_forbids_a_pure_claim_and_leaves_a_delta() -> None:
    def noisy(count: int) -> int:
        ratio = math.exp(-0.5)
        return count + samplers.geometric(ratio) - samplers.geometric(ratio)

    laws = law(noisy, 0, rest=1e-4), law(noisy, 1, rest=1e-4)
    found: Any = compare(*laws, Claim(0.51))
    assert found.verdict is Verdict.UNRESOLVED
    assert 0 < found.keeps.delta < 1e-3
    assert "keeps (0.51, " in str(found)
    assert compare(*laws, Claim(0.4)).verdict is Verdict.VIOLATED
    assert compare(*laws, Claim(0.51, 0.1)).verdict is Verdict.HOLDS


def test_a_violation_counts_the_rest_for_the_function() -> None:
    """With a rest of half, an outcome of one world alone may be any outcome of the other one."""

    def stops(data: int) -> int:
        return data if random.random() < 0.5 else samplers.geometric(0.999999)

    laws = law(stops, 7, seconds=0.5, rest=0.499), law(stops, 9, seconds=0.5, rest=0.499)
    assert all(one.rest > 0.4 for one in laws)
    assert compare(*laws, Claim(0.5)).verdict is not Verdict.VIOLATED


def test_sparse_vector_without_noise_on_queries_is_violated() -> None:
    found: Any = decide(samplers.algorithm_5, [0, 1], [1, 0], Claim(1.0), seconds=60.0)
    assert found.verdict is Verdict.VIOLATED
    assert found.evidence.epsilon > 3
    assert set(found.event.outcomes) <= {(False, True), (True, False)}


def test_the_sound_sparse_vector_holds() -> None:
    found = decide(samplers.algorithm_1, [0, 1], [1, 0], Claim(1.0), seconds=120.0)
    assert found.verdict is Verdict.HOLDS
    assert found.evidence.within == 0


def test_noise_that_does_not_grow_with_the_answers_is_violated() -> None:
    found = decide(samplers.algorithm_4, [0, 0, 0, 1, 1], [1, 1, 1, 0, 0], Claim(1.0), seconds=120.0)
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("least", "verdict"), [(5, Verdict.VIOLATED), (6, Verdict.HOLDS)])
def test_a_threshold_whose_delta_leaves_out_the_threshold_itself_is_violated(least: int, verdict: Verdict) -> None:
    """The rule and the privacy map of https://github.com/opendp/opendp/issues/2922, on noise from `random`."""

    def geometric() -> int:
        return math.floor(-math.log(1.0 - random.random()))

    def counts(records: list[str]) -> dict[str, int]:
        noisy = {key: records.count(key) + geometric() - geometric() for key in set(records)}
        return {key: count for key, count in noisy.items() if count >= least}

    delta = math.exp(-5) / (1 + math.exp(-1))  # that 1 + noise is above 5
    assert decide(counts, [], ["a"], Claim(1.0, delta + 1e-9), seconds=60.0).verdict is verdict


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_seconds_must_be_positive(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be positive"):
        decide(respond, 1, 0, Claim(1.0), seconds=seconds)
