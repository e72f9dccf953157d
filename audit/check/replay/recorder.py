"""Replay: a run of one input, and a run of its neighbour in which known primitives draw the same noise.

Nothing of the function is annotated, and a primitive returns numbers and arrays of the types that it always returns:
what becomes of noise is seen by shifting it, and not by values that remember where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.outcome import outcome_of
from subnormal.audit.randomness.arrays import as_numpy, is_traced, site, with_values
from subnormal.audit.randomness.catalogue import Primitive

Floats = NDArray[np.float64]
Shifts = Mapping[int, Floats]  # by the number of a call: what is added to its noise


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a primitive in one run.

    locations, scales: of each number of its result, flat; empty where the primitive does not say. result: what the
    function was given, of torch and jax as an array. matched: whether the run that is replayed has this call.
    """

    primitive: Primitive
    site: str
    locations: Floats
    scales: Floats
    result: Any
    matched: bool

    @cached_property
    def noise(self) -> Floats:
        """The numbers of the result without their locations, flat."""
        return np.asarray(self.result, dtype=np.float64).ravel() - self.locations


@dataclass(slots=True, eq=False)
class Run:
    """One run of the function. first: the run that it replays; None while recording. shifts: of its noise.

    difference: what of the calls is not as in the first. is_compiled: whether it draws by torch or jax, whose compiled
    code may draw unseen.
    """

    first: Run | None = None
    shifts: Shifts = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    outcome: Any = None
    difference: str | None = None
    is_compiled: bool = False

    @property
    def noise(self) -> Floats:
        """All numbers of noise whose locations are known, in the order of the calls."""
        return np.concatenate([np.zeros(0), *(call.noise for call in self.calls if call.primitive.where is not None)])

    @property
    def scales(self) -> Floats:
        """The scales of this noise."""
        return np.concatenate([np.zeros(0), *(call.scales for call in self.calls)])

    @property
    def locations(self) -> Floats:
        """The locations of this noise."""
        return np.concatenate([np.zeros(0), *(call.locations for call in self.calls)])

    def is_drawn_as(self, other: Run) -> bool:
        """Return whether two runs made the same calls, with the same locations and scales."""
        return len(self.calls) == len(other.calls) and all(
            one.primitive is same.primitive
            and np.array_equal(one.locations, same.locations)
            and np.array_equal(one.scales, same.scales)
            for one, same in zip(self.calls, other.calls, strict=True)
        )


class Recorder:
    """Stands in front of the primitives, and passes calls on while no run is going on."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._run: Run | None = None
        self._inside = False

    def intercept(
        self, primitive: Primitive, original: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Call the primitive, or return what it drew in the run that is replayed."""
        run = self._run
        if run is None or self._inside:
            return original(*arguments, **options)
        run.is_compiled = run.is_compiled or primitive.is_of_tensors
        if primitive.kind == "key":
            _forget_seed(run, arguments)
            return original(*arguments, **options)
        self._inside = True
        try:
            return _called(run, primitive, original, arguments, options)
        finally:
            self._inside = False

    def run(self, data: Any, first: Run | None = None, shifts: Shifts | None = None) -> Run:
        """Run the function once, and record or replay."""
        self._run = run = Run(first, shifts or {})
        try:
            run.outcome = outcome_of(self._function, data)
        finally:
            self._run = None
        run.difference = None if first is None else _difference(first, run)
        return run


def _called(
    run: Run, primitive: Primitive, original: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    made, origin, number = original(*arguments, **options), None, len(run.calls)
    if is_traced(made):  # jax compiles the function: what its draws will be is not seen
        return made
    result = as_numpy(made) if primitive.is_of_tensors else made
    if run.first is not None and number < len(run.first.calls):
        origin = run.first.calls[number]
        if origin.primitive is not primitive or _shape(primitive, origin.result) != _shape(primitive, result):
            origin = None
    locations = scales = np.zeros(0)
    if primitive.where is not None:
        locations, scales = (
            np.broadcast_to(np.asarray(one, dtype=np.float64), np.shape(result)).ravel()
            for one in primitive.where(*arguments, **options)
        )
        scales = np.abs(scales)
    if origin is not None:
        shift = run.shifts.get(number)
        if primitive.where is None or (shift is None and np.array_equal(locations, origin.locations)):
            made = with_values(made, origin.result) if primitive.is_of_tensors else origin.result
        else:
            made = with_values(made, locations + origin.noise + (0.0 if shift is None else shift))
        result = as_numpy(made) if primitive.is_of_tensors else made
    run.calls.append(Call(primitive, site(), locations, scales, result, origin is not None))
    return made.copy() if isinstance(made, np.ndarray | list) else made  # the function may write into it


def _forget_seed(run: Run, arguments: tuple[Any, ...]) -> None:
    """Forget the call that drew a seed where a key is made of it: what is drawn with the key is recorded."""
    last = run.calls[-1].result if run.calls and run.calls[-1].primitive.where is None else None
    seed = arguments[0] if arguments else None
    if isinstance(last, int | np.integer) and isinstance(seed, int | np.integer) and last == seed:
        run.calls.pop()


def depends(what: str, shown: tuple[object, object], calls: tuple[Call | None, Call | None]) -> str:
    """Return the note that something depends on the data, with what each input shows of it, and the call."""
    each = (f"{one} at {call.site}" if call else "none" for one, call in zip(shown, calls, strict=True))
    return f"{what} depends on the data: {', '.join(each)}"


def _difference(first: Run, run: Run) -> str | None:
    """Return how the calls of a replay differ from those of the run that it replays; None where they are the same."""
    for one, other in zip_longest(first.calls, run.calls):
        if one is None or other is None or not other.matched:
            return _other_draws(first, run, one, other)
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
