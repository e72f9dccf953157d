"""Verdicts, and each kind of evidence on a pair of worlds, as frozen data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.privacy import Range

Interval = tuple[float, float]
Probability = Annotated[float, Range(0, 1)]
Probabilities = tuple[Probability, Probability]
Chance = Annotated[float, Range(0, 1, open=True)]
Nonnegative = Annotated[float, Range(0, math.inf)]


class Verdict(StrEnum):
    """The result of one kind of evidence for one claim on one pair of worlds. No verdict says "private"."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS"
    UNRESOLVED = "UNRESOLVED"
    NOT_REFUTED = "NOT REFUTED"
    UNDERPOWERED = "UNDERPOWERED"


PROVED = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED)
OF_RUNS = (Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
KINDS = dict.fromkeys(("exact", "exhaustive"), PROVED) | dict.fromkeys(("sampled", "sequential", "timing"), OF_RUNS)
REPEATED = tuple(kind for kind in KINDS if kind != "timing")  # a clock's verdict may be another in the next run
MEASURED = "MEASURED"  # instead of the verdict of a row that only a clock has judged
DECIDING = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED, Verdict.UNDERPOWERED, Verdict.NOT_REFUTED)


class EventKeys(TypedDict):
    """The keys that every event has. Its other keys depend on its kind, and mean the same as in an attack vector.

    portable: whether another language can evaluate the event without this project's arithmetic.
    """

    kind: str
    portable: bool


EventObject = Annotated[Mapping[str, Any], EventKeys]


@dataclass(frozen=True, slots=True)
class ExactEvidence:
    """Evidence from two laws. Every number is a certified lower bound, and exact where the laws are exact.

    verdict: VIOLATED; HOLDS, for this pair of worlds and no other; UNRESOLVED: the claim lies between the bounds.
    epsilon: the pair's loss: the largest |ln(P/Q)| of an outcome, in nats.
    delta: the hockey-stick divergence at the claimed ε, the larger of both directions.
    within: the certified upper bound of delta minus the claimed δ, at least 0; null where the verdict is VIOLATED.
    advantage: the difference of the event's two probabilities; null without an event.
    total_variation: the largest advantage that any event has on this pair.
    event_in: [low, high] of the event's probability; null without an event.
    event_out: the same, in the other world.
    event_verdict: whether the row's event or its complement, in either direction, violates the claim: VIOLATED if it
        does, HOLDS if not, independent of the verdict on the pair; UNRESOLVED if the bounds do not decide; null
        without an event.
    """

    verdict: Annotated[Verdict, PROVED]
    epsilon: Nonnegative
    delta: Probability
    within: Annotated[float, Range(0)] | None
    advantage: Probability | None
    total_variation: Probability
    event_in: Probabilities | None
    event_out: Probabilities | None
    event_verdict: Annotated[Verdict, PROVED] | None = None


@dataclass(frozen=True, slots=True)
class KolmogorovSmirnov:
    """The distance between the worlds' samples, the largest distance that the claim allows, and the distance's margin.

    Over a single bin distance and margin are 0, and the event has all of α.
    """

    statistic: Probability
    allowed: Probability
    margin: Annotated[float, Range(0)]


@dataclass(frozen=True, slots=True)
class Fit:
    """Kolmogorov-Smirnov distances of the samples from the law, with Monte Carlo p-values."""

    statistic_in: Probability
    p_in: Probability
    statistic_out: Probability
    p_out: Probability


@dataclass(frozen=True, slots=True)
class SampledEvidence:
    """Evidence from runs of the mechanism. The event's intervals, the distance and the bound on ε hold together.

    verdict: VIOLATED, at the stated confidence; NOT REFUTED, which is no evidence of privacy; UNDERPOWERED: the runs
        are too few to show a violation even for worlds without a common outcome.
    convicted_by: the source of the violation: the event, by its bounds, or else the distance, which exceeds the
        largest one that the claim allows by more than its margin; null where the verdict is not VIOLATED.
    runs: of each world.
    confidence: of all numbers together: half of α is for the event, half for the distance.
    epsilon_lower: a lower bound of the loss, from the event or from the distance, in nats.
    event_in: [low, high] of the event's probability.
    event_out: the same, in the other world.
    advantage: [low, high] of the difference of the event's two probabilities.
    fit: null without a law.
    """

    verdict: Annotated[Verdict, OF_RUNS]
    convicted_by: Literal["event", "distance"] | None = field(default=None, kw_only=True)
    runs: Annotated[int, Range(1)]
    confidence: Probability
    epsilon_lower: Annotated[float, Range(0)]
    event_in: Probabilities
    event_out: Probabilities
    advantage: Probabilities
    ks: KolmogorovSmirnov
    fit: Fit | None


