"""What a replay shows of a claim: losses of releases that can be read off the outcome, and data without noise.

Losses convict under an assumption: primitives draw what their names say, independently of each other, and nothing else
is random. Which of them count is said in `countable` and `readable`. That a part of the outcome differs although all
noise is the same convicts nobody: a noisy threshold does that too. It is a suspicion, which runs must confirm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from subnormal.attacks.core.outcome_paths import leaves
from subnormal.audit.check.replay.countable import Pair, countable, is_repeated
from subnormal.audit.check.replay.readable import Readable, hoped_for, identity_at, readable, releases
from subnormal.audit.check.replay.recorder import Call, Recorder, Release, Run, depends
from subnormal.audit.check.replay.windows import RESOLUTION, Interval, Losses, Number
from subnormal.audit.check.result import ModelledEvidence, ModelledLoss
from subnormal.audit.model import Verdict
from subnormal.audit.text import short
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.curves import SLACK, AnyClaim, points
from subnormal.mechanisms.privacy import Claim

HIDING = (1.0, -0.37, 40.0, -40.0)  # scales by which all noise is shifted, to see what does not change with any
MARGIN = 1e-6  # relative, of a loss above the claim: more than what rounding usually makes of locations
ROUNDING = 2.0**-50  # relative, of a location: what a few additions in another order make of it
REFUSALS = 16  # runs of each kind: of a function that raises by chance they differ so at most once in 10^9
LOSS_MAX = 1e9  # of a loss as a score


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the replay of a pair says. evidence: where it convicts. loss: nats, of all releases, as a score of the pair.

    notes: noise that depends on the data, with the places in the code. located: whether some noise has a location;
    without any, no pair can convict.
    """

    evidence: ModelledEvidence | None
    loss: float
    notes: tuple[str, ...]
    located: bool = True


def replayed(recorder: Recorder, pair: Pair, claim: AnyClaim, *, independent: bool = True) -> Replayed | None:
    """Return what the replay of a pair says; None where a run cannot be replayed: some randomness is not known.

    independent: whether noises are; where they may not be, each release counts alone.

    Raises TypeError where an outcome cannot be compared.
    """
    first = recorder.run(pair[0])
    if not first.calls:
        return None
    if isinstance(first.outcome, Refused) and _raises_recorded(recorder, pair[0]):
        why = "raises where its noise is recorded, and not otherwise, so that no replay tells anything"
        return Replayed(None, 0.0, (f"{why}: {first.outcome.error}",))
    again = recorder.run(pair[0], first)
    if not is_repeated(again, first):
        return None
    second = recorder.run(pair[1], first)
    located = any(call.primitive.where is not None for call in first.calls)
    if second.difference is not None:
        return Replayed(None, 0.0, (second.difference,), located)
    if not located:
        return Replayed(None, 0.0, (), located)
    moved, notes = _losses(first, second)
    loss = min(LOSS_MAX, sum(one.loss for one in moved.values()))
    without_noise = _without_noise(recorder, pair, first, second)
    if without_noise is not None:
        point = points(claim)[0]
        return Replayed(ModelledEvidence(Verdict.VIOLATED, point, math.inf, 1.0, (), without_noise), math.inf, notes)
    if loss == 0:
        return Replayed(None, 0.0, notes)
    exceeded, runs = None, (first, second)
    promising = _promising(moved, runs, claim)
    certain = set() if promising is None else countable(recorder, pair, *runs)
    if promising is not None and certain:
        shown = readable(recorder, pair, runs, moved, promising)
        counted = [certain] if independent else [{one} for one in certain]
        found = (_exceeded(moved, shown.among(together), runs, promising) for together in counted)
        exceeded = next((one for one in found if one is not None), None)
    return Replayed(exceeded, loss, notes)


def _raises_recorded(recorder: Recorder, data: Any) -> bool:
    """Return whether all runs of an input raise that are recorded, and no others."""
    others = (recorder.unrecorded(data) for _ in range(REFUSALS))
    if any(isinstance(outcome, Refused) for outcome in others):
        return False
    return all(isinstance(recorder.run(data).outcome, Refused) for _ in range(REFUSALS))


