"""What a replay shows of a claim: losses of releases that can be read off the outcome, and data without noise."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from subnormal.attacks.core.outcome_paths import is_mapping
from subnormal.audit.check.replay import Call, Recorder, Run
from subnormal.audit.check.result import ModelledEvidence, ModelledLoss
from subnormal.audit.model import Verdict
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import SLACK, AnyClaim, Gdp, points

READABLE_MAX = 64  # releases that are looked for in the outcome one by one
SHIFTS = (1.0, -0.37)  # scales by which a release is shifted, to see what changes with it
REDRAWS = 3  # of noise without a location
MARGIN = 1e-6  # relative, of a loss above the claim: more than what rounding usually makes of locations

Pair = tuple[Any, Any]
Path = tuple[Hashable, ...]
Parts = dict[Path, Hashable]
Number = tuple[int, int]  # of a call, and of its release


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the replay of a pair says. evidence: where it convicts. loss: nats, of all releases, as a score of the pair.

    notes: noise that depends on the data, with the places in the code.
    """

    evidence: ModelledEvidence | None
    loss: float
    notes: tuple[str, ...]


def replayed(recorder: Recorder, pair: Pair, claim: AnyClaim) -> Replayed | None:
    """Return what the replay of a pair says; None where a run cannot be replayed: some randomness is not known.

    Raises TypeError where an outcome cannot be compared.
    """
    first = recorder.run(pair[0])
    if not first.calls:
        return None
    again = recorder.run(pair[0], first)
    if again.difference is not None or identity(again.outcome) != identity(first.outcome):
        return None
    second = recorder.run(pair[1], first)
    if second.difference is not None:
        return Replayed(None, 0.0, (f"the noise depends on the data: {second.difference}",))
    moved, notes = _losses(first, second)
    loss = sum(one.loss for one in moved.values())
    without_noise = _without_noise(recorder, pair, first, second)
    if without_noise is not None:
        point = points(claim)[0]
        return Replayed(ModelledEvidence(Verdict.VIOLATED, point, math.inf, 1.0, (), without_noise), math.inf, notes)
    if loss == 0:
        return Replayed(None, 0.0, notes)
    exceeded = _exceeded(list(moved.values()), claim)
    if exceeded is not None:
        readable = _readable(recorder, pair, first)
        exceeded = _exceeded([one for number, one in moved.items() if number in readable], claim)
    return Replayed(exceeded, loss, notes)


def _losses(first: Run, second: Run) -> tuple[dict[Number, ModelledLoss], tuple[str, ...]]:
    """Return the losses of the releases whose locations differ, and notes on scales that do."""
    losses: dict[Number, ModelledLoss] = {}
    notes: dict[str, None] = {}
    for place, (call, other_call) in enumerate(zip(first.calls, second.calls, strict=True)):
        for number, (one, other) in enumerate(zip(call.located(), other_call.located(), strict=True)):
            if one.scale != other.scale:
                notes.setdefault(
                    f"the scale of {call.primitive} depends on the data: {one.scale:g} at {call.site}, "
                    f"{other.scale:g} at {other_call.site}"
                )
            if one.location != other.location and not (math.isnan(one.location) and math.isnan(other.location)):
                scale, moved = max(one.scale, other.scale), abs(one.location - other.location)
                loss = moved / scale if scale > 0 and not math.isnan(moved) else math.inf
                kind = call.primitive.kind
                losses[place, number] = ModelledLoss(
                    str(call.primitive), kind, call.site, one.location, other.location, scale, loss
                )
    return losses, tuple(notes)


def _without_noise(recorder: Recorder, pair: Pair, first: Run, second: Run) -> str | None:
    """Return which part of the outcome differs although all noise is the same; None where none does, or noise may hide
    it: noise that has no location, or that is used for more than its releases."""
    one, other = _parts(first.outcome), _parts(second.outcome)
    differing = [path for path in {**one, **other} if path not in one or path not in other or one[path] != other[path]]
    if not differing or any(_is_unlocated(*calls) for calls in zip(first.calls, second.calls, strict=True)):
        return None
    raw = recorder.run(pair[0], first, raw=True)
    if raw.difference is not None or identity(raw.outcome) != identity(first.outcome):
        return None
    where = ", ".join(map(str, differing[0])) if differing[0] else ""
    return f"part {where} of the outcome" if where else "the outcome"


