"""Releases: parts of an outcome that are a value plus noise, and nothing else.

All noise of a run is shifted at once, each number by an amount of its own, and then by another. A part that moves by a
multiple of one number's shift both times is a release of that number: `location + factor·noise`, as far as two shifts
tell, up to a rounding that is small beside the scale. Behind a clamp, a threshold or a sum of noises nothing is sought.

An array holds many releases. Those whose Gaussian noise one call drew are one more release together: their sum,
weighted by how far each of them moved over the square of its scale, is a value plus Gaussian noise, and its loss is the
Euclidean norm of what moved, each number over its scale. The numbers of one call are independent, by the name of the
primitive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_paths import Path
from subnormal.audit.check.replay.outcome import EXACT, Arrays, Floats, arrays_of, key_of, leaves_of
from subnormal.audit.check.replay.recorder import Call, Recorder, Run, Shifts, depends
from subnormal.audit.check.search import Pair
from subnormal.audit.text import short
from subnormal.mechanisms.core.outcome_identity import identity

LARGEST = 1e300  # scale of which a shift is a number
NEAR, FAR = (4.0, 12.0), (40.0, 120.0)  # scales: noise is shifted up by so much, and then down by so much
ROUNDED = 0.03  # scales: a part that is rounded to so little still shows the release
DRAWN = 2.0**-52  # relative: what a primitive returns is rounded to so much of its location
ROUGHLY = 0.05  # relative: what a part may miss of a shift, to guide the search
EACH = ["places", "numbers", "each_location", "each_factor", "each_scale", "each_rounding", "each_seen", "weights"]
MOST = 64  # releases of a block of parts that are looked at one by one, those with the largest loss; notes of a call


@dataclass(frozen=True, eq=False)
class Release:
    """Numbers of the outcome, each a location plus a factor times one number of noise, and their weighted sum.

    path: of the part, or of the array of these numbers; shape: of the array. places: of the numbers, in the array,
    flat. numbers: of the noise, among all of the run. each_…: of the numbers, shape (inputs, numbers) or (numbers,);
    scales are those of the noise times its factor, roundings say how far off a number may lie, and seen whether both
    shifts moved it so, up to this rounding; else roughly, which guides the search. weights: of the sum.
    is_compiled: as of `Run`.
    """

    path: Path
    shape: tuple[int, ...] | None
    places: NDArray[np.int64]
    numbers: NDArray[np.int64]
    call: Call
    each_location: Floats
    each_factor: Floats
    each_scale: Floats
    each_rounding: Floats
    each_seen: NDArray[np.bool_]
    weights: Floats
    is_compiled: bool = False

    @cached_property
    def locations(self) -> tuple[float, float]:
        """Of the sum, in each world."""
        low, high = (self.each_location @ self.weights).tolist()
        return low, high

    @cached_property
    def scales(self) -> tuple[float, float]:
        """Of the sum, in each world."""
        one, other = np.abs(self.weights) * self.each_scale
        return (float(one[0]), float(other[0])) if len(one) == 1 else (float(_norm(one)), float(_norm(other)))

    @cached_property
    def rounding(self) -> float:
        """How far off the sum may lie."""
        return float(np.abs(self.weights) @ self.each_rounding)

    @cached_property
    def loss(self) -> float:
        """How far the locations lie apart, over the larger scale, without what rounding may make of it."""
        return float(_losses(np.array([self.locations]).T, np.array([self.scales]).T, np.array([self.rounding]))[0])

    @property
    def is_seen(self) -> bool:
        """Whether the outcome shows all of the numbers."""
        return bool(self.each_seen.all())

    @property
    def losses(self) -> Floats:
        """The loss of each number."""
        return _losses(self.each_location, self.each_scale, self.each_rounding)

    def some(self, at: NDArray[np.int64], **changes: Any) -> Release:
        """Return the release of some of the numbers."""
        return replace(self, **{name: getattr(self, name)[..., at] for name in EACH}, **changes)

    def weighted(self) -> Release:
        """Return the release with each number weighted by how far it moves over the square of its scale."""
        apart, scales = self.each_location[1] - self.each_location[0], self.each_scale.max(axis=0)
        weights = apart / scales / (scales / scales.min())
        return replace(self, weights=weights / _norm(weights))

    def paths(self) -> list[Path]:
        """Return the path of each number in an outcome."""
        if self.shape is None:
            return [self.path]
        return [(*self.path, *map(int, np.unravel_index(place, self.shape))) for place in self.places.tolist()]

    def values(self, outcome: Any) -> Floats | None:
        """Return the numbers of an outcome; None where it does not have them."""
        if self.shape is not None:
            array = arrays_of(outcome).get(self.path)
            return None if array is None or array.size != math.prod(self.shape) else array[self.places]
        part: Any = leaves_of(outcome).get(self.path)
        return np.array([float(part)]) if _is_number(part) else None

    def is_shown(self, outcome: Any, world: int, noise: Any) -> bool:
        """Return whether a run of a world, with these numbers of noise, shows the release that the noise makes."""
        values = self.values(outcome)
        if values is None:
            return False
        released = self.each_location[world] + self.each_factor[world] * noise
        return bool((np.abs(values - released) <= self.each_rounding + EXACT * np.abs(released)).all())


@dataclass(frozen=True, slots=True)
class Seen:
    """What replays show of a pair. runs: of both inputs, with the same noise. releases: also those that are not exact.

    notes: noise that depends on the data, with the places in the code. without_noise: whether a part differs that no
    shift of the noise changes. loss: the sum of the losses of all noise, of which each number may show in several
    parts; the norm of them for the numbers of one Gaussian call. is_complete: whether all noise is released.
    """

    runs: tuple[Run, Run] | None
    releases: tuple[Release, ...]
    notes: tuple[str, ...]
    located: bool
    without_noise: bool = False
    loss: float = 0.0
    is_complete: bool = False

    def countable(self) -> tuple[Release, ...]:
        """Return the releases that the outcome shows; none where the run draws anything else."""
        if self.runs is None or any(call.primitive.where is None for call in self.runs[0].calls):
            return ()
        return tuple(one for one in self.releases if one.is_seen) if self.is_complete else ()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Numbers of the outcome of the same kind: its parts outside of arrays, or an array. values: shape (inputs, shifts,
    numbers), first without a shift. rounding: relative.

    paths: of each number; of an array its own alone, with its shape.
    """

    paths: list[Path]
    shape: tuple[int, ...] | None
    values: Floats
    rounding: float


