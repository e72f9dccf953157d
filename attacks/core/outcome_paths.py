"""The parts of outcomes, each as an array of values.

An outcome is a number, a string, a refusal, or a tuple of these; a mapping is its sorted items. A path names a part: ()
the outcome itself, (2,) its third coordinate, ("key",) the value beside a key, (2, ("real part",)) what is read from
the third coordinate (`outcome_readings`). Keys name the parts of items that each have a key of their own. They tell
everything of a mapping; of a list of items they leave the order out, which places tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_readings import CHARACTERS, READERS, Reading, counted, readings
from subnormal.attacks.core.outcome_relations import INVERSIONS, PARTS_MAX, RELATIONS
from subnormal.mechanisms.core.mechanism import Outcomes

Step: TypeAlias = int | str | Reading
Path: TypeAlias = tuple[Step, ...]
Column: TypeAlias = NDArray[np.float64]


class _Missing:
    """The value of a part that an outcome does not have."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()
_QUICK = {float, bool, type(None), _Missing}  # types that numpy converts as `_as_float` does
KEYS_MANY = 16  # paths more than twice those of any outcome, from which on keys are taken to be those of few outcomes
_INSIDE = {tuple, *READERS}  # types of values with parts of their own
_NUMBERS = (int, float, np.integer, np.floating, Fraction, Decimal)


def paths(*worlds: Outcomes) -> tuple[Path, ...]:
    """Return the paths of the parts of all worlds' outcomes, and of what is read from them.

    Values are named by their keys. Where most keys are those of few outcomes, or where the order of the keys may tell
    the outcomes apart, the parts are named by their places too.
    """
    found, first, flat, most = Counter[Path](), dict[Path, None](), 0, 0  # flat: the length of the longest flat tuple
    nested, orders = list[Any](), set[tuple[Path, ...]]()
    for outcomes in worlds:
        if isinstance(outcomes, np.ndarray | range):
            width = outcomes.shape[1] if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 else 0
            first |= dict.fromkeys([(), *((place,) for place in range(width))])
            continue
        first[()] = None
        for outcome in outcomes:
            if isinstance(outcome, tuple) and _INSIDE.isdisjoint(map(type, outcome)):
                flat = max(flat, len(outcome))
            elif isinstance(outcome, tuple) or type(outcome) in READERS:
                nested.append(outcome)
                parts = leaves(outcome)
                orders.add(tuple(parts))
                inside = _with_readings(parts)
                found.update(inside)
                most = max(most, len(inside))
    named = set(found)
    are_rare = len(found) > 2 * most + KEYS_MANY
    if are_rare:
        named = {path for path, count in found.items() if count > 1}
    if are_rare or (len(orders) > 1 and not all(map(_is_sorted, orders))):  # else the order of the keys tells nothing
        named.update(path for outcome in nested for path in _with_readings(leaves(outcome, keyed=False)))
    named.update((place,) for place in range(flat))
    return tuple(dict.fromkeys((*first, *sorted(named, key=repr))))


def _is_sorted(parts: tuple[Path, ...]) -> bool:
    """Return whether the keys of parts, as they follow each other, are sorted, as those of a mapping are."""
    steps = (next(both for both in zip(*two, strict=False) if both[0] != both[1]) for two in pairwise(parts))
    return all(isinstance(one, int) or repr(one) < repr(other) for one, other in steps)


def _with_readings(parts: dict[Path, Any]) -> list[Path]:
    return [*parts, *((*path, reading) for path, one in parts.items() for reading in readings(one))]


def leaves(outcome: Any, path: Path = (), *, keyed: bool = True) -> dict[Path, Any]:
    """Return the numbers, strings and so on that an outcome is made of, by their paths.

    keyed: values are named by the keys that stand beside them; else items are tuples like others.
    """
    if not isinstance(outcome, tuple) or not outcome:
        return {path: outcome}
    named = by_key(outcome) if keyed else None
    parts: Any = enumerate(outcome) if named is None else named.items()
    return {inner: value for step, part in parts for inner, value in leaves(part, (*path, step), keyed=keyed).items()}


