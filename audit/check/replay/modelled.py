"""What a release convicts of: one event, `the release lies beyond a threshold`, by the known laws of its noise.

The noise has the law that the primitive's name says, and the outcome shows the release, but for a share of the runs:
`confirmed` sees a larger one. So of an event with probability P in one world and Q in the other, that share is taken
from P and added to Q. Where e^ε times the share is 1 or more, no feasible number of runs says anything of Q, and Q is
taken as it is: that nothing else is random is assumed there, not seen.

Each release counts alone. Events are no rarer than `LEAST`: further out, floats are no Laplace or Gaussian numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from subnormal.attacks.core.events import Learned, Term
from subnormal.audit.check.evidence import ModelledEvidence, ModelledLoss
from subnormal.audit.check.replay.recorder import Floats
from subnormal.audit.check.replay.releases import Release
from subnormal.audit.model import Verdict
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts
from subnormal.mechanisms.curves import SLACK, AnyClaim, points
from subnormal.mechanisms.privacy import Claim

SHARE = 0.01  # of the runs of an input in which the outcome may not show the release
EXPECTED = 1 << 20  # runs of which the events are expected to be what their probabilities say
LEAST = 1e-9  # probability of an event in the world where it is likelier
PROBABILITIES = np.concatenate([np.geomspace(LEAST, 0.5, 400), 1 - np.geomspace(1e-3, 0.5, 100)[:-1]])


@dataclass(frozen=True, slots=True)
class Law:
    """A law of noise of scale 1, symmetric around 0. tail: P(noise ≥ x), and its inverse, of arrays."""

    tail: Callable[[Any], Any]
    inverse: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Beyond:
    """The event that a release lies at a threshold or beyond it. world: where it is likelier; sign: −1 below.

    The outcome shows it up to a rounding, so that it may hold in the other world from two roundings before on. likely,
    other: its probability in each world. excess: of the first over what the point of the claim allows.
    """

    release: Release
    point: Claim
    world: int
    sign: int
    threshold: float
    likely: float
    other: float
    excess: float

    def growth(self) -> float:
        """Return the nats that a run of each world is expected to add to the evidence of runs."""
        likely, other = round(EXPECTED * self.likely), self.other
        only, both = likely - round(likely * other), round(likely * other)
        counts = PairCounts(
            both, only, round(EXPECTED * other) - both, EXPECTED - likely - round(EXPECTED * other) + both
        )
        return e_process.growth(self.point, counts)

    def event(self) -> Learned:
        """Return the event on outcomes."""
        at = self.threshold - self.sign * self.release.rounding
        low, high = (at, math.inf) if self.sign > 0 else (-math.inf, at)
        return Learned((Term("value", self.release.path),), low, high)

    def drawn(self, shares: Floats) -> Floats:
        """Return values of the release, given the event, in the world where it is likelier. shares: uniform."""
        law, world = LAWS[self.release.call.primitive.kind], self.world
        beyond = law.inverse(np.maximum(shares * self.likely, LEAST * LEAST))
        drawn: Floats = self.release.locations[world] + self.sign * self.release.scales[world] * beyond
        return drawn

    def evidence(self, runs: int) -> ModelledEvidence:
        """Return the evidence. runs: of each input that agree."""
        one, call = self.release, self.release.call
        digits = math.floor(-math.log10(one.rounding or LEAST * LEAST))
        low, high, scale, other_scale = (round(number, digits) + 0.0 for number in (*one.locations, *one.scales))
        scales = (scale, other_scale) if scale != other_scale else (None, None)
        loss = ModelledLoss(
            str(call.primitive), call.primitive.kind, call.site, low, high, max(scale, other_scale), one.loss, *scales
        )
        return ModelledEvidence(
            Verdict.VIOLATED, self.point, _epsilon(self), min(1.0, self.point.delta + self.excess), loss, runs
        )


def exceeded(releases: tuple[Release, ...], claim: AnyClaim, share: float = SHARE) -> Beyond | None:
    """Return the event of a release that exceeds a point of a claim by most; None where none exceeds any.

    share: of the runs that may not show the release.
    """
    found = [
        _best(release, point, share, world, sign)
        for release in releases
        if release.call.primitive.kind in LAWS and release.loss > 0
        for point in points(claim)
        for world in (0, 1)
        for sign in (1, -1)
    ]
    best = max(found, key=lambda one: one.excess, default=None)
    return best if best is not None and best.excess > SLACK else None


def off(release: Release, world: int, values: Floats) -> float:
    """Return how far the distribution function of values lies from that of a release, at most."""
    x = (np.sort(values) - release.locations[world]) / release.scales[world]
    below, ranks = LAWS[release.call.primitive.kind].tail(-x), np.arange(len(values) + 1) / len(values)
    steepest = release.rounding / release.scales[world] / 2  # of the two laws that are known
    return float(max(np.max(ranks[1:] - below), np.max(below - ranks[:-1]))) - steepest


def _best(release: Release, point: Claim, share: float, world: int, sign: int) -> Beyond:
    law = LAWS[release.call.primitive.kind]
    likely, scale = PROBABILITIES, release.scales
    threshold = release.locations[world] + sign * scale[world] * law.inverse(likely)
    x = sign * (threshold - release.locations[1 - world]) - 2 * release.rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        other = law.tail(np.where(scale[1 - world] > 0, x / scale[1 - world], np.copysign(np.inf, x)))
    excess = (1 - share) * likely - _ratio(point) * (other + _unseen(point, share)) - point.delta
    at = int(np.argmax(np.where(np.isfinite(threshold), excess, -np.inf)))
    return Beyond(release, point, world, sign, *(float(one[at]) for one in (threshold, likely, other, excess)))


def _ratio(point: Claim) -> float:
    return math.exp(min(point.epsilon, 700.0))


def _unseen(point: Claim, share: float) -> float:
    """Return the share that is added to the probability in the other world."""
    return share if _ratio(point) * share < 1 else 0.0


def _epsilon(one: Beyond) -> float:
    """Return the loss that the event shows, without the shares."""
    likely, other = (1 - SHARE) * one.likely - one.point.delta, one.other + _unseen(one.point, SHARE)
    return math.log(likely / other) if other > 0 else math.inf


def _laplace_tail(x: Floats) -> Floats:
    half = np.exp(-np.abs(x)) / 2
    return np.where(x > 0, half, 1 - half)


def _laplace_inverse(share: Floats) -> Floats:
    return np.where(share < 0.5, -np.log(2 * share), np.log(np.maximum(2 - 2 * share, LEAST)))


def _gaussian_tail(x: Floats) -> Any:
    from scipy.special import ndtr

    return ndtr(-x)


def _gaussian_inverse(share: Floats) -> Any:
    from scipy.special import ndtri

    return -ndtri(share)


LAWS = {"Laplace": Law(_laplace_tail, _laplace_inverse), "Gaussian": Law(_gaussian_tail, _gaussian_inverse)}
