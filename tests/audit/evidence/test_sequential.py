"""The e-process: fair by exhaustion, quick where the claim is broken, blind to workers."""

import dataclasses
import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.core.attack import Attack
from subnormal.audit.evidence import sequential
from subnormal.audit.evidence.sequential import SequentialTest
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts, State
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim
from tests.support.rows import until_decided
from tests.support.synthetic import attack_on_one_bit, leaking, randomized_response
from tests.support.textbook import BROKEN, IGNORING

pytestmark = pytest.mark.usefixtures("families_of_tests")


AnyMechanism = Mechanism[Any, Any, Any]


def run(mechanism: AnyMechanism, **options: Any) -> SequentialEvidence:
    return until_decided(mechanism, attack_on_one_bit(), **options)


def truth(epsilon: float) -> float:
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def counts_of(pairs: list[tuple[int, int]]) -> PairCounts:
    return PairCounts(*(pairs.count(pair) for pair in ((1, 1), (1, 0), (0, 1), (0, 0))))


@pytest.mark.parametrize(
    ("claim", "shares"),
    [
        (Claim(1.0), (truth(1.0), 1 - truth(1.0))),
        (Claim(0.1), (0.3, 0.3)),
        (Claim(0.0, 0.25), (0.25, 0.0)),
        (Claim(0.5, 0.1), (0.1 + 0.3 * math.exp(0.5), 0.3)),
        (Claim(800.0), (1.0, 0.0)),
    ],
)
def test_no_bet_has_an_expectation_above_one_under_the_claim(claim: Claim, shares: tuple[float, float]) -> None:
    """Every outcome of four batches of two pairs, with the bets that the earlier batches lead to: 10^4 histories."""
    batches: dict[PairCounts, float] = {}
    for pairs in itertools.product(((1, 1), (1, 0), (0, 1), (0, 0)), repeat=2):
        chance = math.prod(
            share if happened else 1 - share for pair in pairs for happened, share in zip(pair, shares, strict=True)
        )
        counted = counts_of(list(pairs))
        batches[counted] = batches.get(counted, 0.0) + chance
    histories = [(1.0, State(claim))]
    for _ in range(4):
        histories = [
            (chance * more, e_process.update(state, counted))
            for chance, state in histories
            for counted, more in batches.items()
            if chance * more > 0
        ]
    for bet in range(4):
        assert sum(chance * math.exp(state.log_wealth[bet]) for chance, state in histories) <= 1 + 1e-12
    assert sum(chance for chance, _ in histories) == pytest.approx(1)


def test_wealth_is_the_product_over_the_pairs_in_any_order() -> None:
    claim = Claim(0.7, 0.05)
    first, rng = PairCounts(30, 25, 4, 11), random.Random(1)
    state = e_process.update(State(claim), first)
    assert state.log_wealth == (0, 0, 0, 0)  # nothing was known when it was bet upon
    pairs = [(rng.randrange(2), rng.randrange(2)) for _ in range(100)]
    after = e_process.update(state, counts_of(pairs))
    cost = math.exp(claim.epsilon)
    for bet, flip, swap in ((0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)):
        wealth = 1.0
        for pair in pairs:
            one, other = (happened ^ flip for happened in (reversed(pair) if swap else pair))
            wealth *= 1 + state.bets[bet] * (one - cost * other - claim.delta)
        assert math.exp(after.log_wealth[bet]) == pytest.approx(wealth, rel=1e-9)
        assert 0 <= after.bets[bet] < 1 / (cost + claim.delta)
    mean = sum(map(math.exp, after.log_wealth)) / 4
    assert after.log_e_value == pytest.approx(math.log(mean))


def test_the_bet_is_the_one_that_would_have_grown_the_most() -> None:
    state = e_process.update(State(Claim(1.0)), PairCounts(10, 60, 5, 25))
    smoothed = (10.5, 60.5, 5.5, 25.5)
    gains = (1 - math.e, 1.0, -math.e, 0.0)

    def growth(bet: float) -> float:
        return sum(count * math.log1p(bet * gain) for count, gain in zip(smoothed, gains, strict=True))

    grid = np.linspace(0, 1 / math.e, 10_000, endpoint=False)
    assert state.bets[0] == pytest.approx(grid[np.argmax([growth(bet) for bet in grid])], abs=1e-4)
    assert state.bets[0] > 0
    assert state.bets[1] == 0


@pytest.mark.parametrize(
    "mechanism",
    [randomized_response("half-again", 1.5, Claim(1.0)), leaking("ten-times-delta", 0.1, Claim(0.0, 0.01))],
    ids=lambda mechanism: mechanism.name,
)
def test_broken_mechanisms_stop_long_before_a_test_of_fixed_size_would(mechanism: AnyMechanism) -> None:
    """Every seed is decided, and most stop at a hundredth of the default number of runs."""
    found = [run(mechanism, seed=seed, runs=100_000, batch=256) for seed in range(30)]
    assert all(evidence.verdict is Verdict.VIOLATED for evidence in found)
    assert sorted(evidence.runs for evidence in found)[15] <= 1_000
    assert all(evidence.log_e_value >= math.log(20) for evidence in found)


