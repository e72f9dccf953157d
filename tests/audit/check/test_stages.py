"""The lines on which a verdict rests: which function is deterministic, what each pair spends, what is refuted."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, add_or_remove, check, within
from subnormal.attacks.core.events import OneOf
from subnormal.audit.check.first_calls import find_differing
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.judge import certain, judge
from subnormal.audit.check.refusals import find_two_kinds
from subnormal.audit.check.score import CONVICTING, Candidate, Runs
from subnormal.audit.check.state import Check
from subnormal.audit.evidence.sequential import evidence_of
from subnormal.audit.neighbours import relations
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts, State
from tests.support.checks import sequential_of

pytestmark = pytest.mark.usefixtures("own_clock")

CLAIM = Claim(1.0)
PAIR = [(0, 1)]


def begun(function: Callable[[Any], Any], strategy: Any, runs: int | None = None) -> Check:
    return Check(Function(function, "function"), strategy, lambda *_: CLAIM, 60.0, runs, 1e-6, 1, lambda _: None)


def refuted_at(state: State, needed: float, betting: int = 10**6) -> Verdict:
    of_the_test: dict[str, Any] = {"alpha": 1e-6, "runs_max": 10, "training": 0, "event": {}}
    return evidence_of(state, [(0, 0.0)], needed=needed, betting=betting, **of_the_test).verdict


def test_a_claim_is_refuted_from_the_wealth_that_is_needed_on() -> None:
    state = e_process.update(e_process.update(State(CLAIM), PairCounts(0, 64, 0, 0)), PairCounts(0, 64, 0, 0))
    wealth = state.log_e_value
    assert refuted_at(state, wealth) is Verdict.VIOLATED
    assert refuted_at(state, math.nextafter(wealth, math.inf)) is Verdict.NOT_REFUTED


def test_runs_that_could_just_have_refuted_are_not_underpowered() -> None:
    most = e_process.reachable(100, CLAIM)
    assert refuted_at(State(CLAIM), most, 100) is Verdict.NOT_REFUTED
    assert refuted_at(State(CLAIM), math.nextafter(most, math.inf), 100) is Verdict.UNDERPOWERED


def test_all_runs_that_bet_are_counted_and_no_others_bet() -> None:
    function = Function(lambda bit: bit, "function")
    evidence = judge(Runs(function, lambda *_: CLAIM, 1), (0, 1), certain(CLAIM, 0), 1e-300, 0, most=200)
    assert (evidence.runs, function.runs) == (200, 400)
    assert evidence.looks[:2] == ((0, 0.0), (64, 0.0))


def test_runs_begin_with_the_best_pairs_of_a_replay() -> None:
    check, seen = begun(abs, st.tuples(st.integers(0, 10**6), st.just(-1))), list[Any]()
    replayed = check.search("replay", lambda pair: float(pair[0]), 10.0, examples=40, climbs=True)

    def score(pair: Any) -> float:
        seen.append(pair)
        return 0.0

    check.search("runs", score, 10.0, examples=10)
    assert sorted(seen[:4]) == sorted(pair for _, pair in replayed.ranked[:4])
    assert len(seen) == 10


@pytest.mark.parametrize(("shares", "convicts"), [((0.015, 0.0), True), ((0.5, 0.2), False)])
def test_a_look_goes_on_as_long_as_the_best_bet_would_have_won(shares: tuple[float, float], convicts: bool) -> None:
    runs = Runs(Function(lambda share: random.random() < share, "function"), lambda *_: CLAIM, 1)
    event = Candidate(CLAIM, OneOf((True,)), 0.0)
    with isolated(1):
        states = [runs.wealth(shares, [event], 1024, 1 << 20)[0] for _ in range(20)]
    found = [state for state in states if state.log_e_value >= CONVICTING]
    assert len(found) >= 17 if convicts else not found  # each with a probability of 0.98; of at most 1e-6
    assert convicts or sum(state.seen.runs > 1024 for state in states) <= 2


def test_a_function_with_rare_outcomes_is_not_deterministic() -> None:
    with isolated(1):
        check = begun(lambda bit: bit if random.random() < 0.95 else random.random(), st.just((0, 1)))
        assert find_differing(check) is None


def test_outcomes_that_differ_once_do_not_differ() -> None:
    calls: list[int] = []

    def function(bit: int) -> bool:
        calls.append(bit)
        return len(calls) == 1  # it warms up

    with isolated(1):
        assert find_differing(begun(function, st.just((0, 1)))) is None
    assert len(calls) == 202


def test_one_other_outcome_among_the_runs_that_judge_is_no_certainty() -> None:
    calls: list[int] = []

    def function(bit: int) -> int:
        calls.append(bit)
        return 1 - bit if len(calls) == 260 else bit

    found = check(function, pairs=PAIR, claim=CLAIM, seconds=20)
    assert (found.verdict, set(found.evidence)) == (Verdict.VIOLATED, {"sequential"})


def test_a_part_without_noise_is_found_by_its_replay_and_judged_by_runs() -> None:
    found = check(
        lambda one: [one + random.gauss(0, 50.0), one], pairs=[(0.0, 1.0)], claim=Claim(1.0, 1e-5), seconds=20
    )
    assert (found.verdict, found.stage, set(found.evidence)) == (Verdict.VIOLATED, "runs", {"sequential"})


@pytest.mark.parametrize(("even", "distance", "found"), [(False, 1, {314, 315}), (True, 2, {314, 316})])
def test_neighbours_of_two_kinds_lie_in_the_domain(even: bool, distance: int, found: set[int]) -> None:
    def function(number: int) -> int:
        if number > 314:
            raise OverflowError
        return 0

    data, relation = st.integers(0, 1_000).filter(lambda number: not even or number % 2 == 0), within(distance)
    with isolated(1):
        crossings = find_two_kinds(begun(function, relation.pairs(data)), data, relation)
    assert list(map(set, crossings)) == [found]


def test_neighbours_with_noise_of_two_scales_are_found() -> None:
    def function(records: list[int]) -> float:
        return len(records) + random.gauss(0.0, 1.0 if sum(records) < 1_000 else 0.5)

    data, relation = st.lists(st.integers(0, 99)), add_or_remove()
    with isolated(1):
        crossings = find_two_kinds(begun(function, relation.pairs(data)), data, relation)
    assert [sorted(sum(records) < 1_000 for records in pair) for pair in crossings] == [[False, True]]


def test_no_note_of_a_few_runs_speaks_against_those_that_judge() -> None:
    """A few of them are alike: 128 of such runs are so with a chance of 97 %."""

    def seldom(_: int) -> int | None:
        return 1 if random.random() < 1 / 5_000 else None

    result = check(seldom, pairs=PAIR, claim=CLAIM, seconds=20, runs=20_000)
    assert result.verdict is Verdict.NOT_REFUTED
    evidence = sequential_of(result)
    assert 0 < evidence.event_in + evidence.event_out < 2 * evidence.runs
    assert result.notes == ()


def test_the_error_of_a_violation_is_named() -> None:
    def noisy_mean(records: list[float]) -> float:
        return sum(records) / len(records) + random.gauss(0.0, 9.0)

    result = check(noisy_mean, pairs=[([1.0], [])], claim=CLAIM, seconds=20)
    assert result.event == {"kind": "refuses", "portable": True}
    assert "the error is 'ZeroDivisionError: division by zero'" in result.notes


@pytest.mark.parametrize(
    ("generator", "seed"),
    [
        (np.random.default_rng(0), "the seed 0"),
        (np.random.default_rng([1, 2]), r"the seed \[1, 2\]"),
        (np.random.RandomState(5), "a seed"),
        (np.random.default_rng(), None),
        (np.random.RandomState(), None),
        (np.random, None),
        (random, None),
    ],
    ids=range(7),
)
def test_noise_that_is_the_same_in_every_process_is_named(generator: Any, seed: str | None) -> None:
    draw = generator.random
    found = check(lambda bit: bit if draw() < 0.6 else 1 - bit, pairs=PAIR, claim=CLAIM, seconds=1, runs=256)
    assert found.verdict is not Verdict.VIOLATED
    notes = [note for note in found.notes if "the noise is the same in every process" in note]
    assert len(notes) == (seed is not None)
    assert seed is None or re.search(rf"that was made from {seed}: where that is fixed", notes[0])


def test_an_error_is_named_whatever_the_event_is() -> None:
    """That of a part that is missing says nothing of why it is."""

    def release(bit: int) -> list[float]:
        if bit and random.random() < 0.3:
            raise LookupError("too few records")
        return [random.gauss(0.0, 1.0), random.gauss(0.0, 1.0)]

    result = check(release, pairs=PAIR, claim=Claim(0.01), seconds=20)
    assert result.verdict is Verdict.VIOLATED
    assert any("LookupError: too few records" in note for note in result.notes)


def test_a_kind_of_noise_that_depends_on_the_data_is_one_note_of_the_shown_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("subnormal.audit.check.check.find_two_kinds", lambda *_: [])  # runs would judge these first

    def noisy_sum(records: list[int]) -> float:
        return (sum(records) if len(records) > 1 else 0) + random.gauss(0.0, 0.3 * (1 + len(records)))

    result = check(noisy_sum, st.lists(st.integers(0, 9)), relations.add_or_remove(), Claim(1.0, 1e-6), seconds=4)
    assert result.stage == "replay"
    (note,) = result.notes
    scales = [f"{0.3 * (1 + len(records)):g}" for records in result.worlds or ()]
    assert re.fullmatch(rf"the scale of random\.gauss .*: {scales[0]} at \S+, {scales[1]} at \S+", note)