@dataclass(frozen=True, slots=True)
class SequentialEvidence:
    """Evidence from pairs of runs: a bet against the claim, inspected after every batch.

    verdict: VIOLATED if the wealth reached 1/alpha at the end of a batch; otherwise as in sampled evidence.
    runs: runs of each world that judged.
    runs_max: largest number of runs of each world.
    training: runs of each world that the event was learned on; 0 if the attack names the event.
    alpha: largest probability of a false alarm, for any number of inspections.
    log_e_value: the natural logarithm of the wealth at the end; it may have been larger before.
    event: the event that was counted.
    event_in: the number of runs with the event.
    looks: [runs, log_e_value] at the start and at the end of each batch.
    """

    verdict: Annotated[Verdict, OF_RUNS]
    runs: Annotated[int, Range(1)]
    runs_max: Annotated[int, Range(1)]
    training: Annotated[int, Range(0)]
    alpha: Chance
    log_e_value: float
    event: EventObject
    event_in: Annotated[int, Range(0)]
    event_out: Annotated[int, Range(0)]
    looks: tuple[tuple[Annotated[int, Range(0)], float], ...]


@dataclass(frozen=True, slots=True)
class TimingEvidence:
    """Evidence from measurements of single draws. A coin chooses the world of each. Times are in seconds.

    Times differ from run to run. Statements at a confidence hold for dependent measurements too.

    verdict: of the claim as if it were made for the pair (outcome, time), from these measurements alone: it is not a
        verdict of the row, because other measurements may have another one.
    confidence: of the verdict, of `detected` and of advantage_lower, each alone.
    measurements: of both worlds together.
    difference: [low, high] of the medians' difference, in − out, at 95 % by a block bootstrap.
    ratio: [low, high] of the medians' ratio, in/out, at 95 % by a block bootstrap.
    detected: whether the exact sign test shows a difference: sign_p is at most 1 − confidence.
    sign_p: the p-value of the exact sign test.
    slower_in: the share of pairs, ties left out, in which `in` took longer.
    needed: [low, high] of the number of measurements that show an attacker the difference, with an error probability
        of at most 1/20 in either direction, at 95 %.
    welch_t: the largest in size of several Welch statistics; assumes independent measurements.
    welch_p: its p-value, corrected for the number of tests.
    threshold: the event is a time above this one.
    event_in: the share of this world's judging measurements (three quarters of all) with the event.
    log_e_value: the natural logarithm of the wealth of a bet against the claim.
    """

    verdict: Annotated[Verdict, OF_RUNS]
    confidence: Probability
    measurements: Annotated[int, Range(1)]
    median_in: Annotated[float, Range(0)]
    median_out: Annotated[float, Range(0)]
    difference: Interval
    ratio: Interval
    detected: bool
    sign_p: Probability
    slower_in: Probability
    needed: tuple[Nonnegative, Nonnegative]
    welch_t: Annotated[float, Range(-math.inf, math.inf)]
    welch_p: Probability
    threshold: Annotated[float, Range(0)]
    event_in: Probability
    event_out: Probability
    advantage_lower: Probability
    log_e_value: float


Evidence = ExactEvidence | SampledEvidence | SequentialEvidence | TimingEvidence
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class CurveEvidence:
    """A confidence band for the curve δ(ε) of a pair of worlds, from runs; arrays of shape (epsilons,).

    `lower` and `upper` hold together, at the stated confidence.

    lower: a lower bound of the mechanism's curve.
    observed: the curve of the counts over the bins.
    upper: an upper bound of the curve of the bins' probabilities; the curve of finer bins may lie above it.
    """

    runs: int
    confidence: float
    epsilons: NDArray[np.float64]
    lower: NDArray[np.float64]
    observed: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """The data of a row's charts: masses by bin of the attack's statistic, and the curve δ(ε)."""

    edges: NDArray[np.float64]  # the largest value of each bin
    sampled: Pair | None  # (in, out), each of shape (bins,)
    law: Pair | None
    curve: Pair | None  # (ε, δ)
    axis: str = "outcome"  # the name of the binned values
    band: CurveEvidence | None = None  # of the curve, from the runs; no verdict rests on it


@dataclass(frozen=True, slots=True)
class Worlds:
    """The data of both worlds as Python expressions, see `subnormal.audit.values.literal`.

    in: with Alice.
    out: without her.
    """

    in_: str
    out: str
