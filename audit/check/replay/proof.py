"""The proof by replay: what a release convicts of, and what is held against it before it is reported.

The event is `the release lies beyond a threshold`, by the known law of its noise. The noise has the law that the
primitive's name says, and the outcome shows the release, but for a share of the runs: confirmation sees a larger one.
So of an event with probability P in one world and Q in the other, that share is taken from P and added to Q. Where e^ε
times the share is 1 or more, no feasible number of runs says anything of Q, and Q is taken as it is: that nothing else
is random is assumed there, not seen. Each release counts alone. Events are no rarer than `LEAST`: further out, floats
are no Laplace or Gaussian numbers.

What confirms it (`is_confirmed`):

- *Unrecorded.* So many runs of each input are made as they are. From the same states of all generators they are made
  again while primitives are recorded. All outcomes must be the same: else the function tells the two apart, by the type
  of a generator as it may be, or draws from a source that nobody knows.
- *Shown.* Each of the recorded runs must draw the same noise around the same locations, and show the release. A share
  `SHARE` of runs that do not is seen with probability 1 − α, because (1 − SHARE)^runs ≤ α.
- *Beyond.* So many further replays move the release to where the event holds, as the law of its noise says, with other
  noise as it was drawn in these runs. Both inputs must show it there. So the same holds given the event.
- *Frequency.* The outcomes of the unrecorded runs must follow the law of the release, in both worlds: their
  distribution function lies nowhere further off than the Dvoretzky-Kiefer-Wolfowitz inequality allows. This drops
  evidence that is right with a probability of at most `DROPPED`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from subnormal.attacks.core.events import Learned, Term
from subnormal.attacks.core.outcome_paths import leaves
from subnormal.audit.check.evidence import ModelledEvidence, ModelledLoss
from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.recorder import Floats, Recorder, Run
from subnormal.audit.check.replay.releases import Release
from subnormal.audit.check.search import Pair
from subnormal.audit.model import Verdict
from subnormal.audit.randomness.primitives import intercepted
from subnormal.audit.randomness.repetition import Repetition
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import SLACK, AnyClaim, points
from subnormal.mechanisms.privacy import Claim

SHARE = 0.01  # of the runs of an input in which the outcome may not show the release
EXPECTED = 1 << 20  # runs of which the events are expected to be what their probabilities say
LEAST = 1e-9  # probability of an event in the world where it is likelier
PROBABILITIES = np.concatenate([np.geomspace(LEAST, 0.5, 400), 1 - np.geomspace(1e-3, 0.5, 100)[:-1]])
DROPPED = 1e-6  # the probability that evidence is dropped although all that it assumes is so
KINDS = 6  # of runs, of each of which `runs_needed` are made


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


def runs_needed(alpha: float) -> int:
    """Return the runs of which one is likely, with probability 1 − α, to show what a share `SHARE` of runs does.

    >>> runs_needed(1e-6)
    1375
    """
    return math.ceil(math.log(alpha) / math.log1p(-SHARE))


def is_confirmed(function: Function, pair: Pair, beyond: Beyond, runs: int) -> bool:
    """Return whether so many runs of each kind agree with an event of a release."""
    repetition, recorder = Repetition(), Recorder(function)
    with repetition.once():
        outcomes = [[function.outcome(data) for _ in range(runs)] for data in pair]
    with repetition.again(), intercepted(function.function, recorder.intercept):
        recorded = [[recorder.run(data) for _ in range(runs)] for data in pair]
    for world in (0, 1):
        same = zip(outcomes[world], recorded[world], strict=True)
        if not all(identity(one) == identity(run.outcome) for one, run in same):
            return False
        if not _is_shown(beyond.release, recorded[world], world):
            return False
    with intercepted(function.function, recorder.intercept):
        if not all(_is_shown_at(recorder, pair, beyond, *one) for one in _values(beyond, recorded[beyond.world])):
            return False
    return all(_follows(beyond.release, outcomes[world], world) for world in (0, 1))


def _is_shown(release: Release, recorded: list[Run], world: int) -> bool:
    """Return whether all runs of a world draw the same noise, and show the release."""
    drawn = recorded[0]
    return all(
        run.is_drawn_as(drawn) and release.is_shown(run.outcome, world, float(run.noise[release.number]))
        for run in recorded
    )


def _values(beyond: Beyond, recorded: list[Run]) -> Iterable[tuple[Run, float]]:
    """Return the runs, with a value of the release for each, given the event."""
    draw = random.Random(f"beyond {beyond.threshold}")
    shares = np.array([1 - draw.random() for _ in recorded])
    return zip(recorded, beyond.drawn(shares).tolist(), strict=True)


def _is_shown_at(recorder: Recorder, pair: Pair, beyond: Beyond, first: Run, value: float) -> bool:
    """Return whether both inputs show a value of the release, with the other noise of a run."""
    release = beyond.release
    for world, data in enumerate(pair):
        noise = (value - release.locations[world]) / release.factors[world]
        shifts, before = {}, 0
        for at, call in enumerate(first.calls):
            within = release.number - before
            if 0 <= within < call.noise.size:
                shifts[at] = np.zeros(call.noise.size)
                shifts[at][within] = noise - call.noise[within]
            before += call.noise.size
        run = recorder.run(data, first, shifts)
        if run.difference is not None or not release.is_shown(run.outcome, world, noise):
            return False
    return True


def _follows(release: Release, outcomes: list[Any], world: int) -> bool:
    """Return whether outcomes follow the law of the release."""
    values = np.array([float(leaves(outcome)[release.path]) for outcome in outcomes])
    return off(release, world, values) <= math.sqrt(math.log(4 / DROPPED) / 2 / len(values))


def off(release: Release, world: int, values: Floats) -> float:
    """Return how far the distribution function of values lies from that of a release, at most."""
    x = (np.sort(values) - release.locations[world]) / release.scales[world]
    below, ranks = LAWS[release.call.primitive.kind].tail(-x), np.arange(len(values) + 1) / len(values)
    steepest = release.rounding / release.scales[world] / 2  # of the two laws that are known
    return float(max(np.max(ranks[1:] - below), np.max(below - ranks[:-1]))) - steepest
