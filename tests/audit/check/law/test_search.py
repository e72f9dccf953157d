"""The stage of a check that follows the function's own code: what it convicts, and when it is silent."""

import math
import random
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.stats import laplace, norm

from subnormal import Claim, Verdict, add_or_remove, check, law, within
from subnormal.audit.check import document, words
from subnormal.audit.check.evidence import FollowedEvidence
from subnormal.audit.check.law import search as law_search
from subnormal.audit.check.score import Runs
from subnormal.audit.laws.comparison import Comparison, decide
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.targets.json_lines import TargetError


def respond(answer: int) -> int:
    return answer if random.random() < 0.75 else 1 - answer


def rare(secret: int) -> int:
    """Tells its input in one of a million runs, which runs do not see."""
    return 2 + secret if random.random() < 1e-6 else int(random.random() < 0.5)


def test_a_rare_outcome_of_one_input_is_proved() -> None:
    found = check(rare, st.integers(0, 1), within(1), Claim(1.0), seconds=120.0)
    assert found.verdict is Verdict.VIOLATED
    assert found.stage == "law"
    evidence = found.evidence["followed"]
    assert isinstance(evidence, FollowedEvidence)
    assert evidence.epsilon == math.inf
    assert sorted([evidence.event_in[0], evidence.event_out[0]]) == pytest.approx([0.0, 1e-6], rel=1e-6)
    assert "paths of the code" in words.evidence_words(evidence)
    assert '"followed"' in document.to_json(found)


def test_a_pair_is_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, a second proof of the pair that the search has found would not end in time."""
    seen = set[str]()

    def once(function: Any, data_in: Any, data_out: Any, claim: Claim, *, seconds: float) -> Comparison:
        pair = f"{data_in}, {data_out}"
        if pair in seen:
            raise NotFollowedError("the time is over")
        seen.add(pair)
        return decide(function, data_in, data_out, claim, seconds=seconds)

    monkeypatch.setattr(law_search, "decide", once)
    data = st.lists(st.integers(0, 1), min_size=1, max_size=1)
    found = check(lambda secret: rare(secret.pop()), data, within(1), Claim(1.0), seconds=120.0)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "law")


def test_a_pair_that_runs_choose_is_followed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours with the branch are few, and the search by laws meets none of them here; runs do not convict."""

    def branch(records: list[int]) -> int:
        return 2 if random.random() < (4e-6 if sum(records) > 3 else 1e-6) else int(random.random() < 0.5)

    monkeypatch.setattr(law_search, "PAIRS", 0)
    monkeypatch.setattr(Runs, "successive_halving", lambda self, pairs: [([1] * 4, [1] * 3)])
    found = check(branch, st.lists(st.integers(0, 1)), add_or_remove(), Claim(1.0), seconds=20.0)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "law")
    assert found.worlds == ([1] * 4, [1] * 3)


def test_what_runs_contradict_convicts_no_pair_that_they_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subnormal.audit.check.check.search_by_laws", lambda *_: None)
    monkeypatch.setattr(law_search, "follows", lambda *_: False)
    found = check(rare, pairs=[(0, 1)], claim=Claim(1.0), seconds=6.0, runs=2_000)
    assert found.verdict is not Verdict.VIOLATED


def test_one_input_may_draw_nothing() -> None:
    def counts(records: list[int]) -> dict[int, int]:
        return {one: 1 for one in records if random.random() < 0.01}

    found = check(counts, pairs=[([], [5])], claim=Claim(1.0, 0.009), seconds=60.0)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "law")


def test_floats_are_accused_by_their_cells() -> None:
    def noisy(count: float) -> float:
        return count + np.random.laplace(scale=0.5)

    found = check(noisy, pairs=[(0.0, 1.0)], claim=Claim(1.0), seconds=240.0)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "law")
    assert found.event is not None
    assert found.event["kind"] == "between"


def test_a_claim_that_is_kept_is_not_accused() -> None:
    def responds(answer: int) -> int:
        return answer if random.random() < math.e / (1 + math.e) else 1 - answer  # in floats, not exactly e^1

    found = check(responds, pairs=[(0, 1)], claim=Claim(1.0), seconds=20.0, runs=2_000)
    assert found.verdict is not Verdict.VIOLATED  # a loaded machine may leave too little time for the runs


def test_rounded_noise_whose_tail_ends_is_not_accused_for_it() -> None:
    def noisy(count: int) -> int:
        u = random.random() - 0.5
        return round(count - math.copysign(1.0, u) * math.log(1 - 2 * abs(u) or 2.0**-53))

    found = check(noisy, pairs=[(0, 1)], claim=Claim(1.0), seconds=4.0, runs=2_000)
    assert found.verdict is not Verdict.VIOLATED


def test_laws_that_runs_contradict_are_dropped() -> None:
    """A generator with a fixed seed is no uniform one."""

    def seeded(answer: int) -> int:
        return answer if random.Random(1).random() < 0.75 else 1 - answer

    found = check(seeded, pairs=[(0, 1)], claim=Claim(2.0), seconds=4.0, runs=2_000)
    assert found.stage != "law"


def test_a_function_that_also_draws_from_elsewhere_is_judged_by_runs() -> None:
    def mixed(answer: int) -> int:
        return respond(answer) if norm.rvs() < 99 else 0

    found = check(mixed, pairs=[(0, 1)], claim=Claim(1.0), seconds=10.0)
    assert found.stage != "law"
    assert found.verdict is Verdict.VIOLATED


