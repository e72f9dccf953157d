"""Which releases of noise can be read off an outcome, and at which thresholds.

A release counts only where it changes a part of the outcome that no other noise changes. That part has to be a number
that never falls, or never rises, as the release grows. Where it jumps, at one threshold on the release for both inputs,
an event on the outcome is an event on the release. What lies on either side has to be the same for both inputs, because
a function may compare its release with data once more: then the threshold is another one in each world, and none is
found here. An absolute value or a remainder hides the sign, and a clamp the tails. Where the outcome hides some noise,
no release counts: what it decides in rare cases cannot be seen on a few runs. As in `countable`, no release counts
where there is other noise at a value that is looked at, and none that lies elsewhere then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.replay.recorder import Recorder, Release, Run
from subnormal.audit.check.result import ModelledLoss
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import Claim

READABLE_MAX = 64  # releases that are looked for one by one
RESOLUTION = 0.05  # scales: a release is read finely where twice so much always holds a threshold
TAIL = 6.0  # scales beyond both locations up to which a threshold in a tail is sought
CENTRES, SIDES = 5, 2.0  # places at which the resolution is looked at, up to so many scales beyond both locations
NEAR = 0.5  # scales on either side of the best threshold within which one is sought
BEYOND = 1.1  # times the claim's ε: the loss at the threshold that is sought in the tail of Gaussian noise
WIDTH = 2.0**-20  # scales: of half the interval in which a threshold is found
WIDER = 8.0  # times: the interval around the middle of a window in which a jump is sought next
SPACING = 2.0**-50  # relative: what the rounding of a release takes

Leaves = dict[Path, Any]
Number = tuple[int, int]  # of a call, and of its release
Losses = Mapping[Number, ModelledLoss]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Readable:
    """Releases that the outcome shows.

    thresholds: of each, the intervals of the release in which a part of the outcome jumps, for both inputs.
    fine: Gaussian ones that have a threshold between each two close values, and the same scale in both worlds, where
    several count together.
    """

    thresholds: Mapping[Number, tuple[Interval, ...]]
    fine: tuple[Number, ...]

    def among(self, numbers: set[Number]) -> Readable:
        """Return those of them that are among the numbers."""
        thresholds = {one: found for one, found in self.thresholds.items() if one in numbers}
        return Readable(thresholds, tuple(one for one in self.fine if one in numbers))


def hoped_for(moved: Losses, point: Claim) -> Readable:
    """Return what an outcome that shows everything would show of the releases whose locations differ."""
    middles = {
        number: tuple((sum(one) / 2, sum(one) / 2) for one in _windows(loss, point)) for number, loss in moved.items()
    }
    return Readable(middles, _counted_together(moved, point))


def readable(recorder: Recorder, pair: tuple[Any, Any], runs: tuple[Run, Run], moved: Losses, point: Claim) -> Readable:
    """Return which releases the outcome shows.

    runs: on the two inputs; the second replays the first. moved: the releases whose locations differ. point: (ε, δ), by
    which the thresholds are chosen. All noise must have a location, see `countable`.
    """
    every, again, together = releases(runs[0]), releases(runs[1]), _counted_together(moved, point)
    seen: dict[Number, _Seen] = {}
    for one, release in every.items():
        windows = _windows(moved[one], point) if one in moved else _tails(release.location, release.location, release)
        close = _close(release, again[one], windows) if one in together else []
        seen[one] = _Seen.of(recorder, pair, runs, one, windows, close)
    thresholds: dict[Number, tuple[Interval, ...]] = {}
    fine: list[Number] = []
    for one, shown in seen.items():
        parts = shown.monotone.difference(*(other.touched for number, other in seen.items() if number != one))
        if one not in moved:
            if not any(shown.jumps(part, window) for part in parts for window in shown.windows):
                return Readable({}, ())  # noise that is hidden may decide in a few cases what is released
            continue
        found = (shown.threshold(parts, window) for window in shown.windows)
        thresholds[one] = tuple(interval for interval in found if interval is not None)
        if not thresholds[one]:
            return Readable({}, ())
        if one in together and every[one].scale == again[one].scale and any(map(shown.is_fine, parts)):
            fine.append(one)
    if any(shown.differs for shown in seen.values()):
        return Readable({}, ())
    elsewhere = set[Number]().union(*(shown.moving for shown in seen.values()))
    return Readable(thresholds, tuple(fine)).among(every.keys() - elsewhere)


@dataclass(slots=True)
class _Seen:
    """What is seen of one release: the outcomes of both inputs, as leaves, at some of its values.

    touched: the parts of an outcome that change with it. monotone: those of them that never fall, or never rise.
    windows: pairs of values between which a threshold is sought. close: pairs of close values. differs: whether the
    noise was another at one of the values. moving: the releases that lay elsewhere at one of them.
    """

    recorder: Recorder
    pair: tuple[Any, Any]
    runs: tuple[Run, Run]
    one: Number
    windows: list[Interval]
    close: list[Interval]
    leaves: dict[tuple[int, float], Leaves]
    touched: set[Path]
    monotone: set[Path]
    moving: set[Number]
    differs: bool = False

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        pair: tuple[Any, Any],
        runs: tuple[Run, Run],
        one: Number,
        windows: list[Interval],
        close: list[Interval],
    ) -> _Seen:
        """Look at the ends of the windows and of the close pairs."""
        seen = cls(recorder, pair, runs, one, windows, close, {}, set(), set(), set())
        released = releases(runs[0])[one].released
        values = sorted({released, *(end for ends in (*windows, *close) for end in ends)})
        parts = {path for world in (0, 1) for path in seen.at(world, released)}
        for path in parts:
            in_worlds = [[seen.at(world, value).get(path) for value in values] for world in (0, 1)]
            if any(len({identity(value) for value in of_world}) > 1 for of_world in in_worlds):
                seen.touched.add(path)
                if all(map(_is_monotone, in_worlds)):
                    seen.monotone.add(path)
        return seen

    def at(self, world: int, value: float) -> Leaves:
        """Return the parts of a world's outcome where the release has this value."""
        known = self.leaves.get((world, value))
        if known is None:
            first = self.runs[0]
            shift = value - releases(first)[self.one].released
            run = self.recorder.run(self.pair[world], first, shifts={self.one: shift})
            self.differs |= run.difference is not None
            self.moving |= moving(run, self.runs[world])
            known = self.leaves[world, value] = leaves(run.outcome)
        return known

    def jumps(self, path: Path, window: Interval, world: int = 0) -> bool:
        """Return whether a part differs at the two ends."""
        return identity_at(self.at(world, window[0]), path) != identity_at(self.at(world, window[1]), path)

    def is_fine(self, path: Path) -> bool:
        """Return whether there is a threshold between the values of each close pair."""
        return all(self.threshold([path], ends) is not None for ends in self.close)

    def threshold(self, paths: Iterable[Path], window: Interval) -> Interval | None:
        """Return an interval within the window in which a part jumps, from one value to another, in both worlds."""
        scale = releases(self.runs[0])[self.one].scale
        for path in paths:
            if not self.jumps(path, window):
                continue
            middle = sum(window) / 2
            width = max(WIDTH * (scale or window[1] - window[0]), SPACING * max(map(abs, window)))
            low, high, half = *window, width
            while low < middle - half and middle + half < high:
                if self.jumps(path, (middle - half, middle + half)):
                    low, high = middle - half, middle + half
                half *= WIDER
            while high - low > 2 * width and low < (middle := (low + high) / 2) < high:
                low, high = (low, middle) if self.jumps(path, (low, middle)) else (middle, high)
            if self._is_shared(path, (low, high)):
                return low, high
        return None

    def _is_shared(self, path: Path, values: Iterable[float]) -> bool:
        return all(identity_at(self.at(0, one), path) == identity_at(self.at(1, one), path) for one in values)