def test_a_sound_mechanism_is_not_refuted_and_uses_every_run() -> None:
    evidence = run(randomized_response("sound", 0.5, Claim(1.0)))
    assert evidence.verdict is Verdict.NOT_REFUTED
    assert evidence.runs == evidence.runs_max == 20_000
    assert evidence.training == 0


def test_too_few_runs_are_underpowered() -> None:
    """With λ at its end a run of a perfect distinguisher at ε = 1 multiplies wealth by 1 + 1/e; two of four bets win.

    ln 20 + ln 2 = 3.69 are needed, and a run gives 0.313: 12 runs, after the first 64.
    """
    perfect = randomized_response("perfect", 50.0, Claim(1.0))
    assert run(randomized_response("sound", 0.5, Claim(1.0)), runs=64 + 11).verdict is Verdict.UNDERPOWERED
    assert run(randomized_response("sound", 0.5, Claim(1.0)), runs=64 + 12).verdict is Verdict.NOT_REFUTED
    assert run(perfect, runs=64 + 16).verdict is Verdict.VIOLATED
    assert run(randomized_response("vast", 0.5, Claim(900.0))).verdict is Verdict.UNDERPOWERED
    assert run(randomized_response("all", 0.5, Claim(0.0, 1.0))).verdict is Verdict.UNDERPOWERED


def test_the_result_does_not_depend_on_who_counted_which_batch_first() -> None:
    mechanism, attack = randomized_response("half-again", 1.2, Claim(1.0)), attack_on_one_bit()
    evidence = run(mechanism, runs=3_000, batch=500, alpha=1e-300)
    sizes = list(enumerate(sequential.batches(3_000, 500)))
    random.Random(1).shuffle(sizes)
    counted = {number: sequential.count_pairs(mechanism, attack, 1, number, size) for number, size in sizes}
    state = State(Claim(1.0))
    for number in sorted(counted):
        state = e_process.update(state, counted[number])
    assert state.log_e_value == evidence.log_e_value
    assert state.seen.runs == evidence.runs == 3_000


def test_the_running_value_is_shown_after_every_batch() -> None:
    mechanism, attack = randomized_response("sound", 0.5, Claim(1.0)), attack_on_one_bit()
    evidence = run(mechanism, runs=1_000, batch=256)
    shown, looks = [], SequentialTest(Claim(1.0), attack, 0.05, (1_000, 0, 256))
    for number, size in looks.todo():
        looks.add([(number, size)], [sequential.count_pairs(mechanism, attack, 1, number, size)])
        shown.append(looks.evidence)
    assert [one.runs for one in shown] == [64, 128, 256, 512, 768, 1_000]
    assert evidence == shown[-1]
    assert evidence.looks == ((0, 0.0), *((one.runs, one.log_e_value) for one in shown))
    assert evidence.event_in + evidence.event_out > 0


@pytest.mark.parametrize("mechanism", [BROKEN[0], BROKEN[4]], ids=lambda mechanism: mechanism.name)
def test_an_event_is_learned_on_runs_of_its_own(mechanism: AnyMechanism) -> None:
    worlds = np.array([1]), np.array([], dtype=np.int64)
    one_bit: Attack[Any, None, Any] = attack_on_one_bit()
    attack = dataclasses.replace(one_bit, family="textbook", event=None, worlds=lambda: worlds)
    evidence = until_decided(mechanism, attack, runs=40_000, alpha=1e-6)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.training == 5_000
    assert evidence.runs < 10_000
    ignored = until_decided(IGNORING, attack, runs=8_000)
    assert ignored.verdict is Verdict.NOT_REFUTED
    assert ignored.runs + ignored.training == 8_000


def test_an_alpha_that_is_no_share_is_named_with_its_value() -> None:
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1, got 0\.0"):
        run(randomized_response("sound", 0.5, Claim(1.0)), alpha=0.0)


def test_bets_are_made_on_all_batches_so_far() -> None:
    first, second = PairCounts(10, 400, 5, 9), PairCounts(50, 300, 20, 38)
    one_by_one = e_process.update(e_process.update(State(Claim(0.5)), first), second)
    assert one_by_one.bets == e_process.update(State(Claim(0.5)), first + second).bets
    assert max(one_by_one.bets) > 0


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0, 300.0])
def test_the_factor_of_a_loss_is_no_less_than_the_claim_says(epsilon: float) -> None:
    factors: Any = e_process._factors(Claim(epsilon))
    assert Fraction(-factors[2]) >= exp_bounds(Fraction(epsilon), 200)[1]
    assert factors[2] == pytest.approx(-math.exp(epsilon), rel=1e-15)


def test_the_bets_on_the_complement_are_those_on_the_event_with_the_worlds_kept() -> None:
    counts, complement = PairCounts(1, 20, 300, 4_000), PairCounts(4_000, 300, 20, 1)
    assert counts.of_bets() == (complement.of_bets()[2:] + complement.of_bets()[:2])
    assert counts.of_bets()[0] == (1, 20, 300, 4_000)
    assert len(set(counts.of_bets())) == 4
