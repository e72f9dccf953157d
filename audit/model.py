"""A report as frozen data, without logic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.privacy import Claim


@dataclass(frozen=True, slots=True, eq=False)
class CurveEvidence:
    """The curve δ(ε) of a pair of worlds as runs show it; arrays of shape (epsilons,).

    Together, at the confidence stated: the mechanism's own curve lies nowhere below `lower`, and the curve of what the
    cells show of it nowhere above `upper` (a finer look may lie above). observed: the cells' curve as counted.
    promised: what the claim allows. at: the ε at which `lower` exceeds it the most, or comes nearest.
    """

    verdict: Verdict
    runs: int
    confidence: float
    epsilons: NDArray[np.float64]
    lower: NDArray[np.float64]
    observed: NDArray[np.float64]
    upper: NDArray[np.float64]
    promised: NDArray[np.float64]
    at: float


Interval = tuple[float, float]
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


class Verdict(StrEnum):
    """What one kind of evidence says of one claim on one pair of worlds. None of them says "private"."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS"
    UNRESOLVED = "UNRESOLVED"
    NOT_REFUTED = "NOT REFUTED"
    UNDERPOWERED = "UNDERPOWERED"


DECIDING = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED, Verdict.UNDERPOWERED, Verdict.NOT_REFUTED)


