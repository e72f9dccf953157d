"""What a report says in words: one verdict a row, how it is known, and never more than the evidence shows."""

import dataclasses
import itertools
from typing import Literal

import pytest

from subnormal.audit.model import ExactEvidence, KolmogorovSmirnov, Row, SampledEvidence, Verdict
from subnormal.audit.report import sentences
from subnormal.audit.text import percent
from subnormal.mechanisms.privacy import Claim
from tests.support.rows import blank_row

EMPTY = blank_row(Claim(1.0))
REASSURING = ("is private", "is safe", "is secure", "passed", "no leak", "resists")


def exact(verdict: Verdict) -> ExactEvidence:
    within = None if verdict is Verdict.VIOLATED else 1e-9
    return ExactEvidence(verdict, 2.0, 0.25, within, 0.5, 0.5, (0.1, 0.1), (0.6, 0.6), verdict)


def sampled(verdict: Verdict, runs: int = 1_000, by: Literal["event", "distance"] = "event") -> SampledEvidence:
    distance = KolmogorovSmirnov(0.5, 0.46, 0.01)
    shown = (0.09, 0.11), (0.5, 0.6), (0.4, 0.5)
    convicted_by = by if verdict == "VIOLATED" else None
    return SampledEvidence(verdict, runs, 0.95, 1.5, *shown, distance, None, convicted_by=convicted_by)


def row(proved: Verdict | None = None, seen: Verdict | None = None) -> Row:
    return dataclasses.replace(
        EMPTY, exact=None if proved is None else exact(proved), sampled=None if seen is None else sampled(seen)
    )


PROOFS = (None, Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED)
SAMPLES = (None, Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
CROSSED = list(itertools.product(PROOFS, SAMPLES))


@pytest.mark.parametrize(("proved", "seen"), CROSSED)
def test_a_row_has_one_verdict_and_it_is_one_of_its_kinds_of_evidence(
    proved: Verdict | None, seen: Verdict | None
) -> None:
    one = row(proved, seen)
    verdict = sentences.verdict(one)
    assert verdict in sentences.SEVERITY
    if one.violated:
        assert verdict == "VIOLATED"
    elif proved is not None:
        assert verdict == proved
    elif seen is not None:
        assert verdict == seen
    assert all(one.evidence[kind].verdict == verdict for kind in sentences.kinds(one))
    assert (sentences.known(one) == "–") == (proved is None and seen is None)


@pytest.mark.parametrize(("proved", "seen"), CROSSED)
def test_no_words_reassure(proved: Verdict | None, seen: Verdict | None) -> None:
    told = " ".join(sentences.says(row(proved, seen)))
    assert not any(word in told for word in REASSURING)
    if proved is Verdict.HOLDS:
        assert "Not shown: any other pair of worlds" in told
    if seen is Verdict.NOT_REFUTED:
        assert "no evidence of privacy" in told
    if seen is Verdict.UNDERPOWERED:
        assert ("The exact law decides" in told) == (proved in (Verdict.HOLDS, Verdict.VIOLATED))
    assert ("contradict each other" in told) == (proved is Verdict.HOLDS and seen is Verdict.VIOLATED)


@pytest.mark.parametrize(("proved", "seen"), CROSSED)
def test_what_decides_is_said_without_what_does_not(proved: Verdict | None, seen: Verdict | None) -> None:
    one = row(proved, seen)
    told = sentences.decides(one)
    assert [paragraph for paragraph in sentences.says(one) if paragraph in told] == told != []
    for kind, evidence in one.evidence.items():
        alone = sentences.says(one, [kind])[0]
        assert (alone in told) == (evidence.verdict is one.verdict)


def test_runs_say_which_of_their_two_tests_convicts() -> None:
    by_event, by_distance = (
        sentences.says(dataclasses.replace(EMPTY, sampled=sampled(Verdict.VIOLATED, by=by)))[0]
        for by in ("event", "distance")
    )
    assert "show the event with a probability in [0.09, 0.11] in one world" in by_event
    assert "distance" not in by_event
    assert "differ more than ε = 1 allows, though not by the event: the distance" in by_distance
    assert "is at least 0.49, and 0.46 is allowed" in by_distance


def test_an_error_is_the_verdict_and_says_nothing_of_the_claim() -> None:
    failed = dataclasses.replace(EMPTY, error="ValueError: bad")
    assert sentences.verdict(failed) == "ERROR"
    assert sentences.says(failed) == ["The row has an error, so there is no verdict on this claim: ValueError: bad"]


def test_too_few_runs_say_how_many_it_takes() -> None:
    few = dataclasses.replace(EMPTY, sampled=sampled(Verdict.UNDERPOWERED, 10))
    assert sentences.runs_needed(few) == 17  # half of α is the event's: (0.025/4)^(1/n) > e/(1 + e)
    assert "that takes at least 17 runs of each world" in " ".join(sentences.says(few))
    never = dataclasses.replace(few, claim=Claim(37.0))
    assert sentences.runs_needed(never) is None
    assert "no affordable number would be enough" in " ".join(sentences.says(never))


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 0.05 / 178, 1e-12])
def test_no_confidence_is_rounded_up_to_certainty(alpha: float) -> None:
    told = float(percent(1 - alpha).removesuffix("\u00a0%"))
    assert told < 100
    assert 99.9 * alpha <= 100 - told <= 150 * alpha  # down, if at all


@pytest.mark.parametrize(("proved", "seen"), [one for one in CROSSED if one != (None, None)])
def test_a_side_channel_breaks_no_claim_about_outcomes(proved: Verdict | None, seen: Verdict | None) -> None:
    told = sentences.says(dataclasses.replace(row(proved, seen), channel="tries"))
    assert "A claim about outcomes alone says nothing about tries, and is not violated by it." in told[-1]
    assert not any("outcomes alone" in paragraph for paragraph in sentences.says(row(proved, seen)))


def test_a_row_says_where_its_own_event_is_not_what_convicts() -> None:
    proved = exact(Verdict.VIOLATED)
    of_event = {
        verdict: sentences.says(dataclasses.replace(EMPTY, exact=dataclasses.replace(proved, event_verdict=verdict)))[0]
        for verdict in (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED, None)
    }
    assert "Other outcomes show it: the event that this attacker looks for" in of_event[Verdict.HOLDS]
    assert "the bounds do not decide" in of_event[Verdict.UNRESOLVED]
    assert of_event[Verdict.VIOLATED] == of_event[None]
    assert "event" not in of_event[None]


def test_what_bounds_leave_open_is_said() -> None:
    open_still = row(Verdict.HOLDS)
    closed = dataclasses.replace(open_still, exact=dataclasses.replace(exact(Verdict.HOLDS), within=0.0))
    assert "no event violates ε = 1, up to a δ of 1e-09 that the bounds leave open." in sentences.says(open_still)[0]
    assert "no event violates ε = 1. " in sentences.says(closed)[0]
