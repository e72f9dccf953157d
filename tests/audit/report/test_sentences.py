"""What a report says in words: one verdict a row, how it is known, and never more than the evidence shows.

The golden files of `every_row` have the words of each kind of evidence and verdict.
"""

import dataclasses
import itertools

import pytest

from subnormal.audit.model import Verdict
from subnormal.audit.report import sentences
from subnormal.audit.text import percent
from subnormal.mechanisms.privacy import Claim
from tests.audit.report.every_row import PROOFS, SAMPLES, UNDERPOWERED, exact, row_of, sampled

REASSURING = ("is private", "is safe", "is secure", "passed", "no leak", "resists")


@pytest.mark.parametrize(("proved", "seen"), list(itertools.product(PROOFS, SAMPLES)))
def test_a_row_has_one_verdict_and_no_words_reassure(proved: Verdict | None, seen: Verdict | None) -> None:
    one = row_of(exact=proved and exact(proved, 3.0), sampled=seen and sampled(seen))
    verdict = sentences.verdict(one)
    assert verdict == ("VIOLATED" if one.violated else proved or seen or "UNRESOLVED")
    assert verdict in sentences.SEVERITY
    assert all(one.evidence[kind].verdict == verdict for kind in sentences.kinds(one))
    assert (sentences.known(one) == "–") == (proved is None and seen is None)
    paragraphs, decides = sentences.says(one), sentences.decides(one)
    told = " ".join(paragraphs)
    assert not any(word in told for word in REASSURING)
    assert ("Not shown: any other pair of worlds" in told) == (proved is Verdict.HOLDS)
    assert seen is not Verdict.NOT_REFUTED or "no evidence of privacy" in told
    assert ("contradict each other" in told) == (proved is Verdict.HOLDS and seen is Verdict.VIOLATED)
    assert [paragraph for paragraph in paragraphs if paragraph in decides] == decides != []
    for kind, evidence in one.evidence.items():
        assert (sentences.says(one, [kind])[0] in decides) == (evidence.verdict is one.verdict)
    if proved or seen:
        beside = sentences.says(dataclasses.replace(one, channel="tries"))
        assert "A claim about outcomes alone says nothing about tries, and is not violated by it." in beside[-1]
        assert "outcomes alone" not in told


def test_too_few_runs_say_how_many_it_takes() -> None:
    few = row_of(sampled=sampled(UNDERPOWERED, runs=10))
    assert sentences.runs_needed(few) == 17  # half of α is the event's: (0.025/4)^(1/n) > e/(1 + e)
    assert sentences.runs_needed(dataclasses.replace(few, claim=Claim(37.0))) is None


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 0.05 / 178, 1e-12])
def test_no_confidence_is_rounded_up_to_certainty(alpha: float) -> None:
    told = float(percent(1 - alpha).removesuffix("\u00a0%"))
    assert told < 100
    assert 99.9 * alpha <= 100 - told <= 150 * alpha  # down, if at all