def by_key(outcome: Any) -> dict[str, Any] | None:
    """Return values by the keys beside them, of items whose keys are texts, each another one; None of anything else."""
    if not isinstance(outcome, tuple) or not outcome or type(outcome[0]) is not tuple:
        return None
    if not {tuple}.issuperset(map(type, outcome)) or not {2}.issuperset(map(len, outcome)):
        return None
    named = dict(outcome)
    are_texts = {str}.issuperset(map(type, named)) or all(isinstance(key, str) for key in named)
    return named if are_texts and len(named) == len(outcome) else None


@dataclass(frozen=True, eq=False)
class PartValues:
    """One part of each outcome, shape (outcomes,): of a numeric type if all are numbers of one type, else objects.

    Where each part is a tuple of as many numbers as the others, all of one type, shape (outcomes, numbers) instead.
    """

    items: NDArray[Any]

    @cached_property
    def numeric(self) -> bool:
        """Whether all are numbers, of one type."""
        return self.items.dtype.kind in "iuf" and not self.is_table

    @property
    def is_table(self) -> bool:
        """Whether all are tuples of numbers, in an array of two axes."""
        return self.items.ndim == 2

    @cached_property
    def values(self) -> Column:
        """Numbers as the nearest floats, NaN for other values."""
        if self.numeric:
            return self.items.astype(np.float64)
        if self.is_table:
            return np.full(len(self.items), np.nan)
        if set(map(type, self.items)) <= _QUICK:
            return np.array([None if one is MISSING else one for one in self.items], dtype=np.float64)
        return np.array([_as_float(one) for one in self.items], dtype=np.float64)

    @cached_property
    def numbers(self) -> list[list[float]]:
        """The numbers among the parts of each tuple, none of anything else; an empty list where nothing is a tuple."""
        if self.numeric or tuple not in set(map(type, self.items)):
            return []
        inside = [map(_as_float, one) if isinstance(one, tuple) else () for one in self.items]
        return [[number for number in one if number == number] for one in inside]

    @cached_property
    def significand(self) -> tuple[NDArray[np.uint64], Column]:
        """m and s with |x| = m·2^s; of an integer the low 64 bits of |x|, and s = 0. (0, NaN) for other values."""
        if self.is_table:
            return np.zeros(len(self.items), dtype=np.uint64), self.values
        return _significand(self.items) if self.numeric else _significand_of_objects(self.items, self.values)

    @property
    def _inversions(self) -> Column:
        """How many pairs of the numbers of each tuple have the larger one first, NaN where they are many or none."""
        if self.is_table:
            table = self.items.astype(np.float64)
            widths = (~np.isnan(table)).sum(axis=1)
        else:
            widths = np.array(list(map(len, self.numbers or [[]] * len(self.items))))
        found = np.full(len(self.items), np.nan)
        for width in range(2, PARTS_MAX + 1):
            where = np.flatnonzero(widths == width)
            if len(where):
                rows = table[where] if self.is_table else np.array([self.numbers[place] for place in where])
                own = rows[~np.isnan(rows)].reshape(-1, width)
                found[where] = sum((own[:, :-apart] > own[:, apart:]).sum(axis=1) for apart in range(1, width))
        return found

    @cached_property
    def _named(self) -> list[Mapping[Any, Any]]:
        """Values by the keys beside them, what is read from another value."""
        return [readings(one) if (named := by_key(one)) is None else named for one in self.items]

    def at(self, step: Step) -> PartValues:
        """Return the part of each value that a step names, `MISSING` where it has none."""
        if self.numeric:
            return _compact([MISSING] * len(self.items))
        if isinstance(step, int):
            return _compact(
                [one[step] if isinstance(one, tuple) and step < len(one) else MISSING for one in self.items]
            )
        if step == INVERSIONS:
            return PartValues(self._inversions)
        if step in CHARACTERS:
            place = CHARACTERS[step]
            return _compact(
                [one[place] if isinstance(one, str) and place < len(one) else MISSING for one in self.items]
            )
        if isinstance(step, tuple) and (item := counted(step)) is not None:
            if self.is_table:
                return PartValues((self.items == item).sum(axis=1))
            kinds = str | tuple if isinstance(item, str) else tuple
            return _compact([one.count(item) if isinstance(one, kinds) else MISSING for one in self.items])
        return _compact([one.get(step, MISSING) for one in self._named])