def releases(run: Run) -> dict[Number, Release]:
    """Return the releases of a run by their numbers."""
    return {(place, number): one for place, call in enumerate(run.calls) for number, one in enumerate(call.located())}


def moving(run: Run, base: Run) -> set[Number]:
    """Return the releases of a run whose noise lies elsewhere, or has another scale, than before."""
    now, before = releases(run), releases(base)
    return {
        number
        for number, one in before.items()
        if number not in now or (one.location, one.scale) != (now[number].location, now[number].scale)
    }


def _counted_together(moved: Losses, point: Claim) -> tuple[Number, ...]:
    """Return the Gaussian releases, where there are several and the claim has a δ."""
    gaussian = tuple(one for one, loss in moved.items() if loss.kind == "Gaussian")
    return gaussian if len(gaussian) > 1 and point.delta > 0 else ()


def _tails(one: float, other: float, release: Release | ModelledLoss) -> list[Interval]:
    """Return windows in the tails, beyond both locations."""
    (low, high), reach = sorted((one, other)), TAIL * (release.scale or 1.0)
    return [(low - reach, low), (high, high + reach)]


def _windows(loss: ModelledLoss, point: Claim) -> list[Interval]:
    """Return where thresholds are sought: in the tails, between the locations, and around the best thresholds.

    The best threshold for δ(ε) lies where one density is e^ε times the other. Noise of scale 0 is found between the
    locations. At δ = 0, that of Gaussian noise lies as far out as makes the loss larger than ε.
    """
    low, high = sorted((loss.location_in, loss.location_out))
    if loss.scale == 0:
        third = (high - low) / 3
        return [(low + third, high - third)]
    is_laplace, middle = loss.kind == "Laplace", (low + high) / 2
    size = 2.0 if is_laplace else loss.loss
    step = point.epsilon * loss.scale / size
    windows = [*_tails(low, high, loss), (low, high)]
    steps = [step]
    if not is_laplace and point.delta == 0:
        steps.append(BEYOND * step + NEAR * loss.scale)
    near = NEAR * loss.scale
    return windows + [(at - near, at + near) for step in steps for at in (middle - step, middle + step)]


def _close(release: Release, other: Release, windows: list[Interval]) -> list[Interval]:
    """Return pairs of close values of a release: around the locations, and in the middle of the windows."""
    scale = release.scale or 1.0
    low, high = sorted((release.location, other.location))
    between = np.linspace(low - SIDES * scale, high + SIDES * scale, CENTRES).tolist()
    centres = [*between, *((start + end) / 2 for start, end in windows[2:])]
    return [(at - RESOLUTION * scale, at + RESOLUTION * scale) for at in centres]


def _is_monotone(values: list[Any]) -> bool:
    if not all(isinstance(one, int | float | np.integer | np.floating) for one in values):
        return False
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def identity_at(parts: Leaves, path: Path) -> Hashable:
    """Return the identity of a part of an outcome; None where it has none."""
    return identity(parts[path]) if path in parts else None