def seen(recorder: Recorder, pair: Pair) -> Seen | None:
    """Return what replays of a pair show; None where a run cannot be replayed: some randomness is not known.

    Raises TypeError where an outcome cannot be compared.
    """
    first = recorder.run(pair[0])
    if not first.calls:
        return None
    again = recorder.run(pair[0], first)
    if again.difference is not None or key_of(again.outcome) != key_of(first.outcome):
        return None
    second = recorder.run(pair[1], first)
    located = any(call.primitive.where is not None for call in first.calls)
    notes = () if second.difference is None else (second.difference,)
    if not located or (notes and not _is_same_noise(first, second)):
        return Seen(None, (), notes, located)
    shifts = [_shifts(first, bounds) for bounds in (NEAR, FAR)]
    shifted = [[recorder.run(data, first, shift) for shift in shifts] for data in pair]
    runs = first, second
    outcomes = [[run.outcome for run in (base, *others)] for base, others in zip(runs, shifted, strict=True)]
    parts = [list(map(leaves_of, world)) for world in outcomes]
    differing = {path for path in {**parts[0][0], **parts[1][0]} if _differ(parts[0][0], parts[1][0], path)}
    fixed = any(not any(_differ(parts[0][0], other, path) for other in parts[0][1:]) for path in differing)
    blocks = _blocks(parts, outcomes)
    fixed = fixed or any(((block.values[0] == block.values[0, :1]).all(0) & _apart(block)).any() for block in blocks)
    releases, loss, is_complete = list[Release](), 0.0, False
    if all(run.is_drawn_as(base) for base, others in zip(runs, shifted, strict=True) for run in others):
        noise = np.array([[run.noise for run in (base, *others)] for base, others in zip(runs, shifted, strict=True)])
        releases, loss, is_complete = _releases(runs, blocks, noise)
    if notes:  # other draws differ, of a sample or an order: the releases are those of one of them
        return Seen(
            None, tuple(replace(one, each_seen=np.zeros(1, dtype=bool)) for one in releases), notes, located, loss=loss
        )
    return Seen(runs, tuple(releases), _notes(*runs), located, fixed, loss, is_complete)


