"""The kinds of evidence of a check, besides that of runs, `SequentialEvidence`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from subnormal.audit.model import PROVED, Nonnegative, Probabilities, Probability, SequentialEvidence, Verdict
from subnormal.audit.report.form import AnyNumber
from subnormal.mechanisms.privacy import Claim, Range

Number = Annotated[float, AnyNumber()]
Stage = Literal["first call", "stability", "law", "replay", "runs", "walk"]


@dataclass(frozen=True, slots=True)
class ModelledLoss:
    """One release of noise: the primitive and where it is called, the two locations, and their distance over the scale.

    kind: of the noise: Laplace or Gaussian.
    site: the file and the line of the call.
    location_in: what the noise was added to.
    location_out: the same, in the other world.
    scale: the larger of the worlds' scales.
    loss: nats for Laplace noise, μ for Gaussian noise.
    """

    primitive: str
    kind: str
    site: str
    location_in: Number
    location_out: Number
    scale: Nonnegative
    loss: Nonnegative
    scale_in: Nonnegative | None = None  # where the worlds' scales differ
    scale_out: Nonnegative | None = None


@dataclass(frozen=True, slots=True)
class ModelledEvidence:
    """From a replay, under the assumption that the known primitives draw what their names say, and that nothing else is
    random. It never says HOLDS.

    claim: the point (ε, δ) that is exceeded.
    epsilon: a lower bound on the loss, in nats.
    delta: a lower bound at the claim's ε.
    release: a part of the outcome that is a value plus noise.
    runs: of each input, unrecorded, that agree.
    """

    verdict: Annotated[Verdict, (Verdict.VIOLATED,)]
    claim: Claim
    epsilon: Nonnegative
    delta: Probability
    release: ModelledLoss
    runs: Annotated[int, Range(1)]


@dataclass(frozen=True, slots=True)
class StabilityEvidence:
    """From one pair of a transformation: both outputs (in, out), their distance and what bounds it.

    distance: exact; of the norm "l2" the square root of the exact one, rounded (see `root`). norm: "l1", "l2", "linf",
    or the name of a function.
    """

    verdict: Verdict
    outputs: tuple[Any, Any]
    distance: Fraction | float
    bound: Fraction | float
    norm: str


@dataclass(frozen=True, slots=True)
class LawEvidence:
    """From runs of a sampler, against the law that it declares.

    data: the input, as a Python expression. inputs: that share alpha. log_e_value: the natural logarithm of the wealth.
    event: the one with the most evidence, in words. low, high: its probability by the law. seen: the runs with it.
    """

    verdict: Verdict
    data: str
    runs: Annotated[int, Range(1)]
    inputs: Annotated[int, Range(1)]
    alpha: Probability
    log_e_value: Number
    event: str
    low: Probability
    high: Probability
    seen: Annotated[int, Range(0)]


@dataclass(frozen=True, slots=True)
class WalkEvidence:
    """From all strings of random bits of a sampler, against the law that it declares: no matter of chance, where the
    sampler is a function of its bits, as it was whenever a string was asked again.

    verdict: VIOLATED; HOLDS: every input that was tried has the declared law, up to a mass of 1e-12; UNRESOLVED: too
    many strings. data: the input that says so, as a Python expression. inputs: that were tried. bits: the length of the
    strings. undecided: the share of strings that need more bits. event: where the laws differ, in words; None where
    they may be equal. declared, walked: [low, high] of its probability by the law, and by the strings.
    """

    verdict: Annotated[Verdict, PROVED]
    data: str
    inputs: Annotated[int, Range(1)]
    bits: Annotated[int, Range(0)]
    undecided: Probability
    event: str | None
    declared: Probabilities | None
    walked: Probabilities | None


@dataclass(frozen=True, slots=True)
class FollowedEvidence:
    """From the laws of the function's own code on both inputs, under the assumption that the words of its
    generators are uniform and independent, and that nothing else is random.

    claim: the point (ε, δ) that is exceeded.
    epsilon: a lower bound on the loss, in nats.
    delta: a lower bound at the claim's ε.
    event_in: [low, high] of the probability of the event.
    event_out: the same, in the other world.
    paths: of the function that were followed, for both inputs.
    rest: a bound on the probability of all that was not followed, which counts for nothing.
    runs: ordinary ones of each input, whose shares agree with the laws.
    """

    verdict: Annotated[Verdict, (Verdict.VIOLATED,)]
    claim: Claim
    epsilon: Nonnegative
    delta: Probability
    event_in: Probabilities
    event_out: Probabilities
    paths: Annotated[int, Range(1)]
    rest: Probability
    runs: Annotated[int, Range(1)]


CheckEvidence = (
    FollowedEvidence | LawEvidence | ModelledEvidence | SequentialEvidence | StabilityEvidence | WalkEvidence
)
