"""A report without runs: a row for each kind of evidence and verdict, and for what else may be in a row."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any, Literal

from subnormal.audit.api import Report
from subnormal.audit.model import (
    ExactEvidence,
    KolmogorovSmirnov,
    Row,
    SampledEvidence,
    SequentialEvidence,
    TimingEvidence,
    Verdict,
    Worlds,
)
from subnormal.mechanisms.privacy import Claim
from tests.support.rows import blank_row

PURE, DELTA = Claim(1.0), Claim(1.0, 1e-9)
VIOLATED, HOLDS, UNRESOLVED = Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED
NOT_REFUTED, UNDERPOWERED = Verdict.NOT_REFUTED, Verdict.UNDERPOWERED
PROOFS = (None, VIOLATED, HOLDS, UNRESOLVED)
SAMPLES = (None, VIOLATED, NOT_REFUTED, UNDERPOWERED)
LOG_E_VALUES = {VIOLATED: 10.0, NOT_REFUTED: 0.0, UNDERPOWERED: 0.0}


def exact(verdict: Verdict, epsilon: float = 0.5, delta: float = 0.0, event: Verdict | None = None) -> ExactEvidence:
    """Return evidence from laws."""
    within = None if verdict is VIOLATED else 1e-5
    return ExactEvidence(verdict, epsilon, delta, within, 0.5, 0.5, (0.1, 0.1), (0.6, 0.6), event)


def sampled(
    verdict: Verdict, epsilon: float = 0.5, by: Literal["event", "distance"] = "event", runs: int = 1_000
) -> SampledEvidence:
    """Return evidence from runs."""
    shown, distance = ((0.0, 0.1), (0.5, 0.6), (0.4, 0.6)), KolmogorovSmirnov(0.9, 0.46, 0.01)
    convicted_by = by if verdict is VIOLATED else None
    return SampledEvidence(verdict, runs, 0.95, epsilon, *shown, distance, None, convicted_by=convicted_by)


def bet(verdict: Verdict) -> SequentialEvidence:
    """Return evidence from runs until decided."""
    event, looks = {"kind": "refuses", "portable": True}, ((0, 0.0), (512, LOG_E_VALUES[verdict]))
    return SequentialEvidence(verdict, 512, 1_000, 0, 0.05, LOG_E_VALUES[verdict], event, 9, 300, looks)


def clock(verdict: Verdict) -> TimingEvidence:
    """Return evidence from a clock."""
    numbers: dict[str, Any] = {field.name: 0.5 for field in dataclasses.fields(TimingEvidence)}
    pairs = {"difference": (0.0, 0.1), "ratio": (0.9, 1.1), "needed": (10.0, math.inf), "confidence": 0.95}
    known = {"verdict": verdict, "measurements": 500, "detected": verdict is VIOLATED}
    return TimingEvidence(**(numbers | pairs | known | {"log_e_value": LOG_E_VALUES[verdict]}))


def row_of(claim: Claim | None = PURE, **fields: Any) -> Row:
    """Return a row with this evidence."""
    return dataclasses.replace(blank_row(claim), **({"family": "exponential"} | fields))


def rows() -> Iterator[Row]:
    """Yield rows whose mechanisms say what is in them."""
    for proved, seen in itertools.product(PROOFS, SAMPLES):
        of_laws = None if proved is None else exact(proved, *((3.0, 0.25) if proved is VIOLATED else ()))
        of_runs = None if seen is None else sampled(seen, 1.5)
        yield row_of(mechanism=f"laws {proved}, runs {seen}", exact=of_laws, sampled=of_runs)
    for verdict, evidence in (
        (VIOLATED, exact(VIOLATED, math.inf, 3e-8)),
        (HOLDS, exact(HOLDS, math.inf, 2e-10)),
        (UNRESOLVED, exact(UNRESOLVED, math.inf, 2e-10)),
    ):
        yield row_of(DELTA, mechanism=f"claim with a delta, {verdict}", exact=evidence, worlds=Worlds("[1]", "[]"))
    yield row_of(mechanism="every string", exhaustive=exact(HOLDS), settings={"eta": 0.5})
    yield row_of(mechanism="an outcome of one world alone", exact=exact(VIOLATED, math.inf, 0.25))
    yield row_of(mechanism="another event", exact=exact(VIOLATED, 3.0, 0.25, HOLDS))
    yield row_of(mechanism="perhaps this event", exact=exact(VIOLATED, 3.0, 0.25, UNRESOLVED))
    yield row_of(DELTA, mechanism="distance", sampled=sampled(VIOLATED, 1.5, "distance"))
    yield row_of(mechanism="ten runs", sampled=sampled(UNDERPOWERED, runs=10))
    yield row_of(Claim(37.0), mechanism="no number of runs", sampled=sampled(UNDERPOWERED))
    for kind, made, channel in (("sequential", bet, None), ("timing", clock, "time")):
        for verdict in (VIOLATED, NOT_REFUTED, UNDERPOWERED):
            shown: dict[str, Any] = {kind: made(verdict), "channel": channel}
            yield row_of(attack=kind, mechanism=str(verdict), **shown)
    yield row_of(attack="bits", channel="bits", mechanism="exponential-base2", exact=exact(VIOLATED, 3.0, 0.25))
    yield row_of(attack="bits", channel="bits", mechanism="exponential-exact", exact=exact(HOLDS))
    yield row_of(attack="many", mechanism="exponential-naive-float32", exact=exact(VIOLATED, 3.0, 0.25))
    yield from (
        row_of(attack="many", mechanism=name, exact=exact(HOLDS))
        for name in ("exponential-exact", "exponential-exact-base-e")
    )
    yield row_of(attack="many", mechanism="permute-and-flip", sampled=sampled(NOT_REFUTED))
    yield row_of(None, attack="other", mechanism="no claim")
    yield row_of(
        attack="other",
        mechanism="package's own",
        package="a package 1.0",
        note="both worlds refuse",
    )
    yield row_of(
        None, mechanism="failed " + "with a long name " * 4, error="ValueError: [red] & <b> \x1b[31m " + "no " * 40
    )


def every_row() -> Report:
    """Return the report."""
    return Report("0", 1, 1_000, 0.05, 0.05, {"python": "3"}, tuple(rows()))
