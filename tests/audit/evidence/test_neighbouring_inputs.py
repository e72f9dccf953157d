"""Neither event nor inputs given: broken mechanisms are found, sound ones accused no more often than α.

False-alarm rate of the tests on sound code: at most ALPHA, the tail beyond the binomial quantile used.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.evidence import neighbouring_inputs, sampled
from subnormal.audit.model import SampledEvidence, Verdict
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core import input_patterns
from subnormal.mechanisms.core.distances import nowhere_beyond
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.families import family
from tests.support.rows import distinguish
from tests.support.textbook import BROKEN, IGNORING, SOUND, added_or_removed, counting, noise

pytestmark = pytest.mark.usefixtures("families_of_tests")

ALPHA = 1e-6
SEEDS = 200
PAIRS = neighbouring_inputs.among(input_patterns.vectors(), added_or_removed)

AnyMechanism = Mechanism[Any, Any, Any]


def audited(
    mechanism: AnyMechanism,
    seed: int,
    training: int,
    runs: int,
    alpha: float,
    pairs: Sequence[input_patterns.Neighbours] = PAIRS,
) -> SampledEvidence:
    attack, _ = neighbouring_inputs.learn_attack(mechanism, None, pairs, seed=seed, runs=training)
    return distinguish(mechanism, attack, seed=seed, runs=runs, alpha=alpha)


@pytest.mark.parametrize("mechanism", BROKEN, ids=lambda mechanism: mechanism.name)
def test_textbook_mistakes_are_found_within_two_million_runs(mechanism: AnyMechanism) -> None:
    training, runs = 40_000, 200_000
    assert 2 * (training + runs + sampled.PILOT) <= 2_000_000
    assert audited(mechanism, 1, training, runs, ALPHA).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("mechanism", SOUND, ids=lambda mechanism: mechanism.name)
def test_sound_twins_are_accused_no_more_often_than_alpha(
    mechanism: AnyMechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled, "PILOT", 16)  # the bins of a picture that nobody looks at
    verdicts = [audited(mechanism, seed, 400, 1_000, 0.05, PAIRS[:3]).verdict for seed in range(SEEDS)]
    assert verdicts.count(Verdict.VIOLATED) <= stats.binom.ppf(1 - ALPHA, SEEDS, 0.05)


def test_a_mechanism_that_ignores_its_data_is_not_refuted() -> None:
    assert audited(IGNORING, 1, 4_000, 20_000, 0.05).verdict is Verdict.NOT_REFUTED
    assert audited(IGNORING, 1, 4_000, 13, 0.05).verdict is Verdict.UNDERPOWERED


def test_the_screening_picks_the_pair_that_tells() -> None:
    picky = counting("only-a-full-vector-tells", lambda count, bits, n: noise(bits, n) + 10 * (count > 8))
    attack, screened = neighbouring_inputs.learn_attack(picky, None, PAIRS, seed=1, runs=20_000)
    assert attack.name == "neighbours@one entry more"
    assert [pair.name for pair in PAIRS] == [one.pair for one in screened]
    assert len({one.runs for one in screened}) == 1
    assert sum(one.runs for one in screened) <= 20_000 / 4
    beyond = {one.pair: one.beyond for one in screened}
    assert beyond.pop("one entry more") > 3
    assert max(beyond.values()) == 0


def test_screening_and_learning_stay_within_the_budget() -> None:
    drawn = {"in": 0, "out": 0}

    def answer(count: int, bits: BitSource, n: int) -> Outcomes:
        drawn["in" if count == 0 else "out"] += n
        return noise(bits, n)

    pair = input_patterns.Neighbours("zero or one", np.array([0]), np.array([1]))
    neighbouring_inputs.learn_attack(counting("counted", answer), None, [pair] * 3, seed=1, runs=5_000)
    assert drawn == {"in": 5_000, "out": 5_000}


def test_the_same_seed_finds_the_same_attack() -> None:
    first, again = (neighbouring_inputs.learn_attack(BROKEN[0], None, PAIRS, seed=3, runs=4_000)[0] for _ in range(2))
    assert (first.name, first.event) == (again.name, again.event)


def test_patterns_are_those_of_the_literature() -> None:
    pairs = {pair.name: (pair.data_in.tolist(), pair.data_out.tolist()) for pair in input_patterns.vectors(1, 5)}
    assert pairs["one up, the rest down"] == ([1, 1, 1, 1, 1], [2, 0, 0, 0, 0])
    assert pairs["one down, the rest up"] == ([1, 1, 1, 1, 1], [0, 2, 2, 2, 2])
    assert pairs["half up, half down"] == ([1, 1, 1, 1, 1], [2, 2, 0, 0, 0])
    assert pairs["one entry more"] == ([1] * 5, [1] * 6)
    assert pairs["one entry less"] == ([1] * 5, [1] * 4)
    assert pairs["empty"] == ([], [1])
    assert pairs["zeros against one"] == ([0] * 5, [1, 0, 0, 0, 0])
    assert pairs["all up by one"] == ([1] * 5, [2] * 5)


@pytest.mark.parametrize("step", [1, 1.0, 0.25])
def test_pairs_of_numbers_are_a_step_apart_and_of_its_type(step: float) -> None:
    for pair in input_patterns.numbers(step):
        assert type(pair.data_in) is type(pair.data_out) is type(step)
        assert abs(pair.data_in - pair.data_out) <= step
        assert repr(pair.data_in) != repr(pair.data_out)


def test_relations_keep_what_a_claim_covers() -> None:
    assert {pair.name for pair in PAIRS} == {
        "empty",
        "empty, a zero more",
        "one entry more",
        "one entry less",
        "a one among zeros",
    }

    def near(one: Any, other: Any) -> bool:
        return np.shape(one) == np.shape(other) and nowhere_beyond(Fraction(1), one, other)

    within = {pair.name for pair in neighbouring_inputs.among(input_patterns.vectors(), near)}
    assert within == {
        "zeros against one",
        "one up",
        "one down",
        "one up, the rest down",
        "one down, the rest up",
        "half up, half down",
        "all up by one",
        "all down by one",
        "halves exchanged",
    }
    assert not added_or_removed(np.array([1, 2]), np.array([1, 3, 4]))


def test_a_familys_own_relation_filters_the_patterns() -> None:
    from subnormal.mechanisms.additive.family import LaplaceParameters

    parameters = LaplaceParameters(epsilon=1.0)
    adjacent = family("laplace").adjacent
    kept = neighbouring_inputs.among(input_patterns.vectors(1.0), lambda one, other: adjacent(parameters, one, other))
    assert {pair.name for pair in kept} == {"zeros against one", "one up", "one down", "least float"} | {
        "end of the floats' integers"
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: input_patterns.numbers(0), "step must be positive and finite, got 0"),
        (lambda: input_patterns.vectors(float("inf")), "step must be positive and finite, got inf"),
        (lambda: input_patterns.vectors(1, 1), "length must be at least 2, got 1"),
        (lambda: neighbouring_inputs.learn_attack(IGNORING, None, (), seed=1, runs=100), "pairs must not be empty"),
        (
            lambda: neighbouring_inputs.learn_attack(IGNORING, None, PAIRS, seed=1, runs=79),
            "runs must be at least 80 for 5 pairs",
        ),
    ],
)
def test_bad_input_is_named_with_its_value(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
