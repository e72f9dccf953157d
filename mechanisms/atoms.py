"""What makes two outcomes the same one, and how to find the same ones in arrays of millions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from numbers import Number
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16  # atoms merged at a time: what a cache holds

_Positions = NDArray[np.int64]


def identity(atom: Any) -> Hashable:
    """Return what makes an outcome the same outcome: −0.0 is not 0.0, nor 1 or True 1.0, and every NaN is one NaN."""
    if isinstance(atom, np.generic):
        atom = atom.item()
    if isinstance(atom, bool):
        return ("bool", atom)
    if isinstance(atom, float):
        return ("float", atom.hex())  # "nan" whatever its bits
    if isinstance(atom, tuple):
        return ("tuple", *(identity(part) for part in atom))
    return cast("Hashable", atom)


def are_numeric(*atoms: Any) -> bool:
    """Return whether these are one-dimensional arrays of one kind of number, which need no look at each atom."""
    arrays = all(isinstance(some, np.ndarray) and some.ndim == 1 and some.dtype.itemsize <= 8 for some in atoms)
    return arrays and len({some.dtype.kind for some in atoms}) == 1 and atoms[0].dtype.kind in "fiu"


def are_distinct(atoms: Sequence[Any]) -> bool:
    """Return whether no outcome is named twice."""
    if isinstance(atoms, range):
        return True
    if not are_numeric(atoms):
        return len({identity(atom) for atom in atoms}) == len(atoms)
    numbers: NDArray[Any] = np.asarray(atoms)
    if ascend(numbers):
        return True
    patterns = np.sort(_patterns(numbers))
    return not (patterns[1:] == patterns[:-1]).any()


def are_equal(atoms: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether two arrays of numbers name the same outcomes in the same order; False for anything else."""
    if atoms is others:
        return True
    if not are_numeric(atoms, others) or len(atoms) != len(others):
        return False
    one, other = np.asarray(atoms), np.asarray(others)
    return one.dtype == other.dtype and bool((_patterns(one) == _patterns(other)).all())


def ascend(numbers: NDArray[Any]) -> bool:
    """Return whether each is less than the next: then none is named twice, and at most the only one is NaN."""
    return bool((numbers[1:] > numbers[:-1]).all())


def position_of(outcome: Any, atoms: Sequence[Any]) -> int | None:
    """Return where the outcome stands among the atoms, or None."""
    wanted = identity(outcome)
    if isinstance(atoms, range):
        return atoms.index(wanted) if type(wanted) is int and wanted in atoms else None
    candidates: Iterable[int] = range(len(atoms))
    if are_numeric(atoms):
        numbers = np.asarray(atoms)
        if isinstance(outcome, float | np.floating) != (numbers.dtype.kind == "f") or not isinstance(outcome, Number):
            return None
        with np.errstate(over="ignore"):  # a number beyond the atoms' type is none of them
            near = numbers == outcome if outcome == outcome else np.isnan(numbers)
        candidates = np.flatnonzero(near).tolist()
    return next((at for at in candidates if identity(atoms[at]) == wanted), None)


def in_common(first: NDArray[Any], second: NDArray[Any]) -> Iterator[tuple[_Positions, _Positions]]:
    """Yield, in blocks, where the outcomes that two arrays of numbers share stand in the one and in the other.

    Each array names an outcome once. Ascending arrays are merged as they are; others are sorted first.
    """
    dtype = np.result_type(first, second)  # the wider one, to which the other is taken exactly
    first, second = first.astype(dtype, copy=False), second.astype(dtype, copy=False)
    if ascend(first) and ascend(second):
        yield from _merged(first, second)
        return
    patterns = _patterns(first), _patterns(second)
    orders = tuple(np.argsort(some) for some in patterns)
    for here, there in _merged(patterns[0][orders[0]], patterns[1][orders[1]]):
        yield orders[0][here], orders[1][there]


def _merged(first: NDArray[Any], second: NDArray[Any]) -> Iterator[tuple[_Positions, _Positions]]:
    for start in range(0, len(first), BLOCK):
        block = first[start : start + BLOCK]
        low, high = second.searchsorted(block[0]), second.searchsorted(block[-1], side="right")
        both = np.concatenate([block, second[low:high]])
        order = np.argsort(both, kind="stable")  # merges two sorted runs in linear time, the block's own atom first
        both = both[order]
        same = both[1:] == both[:-1]
        if both.dtype.kind == "f":  # −0.0 == 0.0
            negative = np.signbit(both)
            same &= negative[1:] == negative[:-1]
        at = np.flatnonzero(same)
        yield order[at] + start, order[at + 1] - len(block) + low


def _patterns(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers that are equal where the outcomes are the same: of floats the bits, with one pattern for NaN."""
    if numbers.dtype.kind != "f":
        return numbers
    missing = np.isnan(numbers)
    if missing.any():
        numbers = np.where(missing, numbers.dtype.type(np.nan), numbers)
    return numbers.view(f"u{numbers.dtype.itemsize}")
