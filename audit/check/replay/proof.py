"""The proof by replay: what a release convicts of, and what is held against it before it is reported.

The event is `the release lies beyond a threshold`, by the known law of its noise. The noise has the law that the
primitive's name says, and the outcome shows the release, except in a share of the runs: confirmation sees a larger one.
So of an event with probability P in one world and Q in the other, that share is taken from P and added to Q. Where e^ε
times the share is 1 or more, no feasible number of runs says anything of Q, and Q is taken as it is: that nothing else
is random is assumed there. It is held against one run of each input, in which generators may move in recorded draws
alone, and it is not assumed of functions that draw by torch or jax, whose compiled code may draw unseen: of these,
nothing is said then. Each release counts alone. Events are no rarer than `LEAST`: further out, floats are no Laplace or
Gaussian numbers.

What confirms it (`is_confirmed`):

- *Unrecorded.* So many runs of each input are made as they are. From the same states of all generators they are made
  again while primitives are recorded. All outcomes must be the same: else the function tells the two apart, by the type
  of a generator as it may be, or draws from a source that nobody knows.
- *Shown.* Each of the recorded runs must draw the same noise around the same locations, and show the release. A share
  of runs that do not is seen with probability 1 − α, because (1 − share)^runs ≤ α. It is `SHARE`, and more of a slow
  function: fewer runs see a larger share alone.
- *Beyond.* So many further runs are replayed with the release where the event holds, as the law of its noise says, and
  with other noise as they drew it. Both inputs must show it there. So the same holds given the event.
- *Frequency.* The outcomes of the unrecorded runs must follow the law of the release, in both worlds: their
  distribution function lies nowhere further off than the Dvoretzky-Kiefer-Wolfowitz inequality allows. This drops
  evidence that is right with a probability of at most `DROPPED`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from subnormal.attacks.core.events import Learned, Term
from subnormal.audit.check.evidence import ModelledEvidence, ModelledLoss
from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.outcome import Floats, key_of, outcome_of
from subnormal.audit.check.replay.recorder import Recorder, Run
from subnormal.audit.check.replay.releases import Release
from subnormal.audit.check.search import Pair
from subnormal.audit.model import Verdict
from subnormal.audit.randomness.primitives import intercepted, moves_unrecorded
from subnormal.audit.randomness.repetition import Repetition
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import PairCounts
from subnormal.audit.text import given
from subnormal.mechanisms.curves import SLACK, AnyClaim, points
from subnormal.mechanisms.privacy import Claim

SHARE = 0.01  # of the runs of an input in which the outcome may not show the release, where there is time for them
LONGEST = 1000  # numbers of a release whose event names each with its weight
EXPECTED = 1 << 20  # runs of which the events are expected to be what their probabilities say
LEAST = 1e-9  # probability of an event in the world where it is likelier
PROBABILITIES = np.concatenate([np.geomspace(LEAST, 0.5, 400), 1 - np.geomspace(1e-3, 0.5, 100)[:-1]])
DROPPED = 1e-6  # the probability that evidence is dropped although all that it assumes is so
KINDS = 7  # of runs, of each of which `runs_needed` are made


@dataclass(frozen=True, slots=True)
class Law:
    """A law of noise of scale 1, symmetric around 0. tail: P(noise ≥ x), and its inverse, of arrays."""

    tail: Callable[[Any], Any]
    inverse: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Beyond:
    """The event that a release lies at a threshold or beyond it. world: where it is likelier; sign: −1 below.

    The outcome shows it up to a rounding, so that it may hold in the other world from two roundings before on. likely,
    other: its probability in each world. excess: of the first over what the point of the claim allows. share: of the
    runs that may not show the release.
    """

    release: Release
    point: Claim
    world: int
    sign: int
    threshold: float
    likely: float
    other: float
    excess: float
    share: float = SHARE

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
        weighted = zip(self.release.paths(), self.release.weights.tolist(), strict=True)
        return Learned(tuple(Term("value", path, weight) for path, weight in weighted), low, high)

    def described(self) -> Mapping[str, Any]:
        """Return the event as a JSON object. Of a very long sum it does not hold the weights."""
        if self.release.weights.size <= LONGEST:
            return self.event().to_json()
        name = f"a sum of {self.release.weights.size:,} numbers, weighted by how far each moves: it"
        side = "at least" if self.sign > 0 else "at most"
        return {"kind": "predicate", "name": f"({name} is {side} {given(self.threshold, 6)})", "portable": False}

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
        drawn = f"{call.primitive}{f' ({n:,} numbers, along what moved)' if (n := one.weights.size) > 1 else ''}"
        loss = ModelledLoss(
            drawn, call.primitive.kind, call.site, low, high, max(scale, other_scale), one.loss, *scales
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


def affordable(function: Function, alpha: float, seconds: float) -> tuple[int, float]:
    """Return how many runs of each kind may confirm in half of the time, and the share of runs that one of them
    sees with probability 1 − α; a share of 1 where there is no time for any.
    """
    most = seconds / 2 / KINDS / max(1e-9, function.seconds_a_run())
    runs = int(min(runs_needed(alpha), most))
    return runs, max(SHARE, -math.expm1(math.log(alpha) / runs)) if runs > 0 else 1.0


def _best(release: Release, point: Claim, share: float, world: int, sign: int) -> Beyond:
    law = LAWS[release.call.primitive.kind]
    likely, scale = PROBABILITIES, release.scales
    threshold = release.locations[world] + sign * scale[world] * _quantiles(release.call.primitive.kind)
    x = sign * (threshold - release.locations[1 - world]) - 2 * release.rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        other = law.tail(np.where(scale[1 - world] > 0, x / scale[1 - world], np.copysign(np.inf, x)))
    excess = (1 - share) * likely - _ratio(point) * (other + _unseen(release, point, share)) - point.delta
    at = int(np.argmax(np.where(np.isfinite(threshold), excess, -np.inf)))
    found = Beyond(release, point, world, sign, *(float(one[at]) for one in (threshold, likely, other, excess)))
    return replace(found, share=share)


@cache
def _quantiles(kind: str) -> Floats:
    """Return where noise of scale 1 lies beyond with each of the probabilities."""
    quantiles: Floats = LAWS[kind].inverse(PROBABILITIES)
    quantiles.flags.writeable = False
    return quantiles


def _ratio(point: Claim) -> float:
    return math.exp(min(point.epsilon, 700.0))


def _unseen(release: Release, point: Claim, share: float) -> float:
    """Return the share that is added to the probability in the other world. Few runs, and compiled code, never leave it
    out."""
    return share if share > SHARE or release.is_compiled or _ratio(point) * share < 1 else 0.0


def _epsilon(one: Beyond) -> float:
    """Return the loss that the event shows, without the shares."""
    likely, other = (
        (1 - one.share) * one.likely - one.point.delta,
        one.other + _unseen(one.release, one.point, one.share),
    )
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
    release = beyond.release
    runs_of = [partial(outcome_of, function, data) for data in pair]
    if not _unseen(release, beyond.point, beyond.share) and any(  # in one run of each: a coin is thrown in each
        moves_unrecorded(function.function, run) for run in runs_of
    ):
        return False
    repetition, recorder = Repetition(function.function), Recorder(function)
    with repetition.once():
        unrecorded = [[_short(outcome_of(function, data), release) for _ in range(runs)] for data in pair]
    drawn: list[Run] = []  # the first of each world
    with repetition.again(), intercepted(function.function, recorder.intercept):
        for world, data in enumerate(pair):
            for key, _ in unrecorded[world]:
                run = recorder.run(data)
                drawn += [run] if len(drawn) == world else []
                if key_of(run.outcome) != key or not run.is_drawn_as(drawn[world]):
                    return False
                if not release.is_shown(run.outcome, world, run.noise[release.numbers]):
                    return False
    draw = random.Random(f"beyond {beyond.threshold}")
    values = beyond.drawn(np.array([1 - draw.random() for _ in range(runs)])).tolist()
    with intercepted(function.function, recorder.intercept):
        for value in values:
            first = recorder.run(pair[beyond.world])
            if not first.is_drawn_as(drawn[beyond.world]) or not _is_shown_at(recorder, pair, beyond, first, value):
                return False
    return all(_follows(release, [value for _, value in unrecorded[world]], world) for world in (0, 1))


def _short(outcome: Any, release: Release) -> tuple[Any, float]:
    """Return what tells outcomes apart, and the release that one shows; NaN for none."""
    values = release.values(outcome)
    return key_of(outcome), math.nan if values is None else float(values @ release.weights)


def _is_shown_at(recorder: Recorder, pair: Pair, beyond: Beyond, first: Run, value: float) -> bool:
    """Return whether both inputs show a value of the release, with the other noise of a run of the likelier one.

    Of several numbers, each moves by its share: given their sum, independent Gaussian noise is distributed so.
    """
    release, noise = beyond.release, first.noise
    own = release.each_location + release.each_factor * noise[release.numbers]
    shares = release.weights * release.each_scale[beyond.world] ** 2
    each = own[beyond.world] + shares * ((value - own[beyond.world] @ release.weights) / (shares @ release.weights))
    for world, data in enumerate(pair):
        moved = noise.copy()
        moved[release.numbers] = (each - release.each_location[world]) / release.each_factor[world]
        located = [at for at, call in enumerate(first.calls) if call.primitive.where is not None]
        ends = np.cumsum([first.calls[at].locations.size for at in located])
        changes = np.split(moved - noise, ends[:-1])
        run = recorder.run(data, first, {at: by for at, by in zip(located, changes, strict=True) if by.any()})
        if run.difference is not None or not release.is_shown(run.outcome, world, run.noise[release.numbers]):
            return False
    return True


def _follows(release: Release, values: list[float], world: int) -> bool:
    """Return whether values of the release follow its law."""
    return off(release, world, np.array(values)) <= math.sqrt(math.log(4 / DROPPED) / 2 / len(values))


def off(release: Release, world: int, values: Floats) -> float:
    """Return how far the distribution function of values lies from that of a release, at most."""
    x = (np.sort(values) - release.locations[world]) / release.scales[world]
    below, ranks = LAWS[release.call.primitive.kind].tail(-x), np.arange(len(values) + 1) / len(values)
    steepest = release.rounding / release.scales[world] / 2  # of the two laws that are known
    return float(max(np.max(ranks[1:] - below), np.max(below - ranks[:-1]))) - steepest