def _promising(moved: Losses, runs: tuple[Run, Run], claim: AnyClaim) -> Claim | None:
    """Return the point that is exceeded by most, if the outcome shows everything; None where none is exceeded."""
    found = {point: _exceeded(moved, hoped_for(moved, point), runs, point) for point in points(claim)}
    exceeded = {point: one.delta - point.delta for point, one in found.items() if one is not None}
    return max(exceeded, key=lambda point: exceeded[point], default=None)


def _losses(first: Run, second: Run) -> tuple[dict[Number, ModelledLoss], tuple[str, ...]]:
    """Return the losses of the releases whose locations differ, and notes on scales, or on uses of noise, that do."""
    losses: dict[Number, ModelledLoss] = {}
    notes: dict[str, None] = {}
    for place, (call, other_call) in enumerate(zip(first.calls, second.calls, strict=True)):
        if call.places() != other_call.places():
            notes.setdefault(depends("the use of noise", (call.primitive, other_call.primitive), (call, other_call)))
            continue
        for number, (one, other) in enumerate(zip(call.located(), other_call.located(), strict=True)):
            if one.scale != other.scale:
                scales = short(one.scale), short(other.scale)
                notes.setdefault(depends(f"the scale of {call.primitive}", scales, (call, other_call)))
            scale, moved = max(one.scale, other.scale), _distance(one.location, other.location)
            loss = moved / scale if scale > 0 else math.inf if moved > 0 else 0.0
            if loss > 0:  # it is 0 below an infinite scale, and where it underflows
                kind, each = call.primitive.kind, (one.scale, other.scale) if one.scale != other.scale else (None, None)
                losses[place, number] = ModelledLoss(
                    str(call.primitive), kind, call.site, one.location, other.location, scale, loss, *each
                )
    return losses, tuple(notes)


def _distance(one: float, other: float) -> float:
    """Return how far two locations lie apart, without what rounding may make of it."""
    if one == other:
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return max(0.0, abs(one - other) - ROUNDING * max(abs(one), abs(other)))


def _without_noise(recorder: Recorder, pair: Pair, first: Run, second: Run) -> str | None:
    """Return which part of the outcome differs although all noise is the same; None where none does, or noise may hide
    it: the part changes with some noise, or there is noise that has no location."""
    one, other = leaves(first.outcome), leaves(second.outcome)
    differing = {path for path in {**one, **other} if identity_at(one, path) != identity_at(other, path)}
    if not differing or any(_is_unlocated(*calls) for calls in zip(first.calls, second.calls, strict=True)):
        return None
    for by in HIDING:
        shifts = {number: by * (one.scale or 1.0) for number, one in releases(first).items()}
        for changes in ({"shifts": shifts}, {"raw": by}):
            run = recorder.run(pair[0], first, **changes)
            changed = leaves(run.outcome)
            differing = {path for path in differing if identity_at(changed, path) == identity_at(one, path)}
            if run.difference is not None or not differing:
                return None
    where = ", ".join(map(str, min(differing, key=repr)))
    return f"part {where} of the outcome" if where else "the outcome"


def _is_unlocated(one: Call, other: Call) -> bool:
    """Return whether the noise of a call was added to nothing, and came with no location."""
    return not one.releases and not (one.locations.any() or other.locations.any())


