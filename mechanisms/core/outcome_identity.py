"""Identity of outcomes, and how to find equal outcomes in arrays of millions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import fields
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 16  # atoms looked up at a time: what a cache holds
SPARSE = 16  # places for each number, from which on a search for each is faster than a table of them
MANY = 8  # numbers for each one that is looked up, from which on a search for each comes before their places
HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the flag of classes that are no built-in ones

_Positions = NDArray[np.int64]


def identity(atom: Any) -> Hashable:
    """Return a key that is equal for equal outcomes alone: the type, and every value that can be read from the outcome.

    1, 1.0, True, Fraction(1), Decimal(1) and Decimal("1.0") are six, −0.0 is not 0.0, and so on inside tuples, frozen
    sets and dataclasses; every NaN is one NaN. A numpy scalar of at most 64 bits is the Python number that `item`
    gives: np.int8(1) and np.int64(1) are both 1, np.float16(0.5) and np.float64(0.5) both 0.5.

    Raises TypeError for an unknown type: its own `==` may call two outcomes equal that can be told apart, and without
    one no two outcomes are ever equal.
    """
    kind = type(atom)
    if kind is int or kind is str:
        return cast("Hashable", atom)
    if kind is float:
        return ("float", atom.hex())  # "nan" whatever its bits
    if kind is bool:
        return _BOOLS[atom]
    if kind is tuple:
        return ("tuple", *[part if type(part) is int else identity(part) for part in atom])  # mostly integers
    known = _PARTS.get(kind)
    if known is not None:
        return (kind.__name__, *known(atom))
    return _identity_of_others(atom)


_BOOLS = {False: ("bool", False), True: ("bool", True)}  # ready: tuples of answers are the outcomes of many runs
_PARTS: dict[type, Callable[[Any], Iterable[Hashable]]] = {
    complex: lambda atom: (atom.real.hex(), atom.imag.hex()),
    bytes: lambda atom: (atom,),
    type(None): lambda atom: (),
    Fraction: lambda atom: (atom.numerator, atom.denominator),
    Decimal: lambda atom: (str(atom),),
    frozenset: lambda atom: (frozenset(Counter(map(identity, atom)).items()),),  # it may hold several NaNs
    range: lambda atom: (atom.start, atom.stop, atom.step),
    date: lambda atom: (repr(atom),),
    time: lambda atom: (repr(atom), *_zone(atom)),
    datetime: lambda atom: (repr(atom), *_zone(atom)),  # instants may be equal in two time zones
    timedelta: lambda atom: (repr(atom),),
}


def _zone(atom: time | datetime) -> tuple[Hashable, ...]:
    """Return the name of a time zone. Raises TypeError for one whose `repr` may leave something out."""
    zone = atom.tzinfo
    if zone is None or type(zone) is timezone:
        return ()
    if type(zone) is ZoneInfo and zone.key is not None:
        return (zone.key,)
    raise _unknown(zone)


def is_in_its_fields(atom: Any) -> bool:
    """Return whether an instance of a dataclass, or a named tuple, holds nothing that its fields do not name."""
    kind: Any = type(atom)
    slots, whole = _slots(kind)
    return whole and (slots | getattr(atom, "__dict__", {}).keys()) <= set(_names(kind))


@lru_cache(maxsize=256)
def _slots(kind: type) -> tuple[frozenset[str], bool]:
    """Return the slots of a class, and whether it derives from no built-in class, named tuples excepted."""
    parents, slots = kind.__mro__[:-1], set[str]()
    for parent in parents:
        named = vars(parent).get("__slots__", ())
        slots |= {named} if isinstance(named, str) else set(named)
    named_tuple = hasattr(kind, "_fields")
    native = [parent for parent in parents if not parent.__flags__ & HEAP and not (named_tuple and parent is tuple)]
    return frozenset(slots - {"__dict__", "__weakref__"}), not native


@lru_cache(maxsize=256)
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._fields) if hasattr(kind, "_fields") else _fields(kind)


@lru_cache(maxsize=256)
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@lru_cache(maxsize=256)
def _reader(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """Return what reads the fields of a dataclass with slots for them and nothing else; None for another class."""
    if "__dataclass_fields__" not in vars(kind) or kind.__dictoffset__:
        return None
    (slots, whole), names = _slots(kind), _fields(kind)
    return attrgetter(*names) if whole and slots <= set(names) and len(names) > 1 else None


def _identity_of_others(atom: Any) -> Hashable:
    kind: Any = type(atom)
    read = _reader(kind)
    if read is not None:
        return (kind, *[part if type(part) is int else identity(part) for part in read(atom)])
    if isinstance(atom, np.generic) and kind.__module__ == "numpy" and atom.dtype.kind in "biufcUS":
        item = str.__str__(atom) if isinstance(atom, str) else bytes(atom) if isinstance(atom, bytes) else atom.item()
        if not isinstance(item, np.generic):  # a long double has no number of Python's
            return identity(item)
    if isinstance(atom, Enum):
        return (kind, atom.name or identity(atom.value))  # flags that are combined may have no name
    if "__dataclass_fields__" in vars(kind) and is_in_its_fields(atom):
        return (kind, *(identity(getattr(atom, name)) for name in _fields(kind)))
    if isinstance(atom, tuple) and hasattr(kind, "_fields") and is_in_its_fields(atom):
        return (kind, *map(identity, atom))
    raise _unknown(atom)


def _unknown(atom: Any) -> TypeError:
    kind = type(atom)
    return TypeError(
        f"outcomes of type {kind.__module__}.{kind.__qualname__} cannot be told apart for certain: return numbers, "
        "strings, tuples, frozen sets or dataclasses of them"
    )


def are_numeric(*atoms: Any) -> bool:
    """Return whether these are one-dimensional arrays of one kind of number, which need no look at each atom."""
    arrays = all(isinstance(some, np.ndarray) and some.ndim == 1 and some.dtype.itemsize <= 8 for some in atoms)
    return arrays and len({some.dtype.kind for some in atoms}) == 1 and atoms[0].dtype.kind in "fiu"


def are_distinct(atoms: Sequence[Any]) -> bool:
    """Return whether all outcomes are distinct."""
    if isinstance(atoms, range):
        return True
    if not are_numeric(atoms):
        return len({identity(atom) for atom in atoms}) == len(atoms)
    numbers: NDArray[Any] = np.asarray(atoms)
    if ascend(numbers):
        return True
    ordered = np.sort(patterns(numbers))
    return not (ordered[1:] == ordered[:-1]).any()


def are_equal(atoms: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether two arrays of numbers name the same outcomes in the same order; False for anything else."""
    if atoms is others:
        return True
    if not are_numeric(atoms, others) or len(atoms) != len(others):
        return False
    dtype = np.result_type(np.asarray(atoms), np.asarray(others))  # the wider one, to which the other is taken exactly
    one, other = (np.asarray(some).astype(dtype, copy=False) for some in (atoms, others))
    return bool((patterns(one) == patterns(other)).all())


