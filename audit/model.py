"""A report as frozen data. The form of report.json, its reader and its schema follow from the dataclasses.

Fields are in the order of the file. Their types say which values they may have, docstrings what they mean, in the
words of the file: null is None. A field that does not take part in comparisons is not saved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Channel
from subnormal.mechanisms.privacy import Claim, Range

SCHEMA = "subnormal/report/1"

Interval = tuple[float, float]
Probability = Annotated[float, Range(0, 1)]
Probabilities = tuple[Probability, Probability]
Chance = Annotated[float, Range(0, 1, open=True)]
Nonnegative = Annotated[float, Range(0, math.inf)]


class Verdict(StrEnum):
    """What one kind of evidence says of one claim on one pair of worlds. None of them says "private"."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS"
    UNRESOLVED = "UNRESOLVED"
    NOT_REFUTED = "NOT REFUTED"
    UNDERPOWERED = "UNDERPOWERED"


PROVED = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED)
OF_RUNS = (Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
KINDS = dict.fromkeys(("exact", "exhaustive"), PROVED) | dict.fromkeys(("sampled", "sequential", "timing"), OF_RUNS)
DECIDING = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED, Verdict.UNDERPOWERED, Verdict.NOT_REFUTED)


class EventKeys(TypedDict):
    """The keys that every event has; its kind says which others. Those of an attack vector's event mean the same.

    portable: whether another language can evaluate it without this project's arithmetic.
    """

    kind: str
    portable: bool


EventObject = Annotated[Mapping[str, Any], EventKeys]


