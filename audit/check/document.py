"""The result of a check as check.json. The form of the document and its schema follow from the dataclasses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from subnormal.attacks.core.event_words import in_words
from subnormal.audit.check import words
from subnormal.audit.check.result import ModelledEvidence, Result, Stage
from subnormal.audit.model import OF_RUNS, ExactEvidence, SequentialEvidence, Verdict
from subnormal.audit.report.form import plain
from subnormal.mechanisms.privacy import Claim, Range

SCHEMA = "subnormal/check/1"

Count = Annotated[int, Range(0)]


class EventKeys(TypedDict):
    """The keys that every event has; its kind says which others.

    portable: whether another language can evaluate it without this project's arithmetic.
    words: the event in a sentence.
    """

    kind: str
    portable: bool
    words: str


@dataclass(frozen=True, slots=True)
class Worlds:
    """The two inputs as Python expressions, shortened where they are long."""

    in_: str
    out: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence by its kind; null where there is none."""

    exact: ExactEvidence | None
    modelled: ModelledEvidence | None
    sequential: SequentialEvidence | None


@dataclass(frozen=True, slots=True)
class Document:
    """The result of a check, version 1.

    function: its name.
    claim: as it was made, in words.
    verdict: VIOLATED, NOT REFUTED or UNDERPOWERED; null where there is an error.
    point: the (ε, δ) that the claim implies and that was judged.
    stage: the one that decided.
    worlds: the two inputs that the verdict is about; null where no pair was judged.
    event: what the attacker looks for; null without one.
    error: why there is no verdict.
    notes: what a reader of the verdict has to know.
    pairs: that were tried.
    runs: of the function, in all.
    seconds: that the check took.
    test: a test in Python that fails until the two inputs keep the claim; null where they have no short expressions.
    """

    schema: str
    function: str
    claim: str
    verdict: Annotated[Verdict, OF_RUNS] | None
    point: Claim | None
    stage: Stage
    worlds: Worlds | None
    event: Annotated[Mapping[str, Any], EventKeys] | None
    evidence: Evidence
    error: str | None
    notes: tuple[str, ...]
    pairs: Count
    runs: Count
    seconds: Annotated[float, Range(0)]
    test: str | None


def to_json(result: Result) -> str:
    """Return the result as one JSON document; infinities are "inf"."""
    text = json.dumps(plain(_document(result)), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair, as JSON too writes it


def _document(result: Result) -> Document:
    by_kind: Mapping[str, Any] = result.evidence
    return Document(
        schema=SCHEMA,
        function=result.function,
        claim=words.claim_words(result.claim),
        verdict=result.verdict,
        point=result.point,
        stage=result.stage,
        worlds=None if result.worlds is None else Worlds(*map(words.shown, result.worlds)),
        event=None if result.event is None else {**result.event, "words": in_words(result.event)},
        evidence=Evidence(*(by_kind.get(kind) for kind in ("exact", "modelled", "sequential"))),
        error=result.error,
        notes=result.notes,
        pairs=result.examples,
        runs=result.runs,
        seconds=round(result.seconds, 3),
        test=words.as_test(result),
    )
