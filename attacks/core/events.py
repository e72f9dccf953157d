"""The kinds of events: vectorised predicates with a JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.outcome_features import Columns, Kind, columns_of
from subnormal.attacks.core.outcome_paths import MISSING, PartValues, Path, part, rows
from subnormal.mechanisms.core.mechanism import Outcomes, Refused
from subnormal.mechanisms.core.outcome_identity import identity, patterns


class Event(Protocol):
    """A set of outcomes that the attacker looks for: a vectorised predicate with a JSON form."""

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        """Return whether each outcome is in the event, shape (outcomes,). A refusal is an outcome too."""

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object; "portable" says whether another language can evaluate it."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """The outcome is one of these. Numbers are compared by value: 1, 1.0 and True are one, and 0.0 and -0.0.

    by_type: outcomes are compared by `identity`, like the atoms of a law.
    """

    outcomes: tuple[Any, ...]
    by_type: bool = False

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, range):
            outcomes = np.arange(outcomes.start, outcomes.stop, outcomes.step, dtype=np.int64)
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind in "iuf":
            exact = self._representable(outcomes.dtype)
            return np.isin(patterns(outcomes), patterns(exact)) if self.by_type else np.isin(outcomes, exact)
        if self.by_type:
            same = set(map(identity, self.outcomes))
            return np.array([identity(outcome) in same for outcome in rows(outcomes)], dtype=np.bool_)
        equal = set(self.outcomes)
        return np.array([outcome in equal for outcome in rows(outcomes)], dtype=np.bool_)

    def _representable(self, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return the numbers that the type represents exactly, so that no comparison rounds."""
        own = float if kind.kind == "f" else int
        numbers = (
            one for one in self.outcomes if type(one) is own or (not self.by_type and isinstance(one, int | float))
        )
        with np.errstate(over="ignore"):
            return np.array([one for one in numbers if _holds(kind, one)], dtype=kind)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object, portable if its outcomes are few and plain."""
        if len(self.outcomes) > NAMED_MAX:
            return {"kind": "learned", "one-of": len(self.outcomes), "portable": False}
        portable = all(map(_is_plain, self.outcomes))
        return {"kind": "one-of", "outcomes": [_written(one) for one in self.outcomes], "portable": portable}


@dataclass(frozen=True, slots=True)
class Refuses:
    """The mechanism raises an exception."""

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, range | np.ndarray):
            return np.zeros(len(outcomes), dtype=np.bool_)
        return np.array([isinstance(outcome, Refused) for outcome in outcomes], dtype=np.bool_)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "refuses", "portable": True}


@dataclass(frozen=True, slots=True)
class Releases:
    """The outcome is a mapping that has this key, with any value."""

    key: Any

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return np.array(
            [isinstance(one, tuple) and any(item[0] == self.key for item in one) for one in outcomes], dtype=np.bool_
        )

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "releases", "key": self.key, "portable": True}


@dataclass(frozen=True, slots=True)
class Between:
    """The outcome is a number from `low` to `high`, both included; −∞ and ∞ leave a side open."""

    low: float
    high: float

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype == np.int64:
            low, high = max(self.low, -(2.0**63)), min(self.high, 2.0**63)
            inside = (ceil(low), min(floor(high), 2**63 - 1)) if low <= high else (1, 0)
            return np.asarray((outcomes >= inside[0]) & (outcomes <= inside[1]))  # integers, so nothing is rounded
        values = numbers(outcomes)
        return (values >= self.low) & (values <= self.high)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        low, high = (value if np.isfinite(value) else str(value) for value in (self.low, self.high))
        return {"kind": "between", "low": low, "high": high, "portable": True}


@dataclass(frozen=True, slots=True)
class OffGrid:
    """The outcome is a number that is not a multiple of 2^grid."""

    grid: int

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, range):
            outcomes = np.arange(outcomes.start, outcomes.stop, outcomes.step)
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 1 and outcomes.dtype.kind == "i":
            return np.asarray(outcomes & np.int64((1 << max(self.grid, 0)) - 1) != 0)
        values = numbers(outcomes)
        finite = np.isfinite(values)
        return np.asarray(finite & (np.fmod(np.where(finite, values, 0.0), 2.0**self.grid) != 0))  # fmod is exact

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "off-grid", "grid": self.grid, "portable": True}


@dataclass(frozen=True, slots=True)
class CountedDistance:
    """The outcome is a pair (number, count) whose number lies exactly count − 1 steps from `value`."""

    value: float
    step: float

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return np.asarray(self.near(outcomes) == 0)

    def near(self, outcomes: Outcomes) -> NDArray[np.float64]:
        """Return −d, for the difference d between the distance in steps and count − 1, at most 8; −8 for a refusal."""
        counts = np.array([count for _, count in outcomes], dtype=np.float64)
        off = np.abs(np.abs(numbers(outcomes) - self.value) / self.step - (counts - 1))
        return -np.fmin(off, OFF_MAX)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "counted", "value": self.value, "step": self.step, "portable": True}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the outcome, which is a tuple, is in an event. Place 1 of a pair (outcome, count) is the count."""

    place: int
    event: Event

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        if isinstance(outcomes, np.ndarray):
            return self.event(outcomes[:, self.place])
        return self.event([outcome[self.place] for outcome in outcomes])

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object, portable if the part's event is."""
        inner = self.event.to_json()
        return {"kind": "part", "place": self.place, "event": inner, "portable": inner["portable"]}


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest number of the outcome, which is a tuple of them, is `low` at least."""

    low: float

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return np.asarray(largest(outcomes) >= self.low)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "largest", "low": self.low, "portable": True}


def largest(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return the largest number of each tuple as float64, shape (outcomes,): a number itself, −∞ for a refusal."""
    if isinstance(outcomes, range | np.ndarray):
        found: NDArray[np.float64] = np.asarray(outcomes, dtype=np.float64).reshape(len(outcomes), -1).max(axis=1)
        return found
    listed = (outcome if isinstance(outcome, tuple) else (outcome,) for outcome in outcomes)
    return np.array([-np.inf if isinstance(one[0], Refused) else max(one) for one in listed], dtype=np.float64)


