"""Value + noise compared with a threshold, for many keys and draws at once: which draws pass, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.samplers.lazy_digits import Noise


@dataclass(frozen=True, slots=True)
class Saturated:
    """An integer as itself, `most` beyond."""

    most: int

    def __call__(self, steps: int) -> int:
        return min(steps, self.most)


@dataclass(frozen=True, slots=True)
class Rounded:
    """steps·2^grid > 0 as the nearest float of so many digits that is a multiple of 2^least; ties to even; at most
    `most`."""

    grid: int
    digits: int
    least: int
    most: float

    def __call__(self, steps: int) -> float:
        size = steps.bit_length()
        dropped = max(size - self.digits, self.least - self.grid, 0)
        significand = steps >> dropped
        if dropped:
            rest, half = steps & ((1 << dropped) - 1), 1 << (dropped - 1)
            significand += rest > half or (rest == half and significand & 1)
        if size + self.grid > 1024:
            return self.most
        try:
            return min(ldexp(significand, self.grid + dropped), self.most)
        except OverflowError:  # rounded up to 2^1024
            return self.most


class Passed(NamedTuple):
    """Which draws pass the threshold, by row and then by column, and the numbers that they are released as."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    numbers: list[Any]


def passing(
    values: NDArray[Any], least: int, noise: Noise, finish: Saturated | Rounded, bits: BitSource, rows: int
) -> Passed:
    """Return the draws that pass, of `rows` draws of each value + noise: exact sums of at least `least`, all in steps.

    values: shape (values,), int64 between ±2^61, or Python's integers. finish never decreases.
    """
    leading, beyond = noise.leading_digits(bits, rows * len(values))
    leading = leading.reshape(rows, len(values))
    if noise.base == 0 and isinstance(finish, Saturated):
        sums = leading + values
        row, column = (sums >= least).nonzero()
        # `most` may be 2^63, minus the least int64, which int64 cannot hold; int64 sums never reach it.
        most = finish.most if sums.dtype == object else min(finish.most, (1 << 63) - 1)
        return Passed(row, column, np.minimum(sums[row, column], most).tolist())

    def released(value: int, drawn: int) -> Any:
        return finish(value + drawn) if value + drawn >= least else None

    # The leading digits of noise whose sum may just pass.
    needed = [least - value >> noise.base for value in values.tolist()]
    narrow = all(-(1 << 63) <= one < 1 << 63 for one in needed)
    row, column = (leading >= np.fromiter(needed, np.int64 if narrow else object, len(needed))).nonzero()
    numbers = []
    for at, key in zip(row.tolist(), column.tolist(), strict=True):
        value, known = int(values[key]), beyond.get(at * len(values) + key, (0, 0))
        numbers.append(noise.settled(int(leading[at, key]), known, bits, partial(released, value)))
    passed = np.fromiter((number is not None for number in numbers), np.bool_, len(numbers))
    return Passed(row[passed], column[passed], [number for number in numbers if number is not None])


def mappings(keys: list[Any], sign: int, passed: Passed, rows: int) -> list[tuple[tuple[Any, Any], ...]]:
    """Return the passing items of each row, in the order of the keys; numbers times the sign."""
    outcomes: list[tuple[tuple[Any, Any], ...]] = [()] * rows
    numbers = passed.numbers if sign > 0 else [-number for number in passed.numbers]
    items = list(zip(map(keys.__getitem__, passed.column.tolist()), numbers, strict=True))
    begins = np.flatnonzero(np.diff(passed.row, prepend=-1)).tolist()
    for begin, end in pairwise([*begins, len(items)] if begins else []):
        outcomes[passed.row[begin]] = tuple(items[begin:end])
    return outcomes
