"""How much a silence is worth: the least losses that the runs of a test would have shown."""

import math
from dataclasses import replace

import numpy as np
import pytest

from subnormal import Claim, check
from subnormal.audit.check.detectable import Detectable, detectable
from subnormal.audit.check.result import Result
from subnormal.audit.evidence.sequential import FIRST, SLACK
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts, State

ALPHA, CLAIM = 1e-6, Claim(1.0, 1e-3)


def result(runs: int, share: float, verdict: Verdict = Verdict.NOT_REFUTED) -> Result:
    counts = round(share * runs), round(share * runs / math.e)
    evidence = SequentialEvidence(verdict, runs, runs, 100, ALPHA, 0.0, {}, *counts, ((0, 0.0), (runs, 0.0)))
    shown = {"sequential": evidence}
    return Result(verdict, "f", CLAIM, CLAIM, "runs", ([1], []), None, shown, None, (), 1, runs, 1.0, 1)


def of(runs: int, share: float) -> Detectable:
    found = detectable(result(runs, share))
    assert found is not None
    return found


def share_convicted(shares: tuple[float, float], runs: int, tests: int) -> float:
    """Return the share of tests of fresh runs that refute the claim, of an event with these probabilities."""
    rng, convicted = np.random.default_rng(5), 0
    needed = -math.log(ALPHA) + SLACK
    for _ in range(tests):
        state, size, left = State(CLAIM), FIRST, runs
        while left > 0 and state.log_e_value < needed:
            size = min(size, left)
            one, other = (rng.random(size) < share for share in shares)
            both = int((one & other).sum())
            only_in, only_out = int(one.sum()) - both, int(other.sum()) - both
            state = e_process.update(state, PairCounts(both, only_in, only_out, size - both - only_in - only_out))
            size, left = state.seen.runs, left - size
        convicted += state.log_e_value >= needed
    return convicted / tests


def test_the_wealth_that_a_test_begins_with_counts() -> None:
    def least(start: float) -> float:
        one = result(4_096, 0.2)
        evidence = one.evidence["sequential"]
        assert isinstance(evidence, SequentialEvidence)
        begun = replace(evidence, looks=((0, start), (4_096, 0.0)))
        found = detectable(replace(one, evidence={"sequential": begun}))
        assert found is not None
        return found.by_event

    assert least(0.0) < least(-math.log(2)) < least(-5.0)


@pytest.mark.parametrize(("runs", "share"), [(1_000, 0.5), (4_096, 0.05), (20_000, 0.3)])
def test_nearly_all_tests_show_that_loss_and_few_show_one_well_below(runs: int, share: float) -> None:
    loss = of(runs, share).by_event
    assert loss > CLAIM.epsilon

    def at(factor: float) -> tuple[float, float]:
        beyond = CLAIM.epsilon + factor * (loss - CLAIM.epsilon)
        return share, (share - CLAIM.delta) * math.exp(-beyond)

    assert share_convicted(at(0.3), runs, 60) <= 0.2
    assert share_convicted(at(1.0), runs, 60) >= 0.95


def test_more_runs_show_less_and_a_rare_event_shows_less_than_the_best() -> None:
    few, many = of(247, 0.3), of(90_000, 0.3)
    assert CLAIM.epsilon < many.by_best_event <= many.by_event < few.by_event
    assert of(90_000, 1e-3).by_event > many.by_event
    assert of(64, 0.5) == Detectable(math.inf, math.inf)
    assert str(of(64, 0.5)) == "no loss at all, because they are too few"


def test_a_violation_has_none() -> None:
    assert detectable(result(500, 0.5, Verdict.VIOLATED)) is None


@pytest.mark.usefixtures("own_clock")
def test_a_check_says_it_of_its_pair() -> None:
    def fair(record: int) -> bool:
        return bool(np.random.random() < 0.5)

    found = check(fair, pairs=[(0, 1)], claim=Claim(1.0), seconds=1.0, runs=2_000)
    assert found.verdict is Verdict.NOT_REFUTED
    assert found.detectable is not None
    assert "would have shown" in " ".join(str(found).split())