def are_same(atoms: Sequence[Any], others: Sequence[Any]) -> bool:
    """Return whether two laws' atoms are the same outcomes in the same order."""
    if isinstance(atoms, range) and isinstance(others, range):
        return atoms == others
    if atoms is others or are_numeric(atoms, others):
        return are_equal(atoms, others)
    return len(atoms) == len(others) and all(
        identity(one) == identity(other) for one, other in zip(atoms, others, strict=True)
    )


def ascend(numbers: NDArray[Any]) -> bool:
    """Return whether each is less than the next. Then all are distinct, and none is NaN, except a single one."""
    return bool((numbers[1:] > numbers[:-1]).all())


def position_of(outcome: Any, atoms: Sequence[Any]) -> int | None:
    """Return where the outcome stands among the atoms, or None."""
    key = identity(outcome)
    if isinstance(atoms, range):
        return atoms.index(key) if type(key) is int and key in atoms else None
    candidates: Iterable[int] = range(len(atoms))
    if are_numeric(atoms):
        numbers = np.asarray(atoms)
        number = outcome.item() if isinstance(outcome, np.generic) else outcome
        if type(number) is not (float if numbers.dtype.kind == "f" else int):
            return None
        with np.errstate(over="ignore"):  # a number beyond the atoms' type is none of them
            near = numbers == number if number == number else np.isnan(numbers)
        candidates = np.flatnonzero(near).tolist()
    return next((at for at in candidates if identity(atoms[at]) == key), None)


