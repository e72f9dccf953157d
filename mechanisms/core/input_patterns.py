"""Patterns of neighbouring inputs, placed in the domain of a mechanism.

Those for vectors are of Ding, Wang, Wang, Zhang, Kifer 2018 ("Detecting Violations of Differential Privacy", CCS),
with records added and removed, and with the ends of the float format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor, frexp, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.domain import Domain

LENGTH = 8  # records of a vector


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Two inputs that differ as a pattern says."""

    name: str
    data_in: Any
    data_out: Any


def numbers(step: int | float = 1.0) -> tuple[Neighbours, ...]:
    """Return pairs of numbers `step` apart, integers where the step is one.

    The ends of the format: the least float, the last float below 1, where floats, and where 64-bit integers, run out.
    Raises ValueError for a step that is not positive and finite.
    """
    if not step > 0 or not np.isfinite(step):
        raise ValueError(f"step must be positive and finite, got {step}")
    pairs: list[tuple[str, int | float, int | float]] = [
        ("zero against one", 0 * step, step),
        ("zero against minus one", 0 * step, -step),
        ("one up", 5 * step, 6 * step),
        ("one down", 5 * step, 4 * step),
        ("many", 1000 * step, 1001 * step),
    ]
    if isinstance(step, int):
        pairs += [
            ("end of the floats' integers", 2**53 // step * step, (2**53 // step + 1) * step),
            ("end of 32 bits", 2**31 - step, 2**31),
            ("end of 64 bits", 2**63 - 1 - step, 2**63 - 1),
        ]
    else:
        pairs += [
            ("half up, half down", -step / 2, step / 2),
            ("least float", 0.0, min(5e-324, step)),
            ("last float below one", step * (1 - 2.0**-53), step),
            ("signs of zero", 0.0, -0.0),
            ("end of the floats' integers", step * 2.0**52, step * (2.0**52 + 1)),
        ]
    return tuple(Neighbours(name, one, other) for name, one, other in pairs)


def vectors(step: int | float = 1, length: int = LENGTH, origin: int | float = 0) -> tuple[Neighbours, ...]:
    """Return pairs of vectors (int64 where the step is an integer, else float64) of about `length` entries.

    Entries are multiples of the step, counted from the origin. Which pairs are neighbours depends on what a record is.
    Raises ValueError for a step that is not positive and finite, and for a length below 2.
    """
    if not step > 0 or not np.isfinite(step):
        raise ValueError(f"step must be positive and finite, got {step}")
    if length < 2:
        raise ValueError(f"length must be at least 2, got {length}")

    def vector(*entries: int | float) -> NDArray[Any]:
        kind: Any = np.int64 if isinstance(step, int) else np.float64
        numbers: NDArray[Any] = np.array(entries, dtype=kind) * step + kind(origin)
        return numbers

    rest, half = length - 1, length // 2
    ones, zeros = [1] * length, [0] * length
    alternating = [1] * half + [0] * (length - half)
    pairs = [
        ("empty", vector(), vector(1)),
        ("empty, a zero more", vector(), vector(0)),
        ("zeros against one", vector(*zeros), vector(1, *zeros[1:])),
        ("one entry more", vector(*ones), vector(*ones, 1)),
        ("one entry less", vector(*ones), vector(*ones[1:])),
        ("a one among zeros", vector(*zeros), vector(*zeros, 1)),
        ("one up", vector(*ones), vector(2, *ones[1:])),
        ("one down", vector(*ones), vector(0, *ones[1:])),
        ("one up, the rest down", vector(*ones), vector(2, *[0] * rest)),
        ("one down, the rest up", vector(*ones), vector(0, *[2] * rest)),
        ("half up, half down", vector(*ones), vector(*[2] * half, *[0] * (length - half))),
        ("all up by one", vector(*ones), vector(*[2] * length)),
        ("all down by one", vector(*ones), vector(*zeros)),
        ("halves exchanged", vector(*alternating), vector(*alternating[::-1])),
    ]
    if not isinstance(step, int):
        pairs += [
            ("least float", vector(*zeros), vector(*zeros) + np.array([min(5e-324, step), *zeros[1:]])),
            ("end of the floats' integers", vector(2.0**52, *zeros[1:]), vector(2.0**52 + 1, *zeros[1:])),
        ]
    return tuple(Neighbours(name, one, other) for name, one, other in pairs)


def mappings(step: int | float = 1, threshold: int | float = 1) -> tuple[Neighbours, ...]:
    """Return pairs of mappings from keys to numbers, a key more or a value a step more: at a threshold, and above."""
    one, many, last = {"one": step}, {"many": threshold + 50 * step}, {"many": threshold}
    return (
        Neighbours("a key, and none", dict(one), {}),
        Neighbours("a key of zero, and none", {"one": 0 * step}, {}),
        Neighbours("a negative key, and none", {"one": -step}, {}),
        Neighbours("a key more", many | one, dict(many)),
        Neighbours("one up", dict(many), {"many": threshold + 51 * step}),
        Neighbours("one down", dict(many), {"many": threshold + 49 * step}),
        Neighbours("one up from the threshold", dict(last), {"many": threshold + step}),
        Neighbours("one down from the threshold", dict(last), {"many": threshold - step}),
    )


def ends(step: int | float, lower: int | float, upper: int | float) -> tuple[Neighbours, ...]:
    """Return the pairs of numbers, a step apart or less, at the ends of an interval."""
    return (
        Neighbours("lower end", lower, min(lower + step, upper)),
        Neighbours("upper end", upper, max(upper - step, lower)),
    )


Pattern = Callable[[int | float], Iterable[Neighbours]]


def placed(domain: Domain, step: int | float, pattern: Pattern) -> tuple[Neighbours, ...]:
    """Return what the pattern makes of a step, of floats and, where it is whole, of integers: those in the domain.

    Numbers are the domain's, each pair comes once, and none is twice the same input.
    """
    pairs = [*pattern(float(step)), *(pattern(int(step)) if float(step).is_integer() else ())]
    found: dict[str, Neighbours] = {}
    for pair in pairs:
        try:
            one, other = domain.taken(pair.data_in), domain.taken(pair.data_out)
        except ValueError:
            continue
        if repr(one) != repr(other):
            found.setdefault(repr((one, other)), Neighbours(pair.name, one, other))
    return tuple(found.values())


def origin(domain: Domain, step: int | float) -> tuple[int | float, int | float]:
    """Return where entries of 0, 1 and 2 steps begin, and the step: 0, where the domain has them, or near its end.

    A step that is not whole becomes the power of two below it there, so that sums are exact.
    """
    if domain.lower <= 0 and 2 * step <= domain.upper:
        return 0, step
    unit = Fraction(step if float(step).is_integer() else power_below(step))
    low = domain.lower
    at = ceil(Fraction(low) / unit) * unit if isfinite(low) else (floor(Fraction(domain.upper) / unit) - 2) * unit
    return (int(at), step) if float(step).is_integer() else (float(at), float(unit))


def power_below(step: int | float) -> float:
    """Return the greatest power of two that is at most the step, for a finite step > 0."""
    return 2.0 ** (frexp(step)[1] - 1)


def of_vectors(domain: Domain, begin: int | float, step: int | float) -> tuple[Neighbours, ...]:
    """Return the pairs of vectors of `LENGTH` in the domain, their entries counted from where they begin."""
    return placed(domain, step, partial(vectors, origin=begin))