def numbers(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return outcomes that are numbers as float64, shape (outcomes,): NaN for a refusal, a tuple's first number."""
    if isinstance(outcomes, range):
        return np.arange(outcomes.start, outcomes.stop, outcomes.step, dtype=np.float64)
    if isinstance(outcomes, np.ndarray):
        first = outcomes if outcomes.ndim == 1 else outcomes[:, 0]
        return first.astype(np.float64, copy=False)
    parts = (outcome[0] if isinstance(outcome, tuple) else outcome for outcome in outcomes)
    return np.array([np.nan if isinstance(part, Refused) else part for part in parts], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Term:
    """A feature of a part of the outcome, clipped to [low, high], times a weight; `absent` if there is none."""

    feature: str  # a key of outcome_features.FEATURES
    path: Path = ()
    weight: float = 1.0
    low: float = -np.inf
    high: float = np.inf
    absent: float = np.nan


@dataclass(frozen=True, slots=True)
class Learned:
    """The score of the outcome, which is a sum of terms, lies in [low, high]. A NaN score does not.

    mass: the share of one world's training outcomes that the bounds were chosen to hold; None for a single value.
    """

    terms: tuple[Term, ...]
    low: float
    high: float
    mass: float | None = None

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return self.among(columns_of(outcomes))

    def among(self, columns: Columns) -> NDArray[np.bool_]:
        """Return whether each outcome is in the event, from the columns of its features."""
        return self.holds(self.score(columns))

    def score(self, columns: Columns) -> NDArray[np.float64]:
        """Return the score of each outcome from the columns of its features, shape (outcomes,)."""
        parts = []
        for term in self.terms:
            values = columns(term.path, term.feature)
            present = term.weight * np.clip(values, term.low, term.high)
            parts.append(np.where(np.isnan(values), term.absent, present))
        total: NDArray[np.float64] = np.sum(parts, axis=0)
        return total

    def holds(self, score: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether each score lies within the bounds."""
        return (score >= self.low) & (score <= self.high)

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object, portable if it is an interval, a grid, or a refusal."""
        (low, high), first = _bounds(self.low, self.high), self.terms[0]
        plain = np.isnan(first.absent) and replace(first, absent=0.0) == Term(first.feature, absent=0.0)
        if len(self.terms) == 1 and plain:  # since Python 3.13, dataclasses with the same NaN are not equal
            if first.feature == "value":
                return {"kind": "between", "low": low, "high": high, "portable": True}
            if first.feature == "grid" and self.low == -np.inf:
                return {"kind": "off-grid", "grid": int(self.high) + 1, "portable": True}
            if first.feature == "kind" and self.low == self.high == Kind.REFUSED:
                return {"kind": "refuses", "portable": True}
        return self.as_learned()

    def as_learned(self) -> dict[str, Any]:
        """Return the event as a JSON object that holds its terms, whether it is portable or not."""
        terms = [
            {
                "feature": term.feature,
                "path": _path(term.path),
                "weight": term.weight,
                "within": _bounds(term.low, term.high),
            }
            for term in self.terms
        ]
        low, high = _bounds(self.low, self.high)
        return {"kind": "learned", "terms": terms, "low": low, "high": high, "mass": self.mass, "portable": False}


@dataclass(frozen=True, slots=True)
class Category:
    """The part of the outcome that a path names is one of some values; of several paths, the tuple of their parts."""

    paths: tuple[Path, ...]
    values: OneOf

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return self.holds([part(outcomes, path) for path in self.paths])

    def holds(self, parts: Sequence[PartValues]) -> NDArray[np.bool_]:
        """Return whether the parts, one for each path, are one of the values in each outcome."""
        items = [each.items.tolist() for each in parts]
        if len(items) > 1:
            return self.values(list(zip(*items, strict=True)))
        return self.values([() if one is MISSING and self.values.by_type else one for one in items[0]])

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        named = self.values.to_json()
        chosen = named.get("outcomes", named.get("one-of"))  # how many they are, where they are too many to list
        return {"kind": "learned", "paths": list(map(_path, self.paths)), "one-of": chosen, "portable": False}


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of some learned events happen."""

    events: tuple[Learned, ...]

    def __call__(self, outcomes: Outcomes) -> NDArray[np.bool_]:
        return self.among(columns_of(outcomes))

    def among(self, columns: Columns) -> NDArray[np.bool_]:
        """Return whether each outcome is in the event, from the columns of its features."""
        return np.asarray(np.all([one.among(columns) for one in self.events], axis=0))

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        return {"kind": "learned", "all-of": [one.as_learned() for one in self.events], "portable": False}


def _holds(kind: np.dtype[Any], number: int | float) -> bool:
    try:
        held = kind.type(number).item()
    except (OverflowError, ValueError):  # outside the range of the type, or NaN as an integer
        return False
    return bool(held == number or (held != held and number != number))


def _is_plain(outcome: Any) -> bool:
    """Return whether the outcome has the same JSON form in every language."""
    if isinstance(outcome, tuple):
        return all(map(_is_plain, outcome))
    return outcome is None or isinstance(outcome, int | float | str | Refused)


OFF_MAX = 8.0  # steps that a chart distinguishes
NAMED_MAX = 64  # largest number of outcomes of an event that a report lists


def _path(path: Path) -> list[Any]:
    return [list(step) if isinstance(step, tuple) else step for step in path]


def _bounds(low: float, high: float) -> list[float | str]:
    return [value if np.isfinite(value) else str(value) for value in (low, high)]


def _written(outcome: Any) -> Any:
    if isinstance(outcome, tuple):
        return [_written(part) for part in outcome]
    if outcome is MISSING:
        return {"missing": True}
    if isinstance(outcome, Refused):
        return f"error: {outcome.error}"
    if isinstance(outcome, float) and not np.isfinite(outcome):
        return str(outcome)
    return outcome if isinstance(outcome, int | float | str | None) else repr(outcome)