def decisive(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the verdict of a row: what is shown or proved comes before what is not. None without any verdict."""
    return min(verdicts, key=DECIDING.index, default=None)


@dataclass(frozen=True, slots=True)
class ExactEvidence:
    """From two laws. Every number is certified: a lower bound, which is the value itself where the laws are exact.

    verdict: VIOLATED; HOLDS, for this pair of worlds and no other; UNRESOLVED: the claim lies between the bounds.
    epsilon: the pair's loss, in nats: the largest |ln(P/Q)| of an outcome.
    delta: the hockey-stick divergence at the claimed ε, the larger of both directions.
    within: how far the certified upper bound on it lies above the claimed δ; null where the verdict is VIOLATED.
    advantage: the difference of the event's two probabilities; null without an event.
    total_variation: the largest advantage that any event has on this pair.
    event_in: [low, high] of the event's probability; null without an event.
    event_out: the same, in the other world.
    event_verdict: whether the row's event leaves the claim, it or its complement, in either direction: VIOLATED where
        it does, HOLDS where it does not, whatever the verdict on the pair; UNRESOLVED where the bounds leave it open;
        null without an event.
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
    """The distance between the worlds' samples, what the claim allows, and the margin of the band around it.

    Over a single bin distance and margin are 0, and the event has all of the chance.
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
    """From runs of the mechanism. The event's intervals, the distance and the bound on ε hold together.

    verdict: VIOLATED, at the confidence stated; NOT REFUTED, which is no evidence of privacy; UNDERPOWERED: so few runs
        could not show a violation even for worlds without a common outcome.
    convicted_by: what shows the violation: the event, by its bounds, or else the distance, where it exceeds what the
        claim allows by more than its margin; null where the verdict is not VIOLATED.
    runs: of each world.
    confidence: of all of it together: half of α is for the event, half for the distance.
    epsilon_lower: the loss shown, at least, in nats, by the event or by the distance.
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
    """From pairs of runs, inspected after every batch: a bet against the claim.

    verdict: VIOLATED where the wealth has reached 1/alpha, at an end of a batch; else as of sampled evidence.
    runs: of each world, that judged.
    runs_max: of each world, after which the row ends undecided.
    training: runs of each world that the event was learned on; 0 where it was given.
    alpha: the chance of a false alarm, at the most, however often it is inspected.
    log_e_value: the natural logarithm of the wealth at the end; it may have been more before.
    event: what was counted.
    event_in: how often it happened.
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
    """From measurements of single draws, the world of each chosen by a coin. Times are in seconds.

    Times differ from run to run. What is said at a confidence holds whatever the measurements depend on.

    verdict: of the claim, had it been made for the pair (outcome, time).
    confidence: of the verdict, of `detected` and of advantage_lower, each on its own.
    measurements: of both worlds together.
    difference: [low, high] of the medians' difference, in − out, at 95 % by a block bootstrap.
    ratio: [low, high] of the medians' ratio, in/out, at 95 % by a block bootstrap.
    detected: whether the worlds differ at all, by the exact sign test: sign_p at most 1 − confidence.
    sign_p: the p-value of the exact sign test.
    slower_in: the share of pairs, ties left out, in which `in` took longer.
    needed: [low, high] of the measurements that show an attacker the difference, with at most one error in twenty
        either way, at 95 %.
    welch_t: the largest in size of several; takes measurements for independent.
    welch_p: its p-value, all tests paid for.
    threshold: the event is a longer time than this.
    event_in: the share of the judging measurements of this world, three quarters of all, that took longer.
    log_e_value: the natural logarithm of what a bet against the claim has won.
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
    """The curve δ(ε) of a pair of worlds as runs show it; arrays of shape (epsilons,).

    `lower` and `upper` hold together, at the confidence stated.

    lower: the mechanism's own curve is nowhere below it.
    observed: the curve of the bins, as counted.
    upper: the curve of the bins' probabilities is nowhere above it; that of finer bins may be.
    promised: what the claim allows.
    at: the ε at which `lower` exceeds `promised` the most, or comes nearest to it.
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


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """What a picture of a row needs: masses by bin of the attack's statistic, and the curve δ(ε)."""

    edges: NDArray[np.float64]  # the largest value of each bin
    sampled: Pair | None  # (in, out), each of shape (bins,)
    law: Pair | None
    curve: Pair | None  # (ε, δ)
    axis: str = "outcome"  # what is in the bins
    band: CurveEvidence | None = None  # of the curve, from the runs; no verdict rests on it


@dataclass(frozen=True, slots=True)
class Worlds:
    """The data of both worlds, as expressions of Python that evaluate to them, see `subnormal.audit.literal`.

    in: with Alice.
    out: without her.
    """

    in_: str
    out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One attack on one mechanism. Its kinds of evidence are kept apart; no verdict says that a mechanism is private.

    channel: what the attacker saw in addition to the outcome: a count, or the time. All evidence is then about the
        pairs, and so is the claim. null: nothing.
    description: the two worlds, and what tells them apart.
    source: where the attack comes from.
    family: the kind of mechanism: what its data, parameters and outcomes are.
    mechanism: a member of the family, or the target as the command line named it.
    package: the library of the mechanism, and its version; null for Subnormal's own mechanisms and for targets.
    parameters: public values of the attack, by the family's names; infinities are the strings "inf" and "-inf".
    worlds: null where an error came before them, or they have no short expressions.
    event: what the attacker looked for; null: there was none to name before the runs.
    claim: as the mechanism promises it; null where an error came before it.
    advantage_allowed: the largest difference of an event's probabilities that the claim allows:
        1 − 2(1 − δ)/(1 + e^ε). null without a claim.
    visible_below: through a channel: the claimed ε below which the event's advantage is more than the claim's δ allows.
        null without a channel or without an advantage.
    reproducible: whether the seed governs all that was drawn. false: a mechanism with own randomness, or a clock.
    error: what went wrong, so that the row is not judged; null where nothing did.
    warnings: what a reader of the verdicts has to know.
    exact: from the laws of the code in both worlds.
    exhaustive: from every string of random bits, to a depth, through the code as it is.
    """

    attack: str
    channel: Channel | None = None
    description: str
    source: str
    family: str
    mechanism: str
    package: str | None = None
    parameters: Mapping[str, Any]
    worlds: Worlds | None = None
    event: EventObject | None
    claim: Claim | None
    advantage_allowed: Probability | None
    visible_below: Nonnegative | None = field(init=False)
    reproducible: bool
    error: str | None = None
    warnings: tuple[str, ...] = ()
    timing: TimingEvidence | None = None
    exact: ExactEvidence | None = None
    exhaustive: ExactEvidence | None = None
    sampled: SampledEvidence | None = None
    sequential: SequentialEvidence | None = None
    sketch: Sketch | None = field(default=None, compare=False)  # drawn, not saved

    def __post_init__(self) -> None:
        object.__setattr__(self, "visible_below", None if self.channel is None else self._visible_below())

    @property
    def evidence(self) -> dict[str, Evidence]:
        """The kinds of evidence that the row has, by name; what is proved comes first."""
        return {kind: evidence for kind in KINDS if (evidence := getattr(self, kind)) is not None}

    @property
    def violated(self) -> bool:
        """Whether any kind of evidence says VIOLATED."""
        return any(evidence.verdict is Verdict.VIOLATED for evidence in self.evidence.values())

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the row, see `decisive`; None without any evidence."""
        return decisive(evidence.verdict for evidence in self.evidence.values())

    def _visible_below(self) -> float | None:
        """Return the budget (nats) below which the event's advantage is more than the claim's δ allows.

        It follows from the proved advantage where there is one, else from the sample's lower bound. An event that only
        one world shows exceeds a pure claim at every budget, however small its advantage.
        """
        proved = self.exact or self.exhaustive
        advantage = self.sampled.advantage[0] if self.sampled is not None else None
        if proved is not None:
            advantage = proved.advantage
        return None if advantage is None or self.claim is None else self.claim.budget_of(advantage)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found by attacking mechanisms: one row for each attack on one mechanism.

    Losses and budgets ε are in nats, times in seconds; numbers are binary64 as their shortest exact decimals; "inf"
    stands for infinity. A kind of evidence that a row does not have is null. In every object of a fixed form all keys
    are there.

    version: of Subnormal.
    seed: of all randomness that can be seeded. The same seed, runs, version and environment give the same rows, where
        they say "reproducible": true.
    runs: runs of each world that were requested; a slow mechanism may have taken fewer.
    alpha: the chance that any sampled verdict of the report is a false alarm, at the most.
    alpha_per_row: each sampled row's share of alpha.
    environment: the machine and the versions on it: floats are computed by this numpy on this processor.
    unfinished: the attacks whose rows are not there, because the audit was ended before they were finished. Empty: all
        are there.
    rows: no two have the same attack, mechanism and channel.
    """

    schema: Annotated[str, (SCHEMA,)] = field(default=SCHEMA, init=False)
    version: str
    seed: Annotated[int, Range(0)]
    runs: Annotated[int, Range(1)]
    alpha: Chance
    alpha_per_row: Chance
    environment: Mapping[str, str]
    unfinished: tuple[str, ...] = field(default=(), kw_only=True)
    rows: tuple[Row, ...]
