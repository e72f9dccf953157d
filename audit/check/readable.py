"""Which releases of noise can be read off an outcome, and how finely.

A release counts only where it changes a part of the outcome that no other noise changes. That part has to be a number
that never falls, or never rises, as the release grows: then a threshold on the one is a threshold on the other. An
absolute value or a remainder hides the sign, and a clamp the tails.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import is_mapping
from subnormal.audit.check.replay import Recorder, Release, Run
from subnormal.audit.check.result import ModelledLoss
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import AnyClaim, points

READABLE_MAX = 64  # releases that are looked for one by one
RESOLUTION = 0.05  # scales: a release is read finely where twice so much always changes the outcome
TAILS = (2.0, 6.0)  # scales beyond both locations at which the tails are looked at
CENTRES = 5  # places between the tails at which the resolution is looked at

Path = tuple[Hashable, ...]
Leaves = dict[Path, Any]
Number = tuple[int, int]  # of a call, and of its release


def readable(
    recorder: Recorder, data: Any, first: Run, moved: Mapping[Number, ModelledLoss], claim: AnyClaim, redraws: int
) -> tuple[list[Number], list[Number]]:
    """Return the releases whose far tails can be told from the outcome, and those that can be read finely.

    moved: the releases whose locations differ. redraws: of noise that has no location.
    """
    every = {
        (place, number): one for place, call in enumerate(first.calls) for number, one in enumerate(call.located())
    }
    if len(every) > READABLE_MAX:
        return [], []
    base = leaves(first.outcome)
    touched: dict[Number, set[Path]] = {}
    shown: dict[Number, tuple[set[Path], set[Path]]] = {}
    for one, release in every.items():
        far, near = _probes(release, moved.get(one), claim)
        values = {
            at: leaves(recorder.run(data, first, shifts={one: at - release.released}).outcome) for at in {*far, *near}
        }
        touched[one] = {
            path for path in base if any(identity_at(at, path) != identity_at(base, path) for at in values.values())
        }
        values[release.released] = base
        rising = {path for path in touched[one] if _is_monotone([values[at].get(path) for at in sorted(values)])}
        shown[one] = (
            {path for path in rising if any(_differ(values, path, *far[at : at + 2]) for at in (0, 2))},
            {
                path
                for path in rising
                if all(_differ(values, path, *near[at : at + 2]) for at in range(0, len(near), 2))
            },
        )
    hidden = _hidden(recorder, data, first, base, redraws)
    free = {one: hidden.union(*(touched[other] for other in every if other != one)) for one in moved if one in every}
    tails, fine = ([one for one in free if shown[one][kind] - free[one]] for kind in (0, 1))
    return tails, fine


def releases(run: Run) -> dict[Number, Release]:
    """Return the releases of a run by their numbers."""
    return {(place, number): one for place, call in enumerate(run.calls) for number, one in enumerate(call.located())}


def _in_pairs(values: Sequence[float]) -> zip[tuple[float, float]]:
    return zip(values[::2], values[1::2], strict=True)


def _probes(release: Release, loss: ModelledLoss | None, claim: AnyClaim) -> tuple[list[float], list[float]]:
    """Return values of a release: two in each far tail, and pairs of close ones: between, and at the best thresholds.

    The best threshold for δ(ε) lies where one density is e^ε times the other.
    """
    scale = release.scale or 1.0
    low, high = (release.location,) * 2 if loss is None else sorted((loss.location_in, loss.location_out))
    far = [low - TAILS[1] * scale, low - TAILS[0] * scale, high + TAILS[0] * scale, high + TAILS[1] * scale]
    centres = [float(at) for at in np.linspace(far[1], far[2], CENTRES)]
    if loss is not None and high > low:
        for point in points(claim):
            step = point.epsilon * scale / (2 if loss.kind == "Laplace" else loss.loss)
            centres += [(low + high) / 2 + step, (low + high) / 2 - step]
    near = [at + side * RESOLUTION * scale for at in centres for side in (-1, 1)]
    return far, near


def _differ(values: Mapping[float, Leaves], path: Path, one: float, other: float) -> bool:
    return identity_at(values[one], path) != identity_at(values[other], path)


def _is_monotone(values: list[Any]) -> bool:
    if not all(isinstance(one, int | float | np.integer | np.floating) for one in values):
        return False
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def _hidden(recorder: Recorder, data: Any, first: Run, base: Leaves, redraws: int) -> set[Path]:
    """Return the parts of the outcome that change with noise without a location, as a sample of the records."""
    hidden: set[Path] = set()
    if any(call.primitive.where is None for call in first.calls):
        for _ in range(redraws):
            run = recorder.run(data, first, redraw=True)
            if run.difference is not None:
                return set(base)
            redrawn = leaves(run.outcome)
            hidden |= {path for path in base if identity_at(redrawn, path) != identity_at(base, path)}
            if len(hidden) == len(base):
                break
    return hidden


def leaves(outcome: Any, path: Path = ()) -> Leaves:
    """Return the numbers, strings and so on that an outcome is made of, by their paths."""
    if not isinstance(outcome, tuple) or not outcome:
        return {path: outcome}
    items: Any = outcome if is_mapping(outcome) else enumerate(outcome)
    return {inner: value for step, part in items for inner, value in leaves(part, (*path, step)).items()}


def identity_at(parts: Leaves, path: Path) -> Hashable:
    """Return the identity of a part of an outcome; None where it has none."""
    return identity(parts[path]) if path in parts else None
