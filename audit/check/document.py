"""The result of a check as check.json. The form of the document and its schema follow from the dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypedDict

from subnormal.attacks.core.event_words import in_words
from subnormal.audit.check import regression, words
from subnormal.audit.check.evidence import (
    FollowedEvidence,
    LawEvidence,
    ModelledEvidence,
    StabilityEvidence,
    Stage,
    WalkEvidence,
)
from subnormal.audit.check.result import Result
from subnormal.audit.check.severity import Severity
from subnormal.audit.engine import provenance
from subnormal.audit.model import OF_RUNS, Nonnegative, SequentialEvidence, Verdict
from subnormal.audit.report.to_json import to_json as json_of
from subnormal.audit.values.distance import rounded
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
class Stability:
    """Two outputs of a transformation, their distance and what bounds it, rounded to floats.

    outputs: as Python expressions.
    norm: "l1", "l2", "linf", or the name of a function.
    """

    verdict: Annotated[Verdict, (Verdict.VIOLATED, Verdict.NOT_REFUTED)]
    outputs: Worlds
    distance: Annotated[float, Range(0)]
    bound: Annotated[float, Range(0)]
    norm: str


@dataclass(frozen=True, slots=True)
class DetectableLosses:
    """The least losses, in nats, that the runs would have shown on the pair, in the middle of many such tests.

    by_event: by the event that was judged. by_best_event: by the event that tells two worlds of that loss apart best.
    """

    by_event: Nonnegative
    by_best_event: Nonnegative


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence by its kind; null where there is none. stability: the exact evidence of a transformation. law: that
    of a sampler against the law that it declares, from runs. walk: the same, from all strings of its random bits.
    followed: the laws of the function's own code on both inputs.
    """

    stability: Stability | None
    modelled: ModelledEvidence | None
    sequential: SequentialEvidence | None
    law: LawEvidence | None
    walk: WalkEvidence | None
    followed: FollowedEvidence | None


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
    seed: of the search and of the global generators.
    test: a test in Python that fails until the two inputs keep the claim; null where they have no short expressions.
    domain: the strategy that inputs are drawn from; null where pairs are named.
    relation: which two inputs are neighbours; null where pairs are named, and for a declared law.
    command: the command line, without options that no result depends on; null for a call in Python.
    versions: of Subnormal, of Python, and of the libraries that a check or the function uses.
    grid: floats in outcomes were rounded to its multiples; null where they were not.
    severity: of a violation: deterministic, large loss, loss near the claim or last bits; null where there is none.
    detectable: the least losses that the runs would have shown, by the event and by the best event; null without such.
    last_bits_only: whether the search went on without the last bits of floats, and found nothing else.
    commit: of the working directory, with "(changed)" where files differ from it; null where there is none.
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
    seed: int
    test: str | None
    domain: str | None
    relation: str | None
    command: str | None
    grid: Annotated[float, Range(0)] | None
    severity: Severity | None
    detectable: DetectableLosses | None
    last_bits_only: bool
    versions: Mapping[str, str]
    commit: str | None


def to_json(result: Result) -> str:
    """Return the result as one JSON document; infinities are "inf"."""
    return json_of(_document(result))


def _document(result: Result) -> Document:
    by_kind: Mapping[str, Any] = result.evidence
    stability, losses = by_kind.get("exact"), result.detectable
    same = {one.name: getattr(result, one.name) for one in fields(Document) if hasattr(result, one.name)}
    other: dict[str, Any] = {
        "schema": SCHEMA,
        "claim": words.claim_words(result.claim),
        "worlds": None if result.worlds is None else Worlds(*map(words.shown, result.worlds)),
        "event": None if result.event is None else {**result.event, "words": in_words(result.event)},
        "evidence": Evidence(
            None if stability is None else _stability(stability),
            *(by_kind.get(kind) for kind in ("modelled", "sequential", "law", "walk", "followed")),
        ),
        "pairs": result.examples,
        "seconds": round(result.seconds, 3),
        "test": regression.as_test(result),
        "detectable": None if losses is None else DetectableLosses(losses.by_event, losses.by_best_event),
        "versions": provenance.versions(result.place),
        "commit": provenance.commit(),
    }
    return Document(**same | other)


def _stability(evidence: StabilityEvidence) -> Stability:
    outputs = Worlds(*map(words.shown, evidence.outputs))
    return Stability(evidence.verdict, outputs, rounded(evidence.distance), rounded(evidence.bound), evidence.norm)
