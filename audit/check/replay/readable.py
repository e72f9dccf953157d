"""Which releases of noise can be read off an outcome, and at which thresholds.

A release counts only where it changes a part of the outcome that no other noise changes. That part has to be a number
that never falls, or never rises, as the release grows. Where it jumps, at one threshold on the release for both inputs,
an event on the outcome is an event on the release. What lies on either side has to be the same for both inputs, because
a function may compare its release with data once more: then the threshold is another one in each world, and none is
found here. An absolute value or a remainder hides the sign, and a clamp the tails. Where the outcome hides some noise,
no release counts: what it decides in rare cases cannot be seen on a few runs. As in `countable`, no release counts
where there is other noise at a value that is looked at, and none that lies elsewhere then.

Several events make one event only if the outcome shows each of them whatever the other releases are. So all releases
are also given other values at once, see `_combinations`, and a part that then differs from what it was with the same
value of its release alone is not read. Let parts f_i be left, each a function of its release r_i alone. Then what they
show is the event that every r_i lies beyond its threshold. Noises are independent, so its probability in a world is the
product of theirs there, and the losses add. Shown is that f_i is the same at the values that were tried: for every two
releases, at every two of their four levels. Assumed is that it is so at all others, and with more of them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.replay.recorder import Recorder, Release, Run
from subnormal.audit.check.replay.windows import (
    Interval,
    Losses,
    Number,
    close_values,
    counted_together,
    tails,
    whole,
    windows_of,
)
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.privacy import Claim

READABLE_MAX = 64  # releases that are looked for one by one
WIDTH = 2.0**-20  # scales: of half the interval in which a threshold is found
WIDER = 8.0  # times: the interval around the middle of a window in which a jump is sought next
SPACING = 2.0**-50  # relative: what the rounding of a release takes
COMBINATIONS = 64  # drawn values of all releases at once

Leaves = dict[Path, Any]
Thresholds = Mapping[Number, tuple[Interval, ...]]


@dataclass(frozen=True, slots=True)
class Readable:
    """Releases that the outcome shows.

    thresholds: of each, the intervals of the release in which a part of the outcome jumps, for both inputs.
    fine: Gaussian ones that have a threshold between each two close values, and the same scale in both worlds, where
    several count together.
    """

    thresholds: Thresholds
    fine: tuple[Number, ...]

    def among(self, numbers: set[Number]) -> Readable:
        """Return those of them that are among the numbers."""
        thresholds = {one: found for one, found in self.thresholds.items() if one in numbers}
        return Readable(thresholds, tuple(one for one in self.fine if one in numbers))


def hoped_for(moved: Losses, point: Claim) -> Readable:
    """Return what an outcome that shows everything would show of the releases whose locations differ."""
    middles: dict[Number, tuple[Interval, ...]] = {}
    for number, loss in moved.items():
        found = [(sum(window) / 2, sum(window) / 2) for window in windows_of(loss, point)]
        middles[number] = tuple(map(whole, found) if loss.kind == "geometric" else found)
    return Readable(middles, counted_together(moved, point))


def readable(recorder: Recorder, pair: tuple[Any, Any], runs: tuple[Run, Run], moved: Losses, point: Claim) -> Readable:
    """Return which releases the outcome shows.

    runs: on the two inputs; the second replays the first. moved: the releases whose locations differ. point: (ε, δ), by
    which the thresholds are chosen. All noise must have a location, see `countable`.
    """
    every, again, together = releases(runs[0]), releases(runs[1]), counted_together(moved, point)
    seen: dict[Number, _Seen] = {}
    for one, release in every.items():
        windows = windows_of(moved[one], point) if one in moved else tails(release.location, release.location, release)
        close = close_values(release, again[one], windows) if one in together else []
        seen[one] = _Seen.of(recorder, pair, runs, one, windows, close)
    thresholds: dict[Number, tuple[Interval, ...]] = {}
    fine: list[Number] = []
    parts: dict[Number, set[Path]] = {}
    for one, shown in seen.items():
        parts[one] = shown.monotone.difference(*(other.touched for number, other in seen.items() if number != one))
        if one not in moved:
            if not any(shown.jumps(part, window) for part in parts[one] for window in shown.windows):
                return Readable({}, ())  # noise that is hidden may decide in a few cases what is released
            continue
        found = (shown.threshold(parts[one], window) for window in shown.windows)
        thresholds[one] = tuple(interval for interval in found if interval is not None)
        if not thresholds[one]:
            return Readable({}, ())
        if one in together and every[one].scale == again[one].scale and any(map(shown.is_fine, parts[one])):
            fine.append(one)
    if any(shown.differs for shown in seen.values()):
        return Readable({}, ())
    elsewhere = set[Number]().union(*(shown.moving for shown in seen.values()))
    return Readable(thresholds, tuple(fine)).among(_independent(seen, parts, thresholds) - elsewhere)


def _independent(
    seen: Mapping[Number, _Seen], parts: Mapping[Number, set[Path]], thresholds: Thresholds
) -> set[Number]:
    """Return the releases whose parts are the same whatever the others are; none where there is other noise then."""
    independent, any_one = set(seen), next(iter(seen.values()))
    for values in _combinations({one: shown.levels(thresholds.get(one, ())) for one, shown in seen.items()}):
        for world in (0, 1):
            run = any_one.run(world, values)
            if run.difference is not None:
                return set()
            together = leaves(run.outcome)
            for one, value in values.items():
                alone = seen[one].at(world, value)
                if any(identity_at(together, part) != identity_at(alone, part) for part in parts[one]):
                    independent.discard(one)
            independent -= moving(run, any_one.runs[world])
    return independent


def _combinations(levels: Mapping[Number, list[float]]) -> Iterator[dict[Number, float]]:
    """Yield values for all releases at once, where there are several.

    Every two releases meet at every two of their first four levels: the numbers of any two differ in a bit. Further
    combinations are drawn, from all levels.
    """
    bits, draw = (len(levels) - 1).bit_length(), random.Random(0)
    for bit, levels_of_bit in product(range(bits), product(range(4), repeat=2)):
        yield {one: values[levels_of_bit[place >> bit & 1]] for place, (one, values) in enumerate(levels.items())}
    for _ in range(COMBINATIONS if bits else 0):
        yield {one: draw.choice(values) for one, values in levels.items()}


@dataclass(slots=True)
class _Seen:
    """What is seen of one release: the outcomes of both inputs, as leaves, at some of its values.

    touched: the parts of an outcome that change with it. monotone: those of them that never fall, or never rise.
    windows: pairs of values between which a threshold is sought. close: pairs of close values. differs: whether the
    noise was another at one of the values. moving: the releases that lay elsewhere at one of them. is_whole: whether
    it is a whole number, which is looked at whole numbers only.
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
    is_whole: bool = False
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
        is_whole = runs[0].calls[one[0]].primitive.kind == "geometric"
        windows = list(map(whole, windows)) if is_whole else windows
        seen = cls(recorder, pair, runs, one, windows, close, {}, set(), set(), set(), is_whole)
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
        """Return the parts of a world's outcome where the release has this value, rounded down if it is whole."""
        value = math.floor(value) if self.is_whole else value
        known = self.leaves.get((world, value))
        if known is None:
            run = self.run(world, {self.one: value})
            self.differs |= run.difference is not None
            self.moving |= moving(run, self.runs[world])
            known = self.leaves[world, value] = leaves(run.outcome)
        return known

    def run(self, world: int, values: Mapping[Number, float]) -> Run:
        """Run a world where releases have these values, and the others what they were."""
        first = self.runs[0]
        before = releases(first)
        shifts = {one: value - before[one].released for one, value in values.items()}
        return self.recorder.run(self.pair[world], first, shifts=shifts)

    def levels(self, thresholds: tuple[Interval, ...]) -> list[float]:
        """Return values of the release: far below, just below and just above its thresholds, far above, and between.

        Where no threshold is known, its location stands for them.
        """
        far = sorted(end for window in self.windows for end in window)
        near = [end for interval in thresholds for end in interval] or far[1:-1]
        return [far[0], min(near), max(near), far[-1], *near]

    def jumps(self, path: Path, window: Interval, world: int = 0) -> bool:
        """Return whether a part differs at the two ends."""
        return identity_at(self.at(world, window[0]), path) != identity_at(self.at(world, window[1]), path)

    def is_fine(self, path: Path) -> bool:
        """Return whether there is a threshold between the values of each close pair."""
        return all(self.threshold([path], ends) is not None for ends in self.close)

    def threshold(self, paths: Iterable[Path], window: Interval) -> Interval | None:
        """Return an interval within the window in which a part jumps, from one value to another, in both worlds.

        Of a whole number: the last value below the jump, and the next.
        """
        scale = releases(self.runs[0])[self.one].scale
        for path in paths:
            if not self.jumps(path, window):
                continue
            middle = sum(window) / 2
            width = max(WIDTH * (scale or window[1] - window[0]), SPACING * max(map(abs, window)), self.is_whole / 2)
            low, high, half = *window, width
            while low < middle - half and middle + half < high:
                if self.jumps(path, (middle - half, middle + half)):
                    low, high = middle - half, middle + half
                half *= WIDER
            while high - low > 2 * width and low < (middle := (low + high) / 2) < high:
                low, high = (low, middle) if self.jumps(path, (low, middle)) else (middle, high)
            low, high = (math.floor(low), math.floor(high)) if self.is_whole else (low, high)
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


def _is_monotone(values: list[Any]) -> bool:
    if not all(isinstance(one, int | float | np.integer | np.floating) for one in values):
        return False
    pairs = list(pairwise(values))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def identity_at(parts: Leaves, path: Path) -> Hashable:
    """Return the identity of a part of an outcome; None where it has none."""
    return identity(parts[path]) if path in parts else None