def part(outcomes: Outcomes, path: Path, known: dict[Path, PartValues] | None = None) -> PartValues:
    """Return the part of each outcome that a path names. known: the parts made so far, to which new ones are added."""
    known = {} if known is None else known
    if path not in known:
        known[path] = _part(outcomes, path, known)
    return known[path]


def _part(outcomes: Outcomes, path: Path, known: dict[Path, PartValues]) -> PartValues:
    if isinstance(outcomes, range):
        outcomes = np.arange(outcomes.start, outcomes.stop, outcomes.step)
    if not path:
        numeric = isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "iuf"
        return PartValues(np.asarray(outcomes)) if numeric else _compact(list(rows(outcomes)))
    around, step = path[:-1], path[-1]
    if step in RELATIONS:
        signs, is_size = RELATIONS[step]
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            total = np.sum([sign * part(outcomes, (*around, at), known).values for at, sign in signs], axis=0)
        return PartValues(np.abs(total) if is_size else total)
    if not around and isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 and isinstance(step, int):
        inside = step < outcomes.shape[1]
        return PartValues(outcomes[:, step]) if inside else _compact([MISSING] * len(outcomes))
    return part(outcomes, around, known).at(step)


def rows(outcomes: Outcomes) -> Sequence[Any]:
    """Return outcomes as hashable objects: the rows of an array of two axes become tuples."""
    if not isinstance(outcomes, np.ndarray):
        return outcomes
    values: list[Any] = outcomes.tolist()
    return values if outcomes.ndim == 1 else [tuple(value) for value in values]


def _compact(items: list[Any]) -> PartValues:
    types = set(map(type, items))
    if types == {float}:
        return PartValues(np.array(items, dtype=np.float64))
    if types == {bool}:  # their features are those of 0 and 1
        return PartValues(np.array(items, dtype=np.int64))
    if types == {int} and min(items) >= -(1 << 63) and max(items) < 1 << 63:
        return PartValues(np.array(items, dtype=np.int64))
    return PartValues(np.fromiter(items, dtype=object, count=len(items)))


def _as_float(one: Any) -> float:
    if type(one) is float:
        return one
    if one is None or one is MISSING:  # what is asked most often is answered first
        return math.nan
    try:
        return float(one) if isinstance(one, _NUMBERS) else math.nan
    except ValueError:  # a signalling NaN
        return math.nan
    except OverflowError:
        return math.inf if one > 0 else -math.inf


def _significand(items: NDArray[Any]) -> tuple[NDArray[np.uint64], Column]:
    if items.dtype.kind == "u":
        return items.astype(np.uint64), np.zeros(len(items))
    if items.dtype.kind == "i":
        bits = items.astype(np.int64).view(np.uint64)
        return np.where(items < 0, ~bits + np.uint64(1), bits), np.zeros(len(items))
    width = np.finfo(items.dtype).nmant + 1
    values = items.astype(np.float64)
    finite = np.isfinite(values)
    mantissa, power = np.frexp(np.where(finite, values, 0.0))
    return np.ldexp(np.abs(mantissa), width).astype(np.uint64), np.where(finite, power - float(width), np.nan)


def _significand_of_objects(items: NDArray[Any], values: Column) -> tuple[NDArray[np.uint64], Column]:
    whole = np.array([isinstance(one, int | np.integer) for one in items], dtype=np.bool_)
    bits, scale = _significand(np.where(whole, np.nan, values))
    bits[whole] = np.array([abs(int(one)) & ((1 << 64) - 1) for one in items[whole]], dtype=np.uint64)
    scale[whole] = 0.0
    return bits, scale