def _exceeded(moved: Losses, shown: Readable, runs: tuple[Run, Run], point: Claim) -> ModelledEvidence | None:
    """Return evidence where releases that the outcome shows exceed a point of a claim; None where they do not.

    Each threshold makes two events: the release lies above, or below. At δ = 0 the losses of one event of each release
    add up, because noises are independent, and each release is shown whatever the others are, see `readable`. At a
    positive δ each event counts alone. Gaussian releases that are shown finely have a threshold on their weighted sum
    too: together they come down to two Gaussians of the means 0 and μ = √Σl², where a step of each is read to the
    resolution.
    """
    epsilon = point.epsilon * (1 + MARGIN)
    every, again = map(releases, runs)
    toward = [0.0, 0.0]
    delta = 0.0
    for number, intervals in shown.thresholds.items():
        if moved[number].kind not in _LOG_TAILS:
            continue
        events = [
            event
            for interval in intervals
            for event in _events(moved[number].kind, interval, every[number], again[number])
        ]
        for world in (0, 1):
            toward[world] += max((_loss(*event[world]) for event in events), default=0.0)
            delta = max([delta, *(_excess(*event[world], epsilon) for event in events)])
    gaussian = [moved[one].loss for one in shown.fine]
    if len(gaussian) > 1:
        delta = max(delta, _gaussian(math.hypot(*gaussian), epsilon, RESOLUTION * math.sqrt(len(gaussian))))
    total = max(toward)
    if (point.delta == 0 and total > epsilon) or delta > point.delta * (1 + MARGIN) + SLACK:
        losses = tuple(moved[one] for one in moved if one in shown.thresholds)
        return ModelledEvidence(Verdict.VIOLATED, point, total, delta, losses, None)
    return None


def _laplace_log_tail(distance: float, scale: float) -> float:
    x = _in_scales(distance, scale)
    return -x - math.log(2) if x > 0 else math.log1p(-math.exp(x) / 2)


def _gaussian_log_tail(distance: float, scale: float) -> float:
    from scipy.special import log_ndtr

    return float(log_ndtr(-_in_scales(distance, scale)))


def _geometric_log_tail(distance: float, scale: float) -> float:
    """At a whole distance k: p^k/(1 + p) from k = 0 on, where p = e^(−1/scale), and below 1 − p^(1−k)/(1 + p)."""
    if distance <= 0:
        return math.log1p(-math.exp(_geometric_log_tail(1 - distance, scale)))
    return -_in_scales(distance, scale) - (math.log1p(math.exp(-1 / scale)) if scale else 0.0)


def _in_scales(distance: float, scale: float) -> float:
    return distance / scale if scale else math.copysign(math.inf, distance)


_LOG_TAILS = {  # of P(noise ≥ distance)
    "Laplace": _laplace_log_tail,
    "geometric": _geometric_log_tail,
    "Gaussian": _gaussian_log_tail,
}


def _events(kind: str, interval: Interval, one: Release, other: Release) -> list[tuple[Interval, Interval]]:
    """Return for the events above and below a threshold, for each world, a lower bound on the logarithm of the event's
    probability there, and an upper bound on that in the other world. The threshold lies in the interval.

    Of geometric noise: the ends are whole numbers, and the outcomes at them differ, so that an event that holds at the
    far end does not hold at the near one, but at most at the next number.
    """

    def log_tail(release: Release, threshold: float, sign: int) -> float:
        return _LOG_TAILS[kind](sign * (threshold - release.location), release.scale)

    found = []
    for sign, (near, far) in ((1, interval), (-1, interval[::-1])):  # less probability is beyond the far end
        near += sign if kind == "geometric" else 0
        found.append(
            (
                (log_tail(one, far, sign), log_tail(other, near, sign)),
                (log_tail(other, far, sign), log_tail(one, near, sign)),
            )
        )
    return found


def _loss(low: float, other_high: float) -> float:
    return max(0.0, low - other_high) if low > -math.inf else 0.0


def _excess(low: float, other_high: float, epsilon: float) -> float:
    """Return P − e^ε·Q, of logarithms."""
    return math.exp(low) - (math.exp(other_high + epsilon) if other_high + epsilon < low else math.exp(low))


def _gaussian(mu: float, epsilon: float, resolution: float) -> float:
    """Return P(x ≥ t) − e^ε·Q(x ≥ t), Q of mean 0 and P of mean μ, for the worst t close to the best one."""
    from scipy.special import log_ndtr, ndtr

    if math.isinf(mu):
        return 1.0
    best = epsilon / mu + mu / 2
    return min(float(ndtr(mu - t) - math.exp(epsilon + log_ndtr(-t))) for t in (best - resolution, best + resolution))