def _is_same_noise(first: Run, second: Run) -> bool:
    """Return whether the second run replays all noise whose location is known, whatever else it draws."""
    noise = [[call for call in run.calls if call.primitive.where is not None] for run in (first, second)]
    return len(noise[0]) == len(noise[1]) and all(call.matched for call in noise[1])


def _shifts(first: Run, bounds: tuple[float, float]) -> Shifts:
    """Return a shift of each number of noise, some scales within the bounds: up by the first, down by the others."""
    sign = 1.0 if bounds == NEAR else -1.0
    draw = np.random.Generator(np.random.PCG64(int(bounds[0])))
    return {
        at: sign * draw.uniform(*bounds, call.scales.size) * np.where(call.scales > 0, call.scales.clip(max=LARGEST), 1)
        for at, call in enumerate(first.calls)
        if call.primitive.where is not None
    }


def _blocks(parts: list[list[dict[Path, Any]]], outcomes: list[list[Any]]) -> list[Block]:
    """Return the numbers that all outcomes have, of each world without a shift and with each."""
    values = {path: [[shown.get(path) for shown in world] for world in parts] for path in parts[0][0]}
    numbers = {path: one for path, one in values.items() if all(_is_number(part) for world in one for part in world)}
    found = [Block(list(numbers), None, np.moveaxis(np.array(list(numbers.values()), dtype=np.float64), 0, -1), EXACT)]
    for path, first in arrays_of(outcomes[0][0]).items():
        arrays = [[arrays_of(outcome).get(path, np.zeros(0)) for outcome in world] for world in outcomes]
        if all(array.size == first.size for world in arrays for array in world):
            of_first: Arrays = outcomes[0][0]
            found.append(Block([path], of_first.shapes[path], np.array(arrays), of_first.rounding[path]))
    return [block for block in found if block.values.size]


def _apart(block: Block) -> NDArray[np.bool_]:
    """Return which numbers of an array differ without a shift. Those of other parts are compared as parts."""
    apart: NDArray[np.bool_] = block.values[0, 0] != block.values[1, 0]
    return apart if block.shape is not None else np.zeros(apart.shape, dtype=bool)


def _releases(runs: tuple[Run, Run], blocks: list[Block], noise: Floats) -> tuple[list[Release], float, bool]:
    """Return the releases of all blocks, the loss of all noise, and whether all noise is released.

    noise: that was given, rounded to its type: shape (inputs, shifts, numbers), first without a shift.
    """
    calls = [call for call in runs[0].calls if call.primitive.where is not None]
    ends = np.cumsum([call.locations.size for call in calls])
    losses, shown = np.zeros(ends[-1]), np.zeros(ends[-1], dtype=bool)
    found, before = list[Release](), 0
    for block in blocks if len(losses) else ():
        moves = _moves(block, runs, noise, before)
        before += moves.numbers.size
        np.maximum.at(losses, moves.numbers, each := moves.losses)
        shown[moves.numbers[moves.each_seen]] = True
        of_call = np.searchsorted(ends, moves.numbers, side="right")
        singly = np.argpartition(-each, MOST)[:MOST] if each.size > MOST else np.arange(each.size)
        for at in np.sort(singly).tolist():
            path = block.paths[0 if block.shape is not None else int(moves.places[at])]
            found.append(moves.some(np.array([at]), call=calls[of_call[at]], path=path))
        for number, call in enumerate(calls) if block.shape is not None else ():
            together = np.flatnonzero((of_call == number) & moves.each_seen & (each > 0) & np.isfinite(each))
            is_one_number = np.bincount(moves.numbers[together], minlength=1).max() > 1  # that several places show
            if call.primitive.kind == "Gaussian" and together.size > 1 and not is_one_number:
                found.append(moves.some(together, call=call).weighted())
    norms = [
        float(_norm(own) if call.primitive.kind == "Gaussian" else own.sum())
        for call, own in zip(calls, np.split(losses, ends[:-1]), strict=True)
    ]
    return found, sum(norms), bool(shown.all())