def labels_at(wanted: NDArray[Any], numbers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each wanted number, 0 where it is none of the numbers; shape (wanted,).

    Each array names an outcome once. labels: positive, shape (numbers,). Ascending arrays are read as they are; others
    are sorted first.
    """
    dtype = np.result_type(wanted, numbers)  # the wider one, to which the other is taken exactly
    wanted, numbers = wanted.astype(dtype, copy=False), numbers.astype(dtype, copy=False)
    if ascend(wanted) and ascend(numbers):
        return _labels_at(wanted, numbers, labels)
    both = places(wanted), places(numbers)
    order, order_of_numbers = (np.argsort(some) for some in both)
    found = np.empty(len(wanted), dtype=labels.dtype)
    found[order] = _labels_at(both[0][order], both[1][order_of_numbers], labels[order_of_numbers])
    return found


def _labels_at(wanted: NDArray[Any], numbers: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    found = np.zeros(len(wanted), dtype=labels.dtype)
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        low, high = numbers.searchsorted(chunk[0]), numbers.searchsorted(chunk[-1], side="right")
        near: Any = slice(low, high)
        if high - low > MANY * len(chunk):
            near = np.unique(np.minimum(numbers.searchsorted(chunk), len(numbers) - 1))
        if low < high:
            found[start : start + CHUNK] = _look_up(places(chunk), places(numbers[near]), labels[near])
    return found


def _look_up(wanted: _Positions, keys: _Positions, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each wanted integer; both arrays of them ascend. A table is faster than a search if dense."""
    least, most = min(int(wanted[0]), int(keys[0])), max(int(wanted[-1]), int(keys[-1]))
    if most - least < SPARSE * (len(wanted) + len(keys)):
        table = np.zeros(most - least + 1, dtype=labels.dtype)
        table[_above(least, keys)] = labels
        return table[_above(least, wanted)]
    at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    return np.asarray(labels[at] * (keys[at] == wanted))


def _above(least: int, numbers: NDArray[Any]) -> _Positions:
    if numbers.dtype.kind == "u":
        return np.asarray(numbers - numbers.dtype.type(least), dtype=np.int64)
    return np.asarray(numbers.astype(np.int64) - least)


def places(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the order of the numbers, a float's neighbours differing by 1: −0.0 before 0.0, NaN at an end.

    A float's place is its bits, with those after the sign reversed if it is negative.
    """
    if numbers.dtype.kind != "f":
        return numbers
    bits = patterns(numbers).view(f"i{numbers.dtype.itemsize}")
    if bits.min(initial=0) >= 0:  # none is negative
        return bits
    sign: NDArray[Any] = bits >> (8 * bits.itemsize - 1)  # 0 or −1
    return np.asarray(bits ^ (sign & np.iinfo(bits.dtype).max))


def at_places(places: _Positions, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return the floats of a kind at these places: the inverse of `places`."""
    size = kind.itemsize
    bits = np.where(places < 0, places ^ np.int64((1 << (8 * size - 1)) - 1), places)
    return bits.astype(f"i{size}").view(kind)


def patterns(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers that are equal exactly where the outcomes are: a float's bits, with one pattern for every NaN."""
    if numbers.dtype.kind != "f":
        return numbers
    missing = np.isnan(numbers)
    if missing.any():
        numbers = np.where(missing, numbers.dtype.type(np.nan), numbers)
    return numbers.view(f"u{numbers.dtype.itemsize}")
