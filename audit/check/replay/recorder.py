"""Replay: a run of one input, and a run of its neighbour in which known primitives return what they did in the first.

Nothing of the function is annotated. What a replay shows rests on an assumption: primitives draw what their names say.

- A release `value + noise` gives the same number in both runs, so that everything after it sees the same. The two
  values are its locations, and its loss is their distance over the scale.
- Which losses count is said in `readable`.
- An outcome that differs although all noise is the same, and all of it has been added to something, may hold data
  without noise, or compare data with noise: runs must say which.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.noise import remembered
from subnormal.audit.check.replay.primitives import Primitive
from subnormal.audit.check.replay.unrecorded import Watch, source_of

SAME = 1e-9  # relative: what the rounding of factors makes of noise


@dataclass(frozen=True, slots=True)
class Release:
    """A number of noise with what it was added to. factor: what the noise was multiplied by before."""

    place: int
    location: float
    scale: float
    released: float


@dataclass(slots=True, eq=False)
class Call:
    """One call of a primitive in one run.

    number: its place among the calls of the run. locations, scales: of each number of its result, flat. origin: the
    call of the first run that it replays. given: the numbers that the function was given, flat. is_overwritten:
    whether anything else than these numbers times their factors was released, because the function wrote over them.
    """

    number: int
    primitive: Primitive
    site: str
    locations: NDArray[np.float64]
    scales: NDArray[np.float64]
    result: Any
    run: Run
    origin: Call | None
    releases: list[Release] = field(default_factory=list)
    given: Sequence[float] = ()
    is_overwritten: bool = False

    def located(self) -> Sequence[Release]:
        """Return the releases; where the result was added to nothing, its numbers as they came, if they say where."""
        if self.releases or self.primitive.where is None:
            return self.releases
        numbers = np.asarray(self.result, dtype=np.float64).ravel()
        each = zip(self.locations, self.scales, numbers, strict=True)
        return [Release(place, float(at), abs(float(scale)), float(one)) for place, (at, scale, one) in enumerate(each)]

    def places(self) -> list[int]:
        """Return which of the numbers have been released, in their order."""
        return [release.place for release in self.releases]

    def is_added_as_drawn(self) -> bool:
        """Return whether all that has been released is what was drawn, times known factors."""
        return not self.is_overwritten

    def release(self, place: int, location: float, factor: float, noise: float, released: float) -> float:
        """Note a release, and return what is released: in a replay what was in the first run, or as it is shifted."""
        if not math.isclose(noise, self.given[place] * factor, rel_tol=SAME):
            self.is_overwritten = True
        number, known = len(self.releases), self.origin.releases if self.origin is not None else []
        if number < len(known) and known[number].place == place:
            released = known[number].released + self.run.shifts.get((self.number, number), 0.0)
        scale = abs(float(self.scales[place]) * factor)
        self.releases.append(Release(place, float(self.locations[place]) * factor + location, scale, released))
        return released


@dataclass(slots=True, eq=False)
class Run:
    """One run of the function. first: the run that it replays; None while recording.

    shifts: what is added to releases, by the number of the call and of its release. raw: the scales by which noise
    itself is shifted, where what is released is not. difference: what of the noise is not as in the first.
    """

    first: Run | None = None
    shifts: Mapping[tuple[int, int], float] = field(default_factory=dict)
    raw: float = 0.0
    calls: list[Call] = field(default_factory=list)
    outcome: Hashable = None
    difference: str | None = None


class Recorder:
    """Stands in front of the primitives, and passes calls on while no run is going on."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._run: Run | None = None
        self._watch: Watch | None = None
        self._inside = False

    def intercept(
        self, primitive: Primitive, original: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Call the primitive, or return what it returned in the run that is replayed."""
        run = self._run
        if run is None or self._inside:
            return original(*arguments, **options)
        self._inside = True
        try:
            return self._called(run, primitive, original, arguments, options)
        finally:
            self._inside = False

    def _called(
        self,
        run: Run,
        primitive: Primitive,
        original: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Any:
        if self._watch is not None:
            self._watch.before(source_of(original, arguments, options))
        result, origin = original(*arguments, **options), None
        if self._watch is not None:
            self._watch.after(np.size(result) if primitive.where is not None else 0)
        if run.first is not None and len(run.calls) < len(run.first.calls):
            origin = run.first.calls[len(run.calls)]
            if origin.primitive is primitive and _shape(primitive, origin.result) == _shape(primitive, result):
                result = origin.result
            else:
                origin = None
        locations = scales = np.zeros(0)
        if primitive.where is not None:
            locations, scales = (
                np.broadcast_to(np.asarray(one, dtype=np.float64), _shape(primitive, result)).ravel()
                for one in primitive.where(*arguments, **options)
            )
        call = Call(len(run.calls), primitive, _site(), locations, scales, result, run, origin)
        run.calls.append(call)
        drawn = result if origin is None or primitive.where is None else self._shifted(run, call, origin)
        if isinstance(drawn, np.ndarray | list):  # the function may write into what it is given
            drawn = drawn.copy()
        if primitive.where is None:
            return drawn
        call.given = np.asarray(drawn, dtype=np.float64).ravel().tolist()
        return remembered(drawn, call)

    @staticmethod
    def _shifted(run: Run, call: Call, origin: Call) -> Any:
        """Return the result of a replayed call: shifted where the run asks for it, integers by integers."""
        numbers = np.array(call.result).ravel()
        shifts = run.raw * call.scales if origin.releases else _shifts(run.shifts, call.number, numbers.size)
        if not shifts.any():
            return call.result
        if numbers.dtype.kind in "iu":
            shifts = np.copysign(np.ceil(np.abs(shifts)), shifts).astype(np.int64)
        shifted = numbers + shifts
        return shifted.reshape(np.shape(call.result)) if np.ndim(call.result) else type(call.result)(shifted[0].item())

    def watched(self, pair: tuple[Any, Any], runs: int) -> Watch:
        """Return what is seen of generators in so many runs of each input."""
        self._watch = watch = Watch()
        try:
            for data in [*pair] * runs:
                self.run(data)
                watch.before()
                watch.begin()
        finally:
            self._watch = None
        return watch

    def unrecorded(self, data: Any) -> Hashable:
        """Return the outcome of a run that is not recorded."""
        return self._function.outcome(data)

    def run(self, data: Any, first: Run | None = None, **changes: Any) -> Run:
        """Run the function once, and record or replay."""
        self._run = run = Run(first, **changes)
        try:
            run.outcome = self._function.outcome(data)
        finally:
            self._run = None
        run.difference = None if first is None else _difference(first, run)
        return run


def depends(what: str, shown: tuple[object, object], calls: tuple[Call | None, Call | None]) -> str:
    """Return the note that something depends on the data, with what each input shows of it, and the call."""
    each = (f"{one} at {call.site}" if call else "none" for one, call in zip(shown, calls, strict=True))
    return f"{what} depends on the data: {', '.join(each)}"


def _difference(first: Run, run: Run) -> str | None:
    """Return how the noise of a replay differs from that of the run that it replays; None where it is the same."""
    for one, other in zip_longest(first.calls, run.calls):
        if one is None or other is None or other.origin is None:
            return _other_draws(first, run, one, other)
        # a release that is left out has no other value; one that is overwritten is no longer the noise that it was
        if other.places() != one.places()[: len(other.releases)] or other.is_overwritten != one.is_overwritten:
            return depends("the use of noise", (one.primitive, other.primitive), (one, other))
    return None


def _other_draws(first: Run, run: Run, one: Call | None, other: Call | None) -> str:
    """Return what differs between the draws of two runs. one, other: their first calls that differ, if there are."""
    kinds = one and one.primitive, other and other.primitive
    last, other_last = ({call.primitive: call for call in both.calls} for both in (first, run))
    if all(kinds) and kinds[0] not in other_last and kinds[1] not in last:
        return depends("the kind of noise", kinds, (one, other))
    for primitive in last | other_last:
        number, other_number = (
            sum(math.prod(_shape(primitive, call.result)) for call in both.calls if call.primitive is primitive)
            for both in (first, run)
        )
        if number != other_number:
            what = f"the number of draws from {primitive}"
            return depends(what, (number, other_number), (last.get(primitive), other_last.get(primitive)))
    return depends("the order of draws", kinds, (one, other))


def _shape(primitive: Primitive, result: Any) -> tuple[int, ...]:
    """Return the shape of what a primitive returns: an array, a list, bytes, or anything else, which is one value."""
    if primitive.name == "choice" and not primitive.holder.startswith("numpy"):  # one element, which may be a list
        return ()
    if isinstance(result, np.ndarray):
        return np.shape(result)
    return (len(result),) if type(result) in (list, bytes) else ()


def _site() -> str:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("subnormal.audit.check"):
        frame = frame.f_back
    if frame is None:
        return "unknown"
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def _shifts(shifts: Mapping[tuple[int, int], float], place: int, size: int) -> NDArray[np.float64]:
    """Return by how much each number of a call's result is shifted."""
    return np.array([shifts.get((place, number), 0.0) for number in range(size)], dtype=np.float64)
