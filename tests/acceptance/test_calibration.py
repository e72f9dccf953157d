"""The auditor is audited: sound mechanisms are accused no more often than α, broken ones are found.

False-alarm rate of each test on sound code: at most ALPHA, the tail beyond the binomial quantile used.
"""

import pytest
from scipy import stats

from subnormal import Claim, Verdict
from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.core.mechanism import AnyMechanism
from tests.support.rows import distinguish, until_decided
from tests.support.synthetic import attack_on_one_bit, attack_that_misses, leaking, randomized_response, spread_response

pytestmark = pytest.mark.usefixtures("families_of_tests")

ALPHA = 1e-6
SEEDS = 300
RUNS = 2_000

ONE_BIT, MISSED = attack_on_one_bit(), attack_that_misses()

SOUND_AND_TIGHT = [
    randomized_response("tight-at-one", 1.0, Claim(1.0)),
    randomized_response("tight-at-a-tenth", 0.1, Claim(0.1)),
    randomized_response("tight-at-zero", 0.0, Claim(0.0)),
    leaking("tight-delta", 0.01, Claim(0.0, 0.01)),
]


SOUND_AND_AS_FAR_APART_AS_ALLOWED = [
    spread_response("apart-at-one", 1.0, Claim(1.0)),
    spread_response("apart-at-zero", 0.0, Claim(0.0)),
]


def accusations(mechanism: AnyMechanism, alpha: float, attack: AnyAttack = ONE_BIT) -> int:
    found = (distinguish(mechanism, attack, seed=seed, runs=RUNS, alpha=alpha) for seed in range(SEEDS))
    return sum(evidence.verdict is Verdict.VIOLATED for evidence in found)


@pytest.mark.parametrize("mechanism", SOUND_AND_TIGHT, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_sound_mechanisms_are_accused_no_more_often_than_alpha(mechanism: AnyMechanism, alpha: float) -> None:
    assert accusations(mechanism, alpha) <= stats.binom.ppf(1 - ALPHA, SEEDS, alpha)


@pytest.mark.parametrize("mechanism", SOUND_AND_AS_FAR_APART_AS_ALLOWED, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_worlds_as_far_apart_as_the_claim_allows_are_accused_no_more_often_than_alpha(
    mechanism: AnyMechanism, alpha: float
) -> None:
    assert accusations(mechanism, alpha, MISSED) <= stats.binom.ppf(1 - ALPHA, SEEDS, alpha)


def test_worlds_too_far_apart_are_found_every_time_by_their_distance() -> None:
    # At ε = 1.5 the distance is 0.635, and 0.462 is allowed: eight standard deviations beyond the margin of 0.071.
    assert accusations(spread_response("too-far-apart", 1.5, Claim(1.0)), 0.05, MISSED) == SEEDS


@pytest.mark.parametrize(
    "mechanism",
    [
        randomized_response("half-again", 1.5, Claim(1.0)),  # 0.818 against a tight 0.731
        leaking("ten-times-delta", 0.1, Claim(0.0, 0.01)),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_broken_mechanisms_are_found_every_time(mechanism: AnyMechanism) -> None:
    # Both lie more than seven standard deviations beyond what the intervals at α = 0.05 forgive.
    assert accusations(mechanism, 0.05) == SEEDS


def test_the_calibration_itself_would_notice_intervals_that_are_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    exact_interval = binomial.clopper_pearson
    monkeypatch.setattr(
        binomial, "clopper_pearson", lambda count, runs, tail: exact_interval(count, runs, min(0.5, 72 * tail))
    )
    assert accusations(SOUND_AND_TIGHT[1], 0.05) > stats.binom.ppf(1 - ALPHA, SEEDS, 0.05)


def test_the_calibration_itself_would_notice_a_margin_that_is_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    margin = binomial.dkw_margin
    monkeypatch.setattr(binomial, "dkw_margin", lambda runs, alpha: margin(runs, alpha) / 3)
    equal = SOUND_AND_AS_FAR_APART_AS_ALLOWED[1]
    assert accusations(equal, 0.05, MISSED) > stats.binom.ppf(1 - ALPHA, SEEDS, 0.05)


def stopped(mechanism: AnyMechanism, seeds: int) -> int:
    """Return how often a look after every batch, at most 12 of them, ends in an accusation at α = 0.05."""
    found = (
        until_decided(mechanism, attack_on_one_bit(), seed=seed, runs=1_200, alpha=0.05, batch=128)
        for seed in range(seeds)
    )
    return sum(evidence.verdict is Verdict.VIOLATED for evidence in found)


@pytest.mark.parametrize("mechanism", SOUND_AND_TIGHT, ids=lambda mechanism: mechanism.name)
def test_looking_after_every_batch_accuses_no_more_often_than_alpha(mechanism: AnyMechanism) -> None:
    assert stopped(mechanism, 200) <= stats.binom.ppf(1 - ALPHA, 200, 0.05)