@np.errstate(invalid="ignore", over="ignore", divide="ignore")  # of noise without a finite scale
def _moves(block: Block, runs: tuple[Run, Run], noise: Floats, before: int) -> Release:
    """Return the numbers of a block that move with one number of noise in both worlds, of whatever call. before:
    numbers that earlier blocks show.
    """
    moves = np.isfinite(block.values).all(axis=(0, 1)) & (block.values[:, 1:] != block.values[:, :1]).all(axis=(0, 1))
    places = np.flatnonzero(moves)
    values = block.values[..., places]
    moved = values[:, 1:] - values[:, :1]
    of_floats = block.rounding * np.abs(values).max(axis=(0, 1))
    numbers = _numbers(moved[0], noise[0, 1:] - noise[0, 0], of_floats, before)
    drawn = noise[:, 0, numbers]
    near, far = (noise[:, at, numbers] - drawn for at in (1, 2))
    factors = moved[:, 1] / far
    misses = np.abs(moved[:, 0] - factors * near)
    scales = np.abs(factors) * np.array([run.scales[numbers] for run in runs])
    is_exact = (misses <= of_floats).all(axis=0)
    drawn_at = np.array([np.abs(factors[at] * run.locations[numbers]) for at, run in enumerate(runs)])
    of_noise = DRAWN * drawn_at.max(axis=0)  # a primitive rounds the location and the noise together
    rounding = np.where(is_exact, of_floats, ROUNDED * scales.min(axis=0)) + of_noise
    is_seen = (misses <= rounding / 2).all(axis=0) | is_exact
    kept = (misses <= ROUGHLY * np.abs(moved[:, 0])).all(axis=0)
    locations, call, shown = values[:, 0] - factors * drawn, runs[0].calls[0], (is_seen, np.ones(len(places)))
    found = Release(
        block.paths[0], block.shape, places, numbers, call, locations, factors, scales, rounding, *shown,
        runs[0].is_compiled,
    )  # fmt: skip
    return found if kept.all() else found.some(np.flatnonzero(kept))


def _numbers(moved: Floats, amounts: Floats, rounding: Floats, before: int) -> NDArray[np.int64]:
    """Return the number of noise that each number of the outcome moves with, shape (numbers,).

    Those that are shown in the order in which they were drawn are found by it: of a million shifts in float32, two are
    alike. Of the others, the shift whose ratio is nearest. moved: by each shift.
    """
    near, far = amounts
    found = np.minimum(before + np.arange(moved.shape[1]), len(near) - 1)
    left = np.flatnonzero(~(np.abs(moved[0] - moved[1] / far[found] * near[found]) <= rounding))
    if left.size:
        order = np.argsort(far / near)
        ratios, wanted = (far / near)[order], moved[1, left] / moved[0, left]
        after = np.minimum(np.searchsorted(ratios, wanted), len(ratios) - 1)
        earlier = np.maximum(after - 1, 0)
        found[left] = order[np.where(ratios[after] - wanted < wanted - ratios[earlier], after, earlier)]
    return found


def _losses(locations: Floats, scales: Floats, rounding: Floats) -> Floats:
    """Return how far each location moves, over the larger scale, without what rounding may make of it."""
    apart, scale = np.abs(locations[0] - locations[1]) - 2 * rounding, scales.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses: Floats = np.where(apart > 0, apart / scale, 0.0)
    return losses


def _norm(values: Floats) -> float:
    """Return the Euclidean norm, where squares are no numbers too."""
    largest = np.abs(values).max(initial=0.0)
    return float(largest * np.linalg.norm(values / largest)) if 0 < largest < math.inf else float(largest)


def _notes(first: Run, second: Run) -> tuple[str, ...]:
    """Return a note for each call whose scale depends on the data."""
    notes: dict[str, None] = {}
    for one, other in zip(first.calls, second.calls, strict=True):
        for at in np.flatnonzero(one.scales != other.scales)[:MOST].tolist():
            scales = short(one.scales[at].item()), short(other.scales[at].item())
            notes[depends(f"the scale of {one.primitive}", scales, (one, other))] = None
    return tuple(notes)


def _is_number(part: Any) -> bool:
    return isinstance(part, int | float | np.integer | np.floating) and not isinstance(part, bool)


def _differ(one: Mapping[Path, Any], other: Mapping[Path, Any], path: Path) -> bool:
    if (path in one) != (path in other):
        return True
    return path in one and identity(one[path]) != identity(other[path])