def _is_unlocated(one: Call, other: Call) -> bool:
    """Return whether the noise of a call was added to nothing, and came with no location."""
    return not one.releases and not (one.locations.any() or other.locations.any())


def _readable(recorder: Recorder, pair: Pair, first: Run) -> set[Number]:
    """Return the releases that can be read off the outcome: a part of it changes with them, and with no other noise."""
    numbers = [(place, number) for place, call in enumerate(first.calls) for number in range(len(call.located()))]
    if len(numbers) > READABLE_MAX:
        return set()
    base = _parts(first.outcome)
    telling: dict[Number, set[Path]] = {}
    touched: dict[Number, set[Path]] = {}
    for place, number in numbers:
        scale = first.calls[place].located()[number].scale or 1.0
        shifted = [
            _parts(recorder.run(pair[0], first, shifts={(place, number): shift * scale}).outcome) for shift in SHIFTS
        ]
        values = {path: {base[path], *(one.get(path) for one in shifted)} for path in base}
        telling[place, number] = {path for path in base if len(values[path]) == 1 + len(SHIFTS)}
        touched[place, number] = {path for path in base if len(values[path]) > 1}
    hidden = _hidden(recorder, pair, first, base)
    return {
        one for one in numbers if telling[one] - hidden.union(*(touched[other] for other in numbers if other != one))
    }


def _hidden(recorder: Recorder, pair: Pair, first: Run, base: Parts) -> set[Path]:
    """Return the parts of the outcome that change with noise that has no location."""
    if all(call.primitive.where is not None for call in first.calls):
        return set()
    redrawn = [_parts(recorder.run(pair[0], first, redraw=True).outcome) for _ in range(REDRAWS)]
    return {path for path in base if any(one.get(path) != base[path] for one in redrawn)}


def _exceeded(losses: Sequence[ModelledLoss], claim: AnyClaim) -> ModelledEvidence | None:
    """Return evidence where releases with these losses exceed a claim, by lower bounds on δ(ε) of all of them together.

    Laplace noise: the sum of the losses at δ = 0; else the curve of one release, 1 − e^((ε − l)/2), and of the event
    that each of k noises pushes the release away, 2^−k·(1 − e^(ε − Σl)). Gaussian noise: the curve of μ = √Σl².
    """
    laplace = [one.loss for one in losses if one.kind == "Laplace"]
    mu = math.hypot(*(one.loss for one in losses if one.kind == "Gaussian"))
    total = sum(laplace)
    for point in points(claim):
        epsilon = point.epsilon * (1 + MARGIN)
        bounds = [-math.expm1((epsilon - one) / 2) for one in laplace if one > epsilon]
        if total > epsilon:
            bounds.append(-math.expm1(epsilon - total) * 2.0 ** -len(laplace))
        if mu > 0:
            bounds.append(1.0 if math.isinf(mu) else Gdp(mu).delta(epsilon) - 2 * SLACK)
        delta = max(bounds, default=0.0)
        if delta > point.delta * (1 + MARGIN) + SLACK or (mu > 0 and point.delta == 0):
            most = math.inf if mu > 0 else total
            return ModelledEvidence(Verdict.VIOLATED, point, most, max(delta, 0.0), tuple(losses), None)
    return None


def _parts(outcome: Any, path: Path = ()) -> Parts:
    """Return the numbers, strings and so on that an outcome is made of, by their paths."""
    if not isinstance(outcome, tuple) or not outcome:
        return {path: identity(outcome)}
    items: Any = outcome if is_mapping(outcome) else enumerate(outcome)
    return {inner: value for step, part in items for inner, value in _parts(part, (*path, step)).items()}
