"""Releases: parts of an outcome that are a value plus noise, and nothing else.

All noise of a run is shifted at once, each number by an amount of its own, and then by another. A part that moves by a
multiple of one number's shift both times is a release of that number: `location + factor·noise`, as far as two shifts
tell, up to a rounding that is small beside the scale. Behind a clamp, a threshold or a sum of noises nothing is sought.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.replay.recorder import Call, Floats, Recorder, Run, Shifts, depends
from subnormal.audit.check.search import Pair
from subnormal.audit.text import short
from subnormal.mechanisms.core.outcome_identity import identity

LARGEST = 1e300  # scale of which a shift is a number
NEAR, FAR = (4.0, 12.0), (40.0, 120.0)  # scales: noise is shifted up by so much, and then down by so much
ROUNDING = 2.0**-46  # relative: what a few operations on floats make of a number
ROUNDED = 0.03  # scales: a part that is rounded to so little still shows the release
ROUGHLY = 0.05  # relative: what a part may miss of a shift, to guide the search


@dataclass(frozen=True, slots=True)
class Release:
    """A part of the outcome that is a location plus a factor times one number of noise. Pairs are of the two inputs.

    number: of the noise, among all of the run. scales: of the noise times its factor. rounding: how far off the part
    may lie. is_seen: whether both shifts moved the part so, up to this rounding; else roughly, which guides the search.
    """

    path: Path
    number: int
    call: Call
    locations: tuple[float, float]
    factors: tuple[float, float]
    scales: tuple[float, float]
    rounding: float
    is_seen: bool

    @property
    def loss(self) -> float:
        """How far the locations lie apart, over the larger scale, without what rounding may make of it."""
        apart, scale = abs(self.locations[0] - self.locations[1]) - 2 * self.rounding, max(self.scales)
        if not apart > 0:
            return 0.0
        return apart / scale if scale > 0 else math.inf

    def is_shown(self, outcome: Any, world: int, noise: float) -> bool:
        """Return whether a run of a world, with this number of noise, shows the release that the noise makes."""
        part: Any = leaves(outcome).get(self.path)
        released = self.locations[world] + self.factors[world] * noise
        return _is_number(part) and abs(part - released) <= self.rounding + ROUNDING * abs(released)


@dataclass(frozen=True, slots=True)
class Seen:
    """What replays show of a pair. runs: of both inputs, with the same noise. releases: also those that are not exact.

    notes: noise that depends on the data, with the places in the code. without_noise: whether a part differs that no
    shift of the noise changes.
    """

    runs: tuple[Run, Run] | None
    releases: tuple[Release, ...]
    notes: tuple[str, ...]
    located: bool
    without_noise: bool = False

    @property
    def loss(self) -> float:
        """The sum of the losses of all noise, of which each number may show in several parts."""
        largest: dict[int, float] = {}
        for one in self.releases:
            largest[one.number] = max(one.loss, largest.get(one.number, 0.0))
        return sum(largest.values())

    def countable(self) -> tuple[Release, ...]:
        """Return the releases that the outcome shows; none where the run draws anything else."""
        shown = tuple(one for one in self.releases if one.is_seen)
        if self.runs is None or any(call.primitive.where is None for call in self.runs[0].calls):
            return ()
        return shown if {one.number for one in shown} == set(range(self.runs[0].noise.size)) else ()


def seen(recorder: Recorder, pair: Pair) -> Seen | None:
    """Return what replays of a pair show; None where a run cannot be replayed: some randomness is not known.

    Raises TypeError where an outcome cannot be compared.
    """
    first = recorder.run(pair[0])
    if not first.calls:
        return None
    again = recorder.run(pair[0], first)
    if again.difference is not None or identity(again.outcome) != identity(first.outcome):
        return None
    second = recorder.run(pair[1], first)
    located = any(call.primitive.where is not None for call in first.calls)
    notes = () if second.difference is None else (second.difference,)
    if not located or (notes and not _is_same_noise(first, second)):
        return Seen(None, (), notes, located)
    shifts = [_shifts(first, bounds) for bounds in (NEAR, FAR)]
    shifted = [[recorder.run(data, first, shift) for shift in shifts] for data in pair]
    runs = first, second
    parts = [[leaves(run.outcome) for run in (base, *others)] for base, others in zip(runs, shifted, strict=True)]
    differing = {path for path in {**parts[0][0], **parts[1][0]} if _differ(parts[0][0], parts[1][0], path)}
    fixed = {path for path in differing if not any(_differ(parts[0][0], other, path) for other in parts[0][1:])}
    releases: list[Release] = []
    if all(run.is_drawn_as(base) for base, others in zip(runs, shifted, strict=True) for run in others):
        amounts = [np.concatenate([np.zeros(0), *(shift[at] for at in sorted(shift))]) for shift in shifts]
        releases = _releases(runs, parts, amounts)
    if notes:  # other draws differ, of a sample or an order: the releases are those of one of them
        return Seen(None, tuple(replace(one, is_seen=False) for one in releases), notes, located)
    return Seen(runs, tuple(releases), _notes(*runs), located, bool(fixed))


def _is_same_noise(first: Run, second: Run) -> bool:
    """Return whether the second run replays all noise whose location is known, whatever else it draws."""
    noise = [[call for call in run.calls if call.primitive.where is not None] for run in (first, second)]
    return len(noise[0]) == len(noise[1]) and all(call.matched for call in noise[1])


def _shifts(first: Run, bounds: tuple[float, float]) -> Shifts:
    """Return a shift of each number of noise, some scales within the bounds: up by the first, down by the others."""
    sign = 1.0 if bounds == NEAR else -1.0
    draw = random.Random(f"shifts, {sign}")
    return {
        at: np.array([sign * draw.uniform(*bounds) * (min(scale, LARGEST) or 1.0) for scale in call.scales.tolist()])
        for at, call in enumerate(first.calls)
        if call.primitive.where is not None
    }


def _releases(runs: tuple[Run, Run], parts: list[list[dict[Path, Any]]], amounts: list[Floats]) -> list[Release]:
    """Return the parts that move with one number of noise in both worlds.

    parts: of each world without a shift, and with each. amounts: the two shifts of all noise.
    """
    values = {path: [[shown.get(path) for shown in world] for world in parts] for path in parts[0][0]}
    numbers = {
        path: np.array(of_part, dtype=np.float64)
        for path, of_part in values.items()
        if all(_is_number(one) for world in of_part for one in world)
    }
    found = (_release(path, of_part, runs, amounts) for path, of_part in numbers.items())
    return [one for one in found if one is not None]


def _release(path: Path, values: Floats, runs: tuple[Run, Run], amounts: list[Floats]) -> Release | None:
    """Return the release that a part shows; None where it shows none. values: (world, without and with each shift)."""
    if not np.isfinite(values).all() or not (moved := values[:, 1:] - values[:, :1]).all():
        return None
    number = int(np.argmin(np.abs(amounts[1] / amounts[0] - moved[0, 1] / moved[0, 0])))
    near, far = (float(amount[number]) for amount in amounts)
    factors, noise = moved[:, 1] / far, float(runs[0].noise[number])
    misses = np.abs(moved[:, 0] - factors * near)
    if (misses > ROUGHLY * np.abs(moved[:, 0])).any():
        return None
    scales = np.abs(factors) * [run.scales[number] for run in runs]
    of_floats = ROUNDING * float(np.abs(values).max())
    is_exact = bool((misses <= of_floats).all())
    rounding = of_floats if is_exact else ROUNDED * float(scales.min())
    call = [call for call in runs[0].calls for _ in range(call.locations.size)][number]
    locations = values[:, 0] - factors * noise
    at, times, wide = ((float(one[0]), float(one[1])) for one in (locations, factors, scales))
    return Release(path, number, call, at, times, wide, rounding, bool((misses <= rounding / 2).all()) or is_exact)


def _notes(first: Run, second: Run) -> tuple[str, ...]:
    """Return a note for each call whose scale depends on the data."""
    notes: dict[str, None] = {}
    for one, other in zip(first.calls, second.calls, strict=True):
        for scale, other_scale in zip(one.scales.tolist(), other.scales.tolist(), strict=True):
            if scale != other_scale:
                notes[depends(f"the scale of {one.primitive}", (short(scale), short(other_scale)), (one, other))] = None
    return tuple(notes)


def _is_number(part: Any) -> bool:
    return isinstance(part, int | float | np.integer | np.floating) and not isinstance(part, bool)


def _differ(one: Mapping[Path, Any], other: Mapping[Path, Any], path: Path) -> bool:
    if (path in one) != (path in other):
        return True
    return path in one and identity(one[path]) != identity(other[path])
