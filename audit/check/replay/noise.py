"""Noise that remembers what it is added to: numbers and arrays that a recorded primitive returns.

`value + noise` is a release. Its location is `value`. In a replay it gives the number that was released before, so that
whatever follows sees the same. A release is looked for at the first sum or difference; a noise that is multiplied or
divided by a number, or negated, stays noise, of another scale. Any other use takes the plain number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_NUMBERS = (int, float, np.integer, np.floating)


def _is_number(one: Any) -> bool:
    return isinstance(one, _NUMBERS)


def _plain(one: Any) -> Any:
    """Return a number or an array that remembers nothing: noise that is added to noise is no release."""
    if isinstance(one, NoiseNumber):
        return one.plain()
    return one.view(np.ndarray) if isinstance(one, NoiseArray) else one


class Call(Protocol):
    """One call of a primitive."""

    is_overwritten: bool

    def release(self, place: int, location: float, factor: float, noise: float, released: float) -> float:
        """Note a release of the noise at a place of the call's result, and return what is released.

        noise: as it is added. It should be the number at that place times the factor.
        """


class NoiseNumber(float):
    """One number of noise. factor: what it has been multiplied by since it was drawn."""

    call: Call
    place: int
    factor: float

    @classmethod
    def of(cls, value: Any, call: Call, place: int, factor: float = 1.0) -> NoiseNumber:
        """Return a number with its origin."""
        noise = _NumpyNumber(value) if isinstance(value, np.floating) else NoiseNumber(value)
        noise.call, noise.place, noise.factor = call, place, factor
        return noise

    def plain(self) -> Any:
        """Return the number, which remembers nothing, of the type that the function would have been given."""
        return float.__pos__(self)

    def _released(self, location: Any, released: Any, sign: float = 1.0) -> Any:
        number = self.call.release(self.place, float(location), sign * self.factor, sign * float(self), float(released))
        return type(released)(number)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS) or isinstance(other, NoiseNumber):
            return self.plain() + _plain(other)
        return self._released(other, self.plain() + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS) or isinstance(other, NoiseNumber):
            return self.plain() - _plain(other)
        return self._released(-other, self.plain() - other)

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS) or isinstance(other, NoiseNumber):
            return _plain(other) - self.plain()
        return self._released(other, other - self.plain(), -1.0)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS) or isinstance(other, NoiseNumber):
            return self.plain() * _plain(other)
        return NoiseNumber.of(self.plain() * other, self.call, self.place, self.factor * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, _NUMBERS) or isinstance(other, NoiseNumber):
            return self.plain() / _plain(other)
        return NoiseNumber.of(self.plain() / other, self.call, self.place, self.factor / float(other))

    def __neg__(self) -> NoiseNumber:
        return NoiseNumber.of(-self.plain(), self.call, self.place, -self.factor)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Let a numpy number on the left leave sums, differences and products to this class."""
        plain = [one.plain() if isinstance(one, NoiseNumber) else one for one in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        if method != "__call__" or options or len(inputs) != 2 or not all(map(_is_number, plain)):
            return result
        place = 0 if inputs[0] is self else 1
        other = inputs[1 - place]
        if isinstance(other, NoiseNumber):
            return result
        if ufunc in (np.add, np.subtract):
            is_difference = ufunc is np.subtract
            sign = -1.0 if is_difference and place == 1 else 1.0
            return self._released(-other if is_difference and place == 0 else other, result, sign)
        if ufunc is np.multiply or (ufunc is np.divide and place == 0):
            factor = float(other) if ufunc is np.multiply else 1 / float(other)
            return NoiseNumber.of(result, self.call, self.place, self.factor * factor)
        return result

    def __float__(self) -> float:
        return float.__pos__(self)

    def tolist(self) -> float:
        """Return the plain number, as numpy's scalars do."""
        return float(self)


class _NumpyNumber(NoiseNumber):
    """One that numpy gave; no subclass of np.float64, of which numpy's own methods would make arrays of objects."""

    def plain(self) -> np.float64:
        return np.float64(float(self))

    def item(self) -> NoiseNumber:
        """Return the same as a number of Python."""
        return NoiseNumber.of(float(self), self.call, self.place, self.factor)

    def __getattr__(self, name: str) -> Any:
        """Return what a number of numpy has and a `float` has not, as `round` and `item`."""
        return getattr(self.plain(), name)


class NoiseArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of noise, of any shape. places: of its numbers in the call's result; factors: as in `NoiseNumber`."""

    __slots__ = ("call", "factors", "places")  # an array with attributes of its own is no outcome

    call: Call
    places: NDArray[np.int64]
    factors: NDArray[np.float64]

    @classmethod
    def of(cls, values: Any, call: Call, places: NDArray[np.int64], factors: Any) -> NoiseArray:
        """Return an array with its origin."""
        noise = np.asarray(values, dtype=np.float64).view(cls)
        noise.call, noise.places = call, places
        noise.factors = np.broadcast_to(np.asarray(factors, dtype=np.float64), noise.shape)
        return noise

    def __array_finalize__(self, made_from: Any) -> None:
        """A view or a copy that numpy makes is no noise any more until `of` says so."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [one.view(np.ndarray) if isinstance(one, NoiseArray) else one for one in inputs]
        outputs = options.get("out", ())
        if outputs:
            options["out"] = tuple(one.view(np.ndarray) if isinstance(one, NoiseArray) else one for one in outputs)
        located = None if options.keys() - {"out"} else self._location(ufunc, method, inputs)  # `where` leaves some out
        before = None if located is None else np.array(located, dtype=np.float64)
        noise = self.view(np.ndarray).copy()  # as it is before the result is written over it
        result = getattr(ufunc, method)(*plain, **options)
        if np.shape(result) != self.shape or not hasattr(self, "call"):
            return result
        if before is not None:
            sign = -1.0 if ufunc is np.subtract and inputs[1] is self else 1.0
            released = self._released(before, noise, np.asarray(result), sign)
            if outputs:
                options["out"][0][...] = released
                return outputs[0]
            return released
        scaled = None if options.keys() - {"out"} else self._factor(ufunc, method, inputs)
        if scaled is None:
            return result
        if outputs and outputs[0] is self:
            self.factors = np.broadcast_to(self.factors * scaled, self.shape)
            return self
        return NoiseArray.of(result, self.call, self.places, self.factors * scaled)

    def sort(self, *arguments: Any, **options: Any) -> None:
        """Sort in place: each number has the value of another then, even where the order happens to stay."""
        self._rearranged(np.ndarray.sort, arguments, options)

    def partition(self, *arguments: Any, **options: Any) -> None:
        """Sort in part, in place, as `sort`."""
        self._rearranged(np.ndarray.partition, arguments, options)

    def _rearranged(self, rearrange: Callable[..., None], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        rearrange(self.view(np.ndarray), *arguments, **options)
        if hasattr(self, "call"):
            self.call.is_overwritten = True

    def _location(self, ufunc: Any, method: str, inputs: tuple[Any, ...]) -> Any:
        if method != "__call__" or ufunc not in (np.add, np.subtract) or not _is_one_noise(inputs):
            return None
        other = inputs[1] if isinstance(inputs[0], NoiseArray) else inputs[0]
        location = np.broadcast_to(np.asarray(other), self.shape) if np.ndim(other) <= self.ndim else None
        return -location if location is not None and ufunc is np.subtract and inputs[0] is self else location

    def _factor(self, ufunc: Any, method: str, inputs: tuple[Any, ...]) -> Any:
        if method != "__call__":
            return None
        if ufunc is np.negative:
            return -1.0
        if ufunc is np.multiply and _is_one_noise(inputs):
            return np.asarray(inputs[1] if isinstance(inputs[0], NoiseArray) else inputs[0], dtype=np.float64)
        if ufunc is np.divide and inputs[0] is self and _is_one_noise(inputs):
            return 1 / np.asarray(inputs[1], dtype=np.float64)
        return None

    def _released(
        self, location: NDArray[np.float64], noise: NDArray[np.float64], result: NDArray[Any], sign: float
    ) -> NDArray[np.float64]:
        each = self.places, location, sign * self.factors, sign * noise, result
        entries = zip(*(one.flat for one in each), strict=True)
        released = [self.call.release(int(place), *map(float, numbers)) for place, *numbers in entries]
        return np.array(released, dtype=np.float64).reshape(self.shape)

    def __getitem__(self, key: Any) -> Any:
        taken = self.view(np.ndarray)[key]
        if not hasattr(self, "call"):
            return taken
        places, factors = self.places[key], self.factors[key]
        if np.ndim(taken) == 0:
            return NoiseNumber.of(taken, self.call, int(places), float(factors))
        return NoiseArray.of(taken, self.call, places, factors)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))


def _is_one_noise(inputs: tuple[Any, ...]) -> bool:
    return len(inputs) == 2 and sum(isinstance(one, NoiseArray | NoiseNumber) for one in inputs) == 1


def remembered(result: Any, call: Call) -> Any:
    """Return a primitive's result as noise: a float, or an array of floats; anything else as it is."""
    if isinstance(result, float | np.floating) and not isinstance(result, NoiseNumber):
        return NoiseNumber.of(result, call, 0)
    if isinstance(result, np.ndarray) and result.dtype.kind == "f":
        return NoiseArray.of(result, call, np.arange(result.size).reshape(result.shape), 1.0)
    return result
