"""Which releases of noise can be read off an outcome, and how finely.

A release counts only where it changes a part of the outcome that no other noise changes. That part has to be a number
that never falls, or never rises, as the release grows: then a threshold on the one is a threshold on the other. An
absolute value or a remainder hides the sign, and a clamp the tails. Where the outcome hides some noise, no loss counts:
what it decides in rare cases cannot be seen on a few runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.replay.recorder import Recorder, Release, Run
from subnormal.audit.check.result import ModelledLoss
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import AnyClaim, points

READABLE_MAX = 64  # releases that are looked for one by one
RESOLUTION = 0.05  # scales: a release is read finely where twice so much always changes the outcome
TAILS = (2.0, 6.0)  # scales beyond both locations at which the tails are looked at
CENTRES = 5  # places between the tails at which the resolution is looked at

Leaves = dict[Path, Any]
Number = tuple[int, int]  # of a call, and of its release
Losses = Mapping[Number, ModelledLoss]


@dataclass(frozen=True, slots=True)
class Readable:
    """Releases that the outcome shows.

    toward_in: those that it shows in the far tail which is likelier in the first world; toward_out: in the other tail.
    fine: those that it shows to the resolution, and whose scale is the same in both worlds.
    """

    toward_in: list[Number]
    toward_out: list[Number]
    fine: list[Number]

    def among(self, numbers: set[Number]) -> Readable:
        """Return those of them that are among the numbers."""
        every = (self.toward_in, self.toward_out, self.fine)
        return Readable(*([one for one in some if one in numbers] for some in every))


def readable(recorder: Recorder, data: Any, runs: tuple[Run, Run], moved: Losses, claim: AnyClaim) -> Readable:
    """Return which releases the outcome shows.

    data: of the first run. runs: on the two inputs; the second replays the first. moved: the releases whose locations
    differ. All noise must have a location, see `countable`.
    """
    every, again = releases(runs[0]), releases(runs[1])
    touched: dict[Number, set[Path]] = {}
    shown: dict[Number, tuple[set[Path], set[Path], set[Path]]] = {}
    for one, release in every.items():
        touched[one], *parts = _shown(recorder, data, runs[0], one, _probes(release, again[one], moved.get(one), claim))
        shown[one] = parts[0], parts[1], parts[2]
    alone = {one: _alone(one, touched, shown[one]) for one in every}
    found = Readable([], [], [])
    if not all(map(any, alone.values())):  # noise that is hidden may decide in a few cases what is released
        return found
    for one in moved:
        low, high, fine = alone[one]
        toward_low, toward_high = found.toward_out, found.toward_in
        if every[one].location < again[one].location:
            toward_low, toward_high = toward_high, toward_low
        toward_low += [one] if low else []
        toward_high += [one] if high else []
        found.fine.extend([one] if fine and every[one].scale == again[one].scale else [])
    return found


def _alone(
    one: Number, touched: Mapping[Number, set[Path]], shown: tuple[set[Path], set[Path], set[Path]]
) -> tuple[bool, ...]:
    """Return whether parts of the outcome that change with no other noise show a release: low, high, and finely."""
    others = set[Path]().union(*(paths for other, paths in touched.items() if other != one))
    return tuple(bool(parts - others) for parts in shown)


def _shown(
    recorder: Recorder, data: Any, first: Run, one: Number, probes: tuple[list[float], list[float]]
) -> tuple[set[Path], set[Path], set[Path], set[Path]]:
    """Return the parts of the outcome that change with a release, and show its low tail, its high tail, all of it."""
    (far, near), base, released = probes, leaves(first.outcome), releases(first)[one].released
    values = {
        at: leaves(recorder.run(data, first, shifts={one: at - released}).outcome) for at in sorted({*far, *near})
    }

    def differ(path: Path, low: float, high: float) -> bool:
        return identity_at(values[low], path) != identity_at(values[high], path)

    values = dict(sorted({**values, released: base}.items()))
    touched = {path for path in base if any(identity_at(at, path) != identity_at(base, path) for at in values.values())}
    rising = {path for path in touched if _is_monotone([at.get(path) for at in values.values()])}
    low, high = ({path for path in rising if differ(path, *tail)} for tail in (far[:2], far[2:]))
    pairs = list(zip(near[::2], near[1::2], strict=True))
    return touched, low, high, {path for path in rising if all(differ(path, *close) for close in pairs)}


def releases(run: Run) -> dict[Number, Release]:
    """Return the releases of a run by their numbers."""
    return {(place, number): one for place, call in enumerate(run.calls) for number, one in enumerate(call.located())}


def _probes(
    release: Release, other: Release, loss: ModelledLoss | None, claim: AnyClaim
) -> tuple[list[float], list[float]]:
    """Return values of a release: two in each far tail, and pairs of close ones, between and at the best thresholds.

    The best threshold for δ(ε) lies where one density is e^ε times the other.
    """
    scale = release.scale or 1.0
    low, high = sorted((release.location, other.location))
    far = [low - TAILS[1] * scale, low - TAILS[0] * scale, high + TAILS[0] * scale, high + TAILS[1] * scale]
    centres = [float(at) for at in np.linspace(far[1], far[2], CENTRES)]
    if loss is not None and high > low:
        for point in points(claim):
            step = point.epsilon * scale / (2 if loss.kind == "Laplace" else loss.loss)
            centres += [(low + high) / 2 + step, (low + high) / 2 - step]
    near = [at + side * RESOLUTION * scale for at in centres for side in (-1, 1)]
    return far, near


def _is_monotone(values: list[Any]) -> bool:
    if not all(isinstance(one, int | float | np.integer | np.floating) for one in values):
        return False
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def identity_at(parts: Leaves, path: Path) -> Hashable:
    """Return the identity of a part of an outcome; None where it has none."""
    return identity(parts[path]) if path in parts else None