def decisive(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the verdict that speaks for a row: what is shown or proved comes before what is not. None without one."""
    return min(verdicts, key=DECIDING.index, default=None)


@dataclass(frozen=True, slots=True)
class ExactEvidence:
    """From two laws. Every number is certified: a lower bound, which is the value itself where the laws are exact.

    epsilon: the pair's loss in nats, ∞ where it is. delta: the hockey-stick divergence at the claimed ε, the larger of
    the two directions. within: how far the certified upper bound lies above the claimed δ (None when VIOLATED).
    advantage: the event's, None without one; total_variation: the pair's. event_in, event_out: (low, high).
    event_verdict: whether the event itself leaves the claim, it or its complement, in either direction: VIOLATED where
    it does, HOLDS where it does not, whatever the pair does; UNRESOLVED where the bounds leave it open. None without.
    """

    verdict: Verdict
    epsilon: float
    delta: float
    within: float | None
    advantage: float | None
    total_variation: float
    event_in: Interval | None
    event_out: Interval | None
    event_verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class KolmogorovSmirnov:
    """The distance between the two samples, what the claim allows, and the margin of its confidence band.

    Over one cell the distance is 0, and its margin too.
    """

    statistic: float
    allowed: float
    margin: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Kolmogorov-Smirnov statistics of the samples against the law, with Monte Carlo p-values."""

    statistic_in: float
    p_in: float
    statistic_out: float
    p_out: float


@dataclass(frozen=True, slots=True)
class SampledEvidence:
    """From `runs` runs in each world. Intervals, distance and the bound on ε hold together at the confidence stated.

    epsilon_lower: nats, the most that the event or the distance proves necessary at the claimed δ. convicted_by: which
    of them convicts, the event where both do; None where the verdict is not VIOLATED.
    """

    verdict: Verdict
    runs: int
    confidence: float
    epsilon_lower: float
    event_in: Interval
    event_out: Interval
    advantage: Interval
    ks: KolmogorovSmirnov
    fit: Fit | None
    convicted_by: Literal["event", "distance"] | None


@dataclass(frozen=True, slots=True)
class SequentialEvidence:
    """From pairs of runs, looked at after every batch. `log_e_value` is compared with ln(1/α); it may fall again.

    runs: of each world, that judged; training: of each world, that the event was learned on (0: it was given).
    event_in, event_out: how often it happened. looks: (runs, log_e_value) at the end of each batch.
    """

    verdict: Verdict
    claim: Claim
    alpha: float
    runs: int
    runs_max: int
    training: int
    log_e_value: float
    event_in: int
    event_out: int
    event: dict[str, Any]
    looks: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class TimingEvidence:
    """From measurements of single draws, the world of each chosen by a coin. Times are in seconds.

    verdict: of the claim, had it been made for the pair (outcome, time). detected: whether the worlds differ at all, by
    the exact sign test, p at most 1 − confidence. Both, and `advantage_lower`, hold whatever timings depend on, each at
    the confidence stated. difference (in − out) and ratio (in/out): of the medians, 95 %
    block-bootstrap intervals. slower_in: the share of pairs, ties left out, in which `in` took longer. needed: how many
    measurements show an attacker the difference, with at most one error in twenty either way. welch_t: the largest in
    size, and its p-value for independent measurements, all tests paid for. threshold: the event is a longer time;
    event_in, event_out: how often it happened in the three quarters of the measurements that did not fix it.
    """

    verdict: Verdict
    confidence: float
    measurements: int
    median_in: float
    median_out: float
    difference: Interval
    ratio: Interval
    detected: bool
    sign_p: float
    slower_in: float
    needed: Interval
    welch_t: float
    welch_p: float
    threshold: float
    event_in: float
    event_out: float
    advantage_lower: float
    log_e_value: float


Evidence = ExactEvidence | SampledEvidence | SequentialEvidence | TimingEvidence


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """What a picture of a row needs: masses by cell of the attack's statistic, and the curve δ(ε)."""

    edges: NDArray[np.float64]  # the largest value of each cell
    sampled: Pair | None  # (in, out), each of shape (cells,)
    law: Pair | None
    curve: Pair | None  # (ε, δ)
    axis: str = "outcome"  # what is in the cells
    band: CurveEvidence | None = None  # of the curve, from the runs; no verdict rests on it


@dataclass(frozen=True, slots=True)
class Row:
    """One attack on one member, its kinds of evidence kept apart. A kind that the member does not have is None.

    channel: what the attacker saw beside the outcome; all evidence is then about the pairs, and so is the claim.
    worlds: the data (in, out) as Python expressions of `subnormal.audit.literal`; None where they have no short ones.
    """

    attack: str
    description: str
    source: str
    family: str
    mechanism: str
    parameters: Mapping[str, Any]
    event: Mapping[str, Any] | None
    claim: Claim | None
    advantage_allowed: float | None
    reproducible: bool
    package: str | None = None  # and its version, where the mechanism is another's
    error: str | None = None
    channel: str | None = None
    warnings: tuple[str, ...] = ()  # what a reader of the verdicts has to know
    timing: TimingEvidence | None = None
    exact: ExactEvidence | None = None
    exhaustive: ExactEvidence | None = None
    sampled: SampledEvidence | None = None
    sequential: SequentialEvidence | None = None
    sketch: Sketch | None = None
    worlds: tuple[str, str] | None = None

    @property
    def evidence(self) -> dict[str, Evidence]:
        """The kinds of evidence that the row has, by name; what is proved comes first."""
        kinds = ("exact", "exhaustive", "sampled", "sequential", "timing")
        return {kind: evidence for kind in kinds if (evidence := getattr(self, kind)) is not None}

    @property
    def violated(self) -> bool:
        """Whether any kind of evidence says VIOLATED."""
        return any(evidence.verdict is Verdict.VIOLATED for evidence in self.evidence.values())

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that speaks for the row, see `decisive`; None without any evidence."""
        return decisive(evidence.verdict for evidence in self.evidence.values())

    @property
    def visible_below(self) -> float | None:
        """The budget (nats) below which the event's advantage is more than the claim's δ allows; None without one.

        From a proved advantage where there is one, else from the sample's lower bound. What tells by a loss alone, as a
        count that only one world shows, is above a claim at larger budgets too.
        """
        proved = self.exact or self.exhaustive
        advantage = self.sampled.advantage[0] if self.sampled is not None else None
        if proved is not None:
            advantage = proved.advantage
        return None if advantage is None or self.claim is None else self.claim.budget_of(advantage)


@dataclass(frozen=True, slots=True)
class Report:
    """Rows, and everything that is needed to produce them again."""

    version: str
    seed: int
    runs: int
    alpha: float
    alpha_per_row: float
    environment: Mapping[str, str]
    rows: tuple[Row, ...]
    unfinished: tuple[str, ...] = ()  # the attacks whose rows are not there, because the audit has not come to them