def test_numpy_is_followed() -> None:
    def rare_in_numpy(answer: int) -> int:
        return 2 if np.random.random() < 1e-7 * answer else 0

    found = check(rare_in_numpy, pairs=[(0, 1)], claim=Claim(1.0), seconds=120.0)
    assert (found.stage, found.verdict) == ("law", Verdict.VIOLATED)


def test_scipy_is_followed() -> None:
    def rare_in_scipy(answer: int) -> int:
        return 2 if laplace.rvs(scale=0.06) > 1.0 - 0.1 * answer else 0

    found = check(rare_in_scipy, pairs=[(0, 1)], claim=Claim(1.0), seconds=120.0)
    assert (found.stage, found.verdict) == ("law", Verdict.VIOLATED)


def test_where_work_is_counted_no_law_is_followed() -> None:
    """A law takes as long as it takes: with examples, no time may decide."""
    found = check(rare, pairs=[(0, 1)], claim=Claim(1.0), examples=3, runs=2_000)
    assert found.stage == "runs"


def test_outcomes_agree_with_their_law_and_not_with_another() -> None:
    draw = random.Random(3)
    outcomes = [1 if draw.random() < 0.75 else 0 for _ in range(law_search.RUNS)]
    assert law_search.follows(outcomes, law(respond, 1).law, 1e-6)
    assert not law_search.follows(outcomes, law(respond, 0).law, 1e-6)
    assert not law_search.follows([2, *outcomes[1:]], law(respond, 1).law, 1e-6)


def test_evidence_that_runs_contradict_convicts_nobody() -> None:
    with patch.object(law_search, "follows", lambda *arguments: False):
        found = check(rare, pairs=[(0, 1)], claim=Claim(1.0), seconds=4.0, runs=2_000)
    assert found.verdict is not Verdict.VIOLATED


def test_a_count_agrees_up_to_luck() -> None:
    assert law_search.agrees(0, (0.0, 1e-6), 1e-6)
    assert not law_search.agrees(1_000, (0.0, 0.4), 1e-6)
    assert not law_search.agrees(1_000, (0.6, 0.7), 1e-6)
    assert law_search.agrees(1_000, (0.4, 0.5), 1e-6)


def test_the_score_of_a_pair_is_its_parts_times_the_kinds_of_its_outcomes() -> None:
    def outcomes(data: list[int], runs: int) -> list[tuple[str, float]]:
        return [(f"{place % (1 + sum(data))} more", random.random()) for place in range(runs)]

    any_check = Mock(function=Mock(outcomes=outcomes))
    assert law_search._branching(any_check, ([1, 1, 0, 0], [0, 1, 1, 1])) == 3 * (3 + 4)  # all numbers are of one kind


@pytest.mark.parametrize("verdict", [Verdict.UNRESOLVED, Verdict.HOLDS])
def test_many_pairs_have_a_short_time_and_those_with_the_best_score_a_long_one(
    verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for those that are proved to keep the claim. The first pair tells whether code is followed, in a long time
    where a short one does not. And the claim alone is followed, not what follows from it."""
    asked = list[tuple[Any, Any, Claim, float]]()

    def decided(function: Any, data_in: Any, data_out: Any, claim: Claim, *, seconds: float) -> Any:
        asked.append((data_in, data_out, claim, seconds / (law_search.SHARE * 160.0)))
        if len(asked) == 1:
            raise NotFollowedError("not followed: no path ended")
        return Mock(verdict=verdict, claim=claim, evidence=Mock(delta=0.0))

    def end(_: Any) -> None:
        raise TargetError("enough")

    monkeypatch.setattr(law_search, "decide", decided)
    monkeypatch.setattr(law_search, "PAIRS", 6)
    monkeypatch.setattr(law_search, "_branching", lambda _, pair: sum(pair[0]) + sum(pair[1]))
    monkeypatch.setattr("subnormal.audit.check.check.ReplaySearch", end)
    data = st.lists(st.integers(0, 5), max_size=4)
    check(lambda values: respond(len(values) % 2), data, within(1), Claim(2.0), seconds=160.0)
    assert {claim for _, _, claim, _ in asked} == {Claim(2.0 + law_search.LEAST, law_search.LEAST)}
    shares = [share for *_, share in asked]
    assert shares[:8] == pytest.approx([law_search.BRIEF, law_search.PAIR, *[law_search.BRIEF] * 6])
    assert max(shares[8:]) < 1 / 2
    assert min(shares[8:]) > law_search.PAIR
    pairs = [(one, other) for one, other, _, _ in asked]
    assert verdict is Verdict.UNRESOLVED or not [pair for pair in pairs[8:] if pair in pairs[2:8]]
    sums = [sum(one) + sum(other) for one, other in pairs[8:]]
    assert sums == sorted(sums, reverse=True)
    assert sums[0] > sums[-1]


def test_a_pair_is_not_followed_where_little_time_is_left() -> None:
    little = Mock(function=Mock(left=lambda: 1.4))
    with patch.object(law_search, "_may_be_followed") as asked:
        assert law_search.prove_by_laws(little, (0, 1)) is None
        asked.assert_not_called()
        little.function.left = lambda: 1.6
        asked.return_value = False
        assert law_search.prove_by_laws(little, (0, 1)) is None
        asked.assert_called_once()
