"""The choices that a Hypothesis strategy makes, as a tree, and what the strategy draws from an edited tree.

A strategy draws a value by a sequence of choices: integers, floats, texts, bytes and booleans. Some of them belong
together in a span, such as all choices of one entry of a list. `follow` draws from a strategy again and prescribes the
choices. What the tree does not prescribe, or prescribes against the bounds of the strategy, Hypothesis draws anew. So
whatever the edit, the value is one that the strategy draws: it lies in the domain, with all filters, and shares no part
with another value.

This module alone uses internals of Hypothesis: one class, `ConjectureData`, by its five methods that draw a choice and
the two that start and stop a span, its `nodes`, and the functions `choice_permitted` and `choices_to_bytes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from hypothesis.control import current_build_context
from hypothesis.database import choices_to_bytes
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.choice import choice_permitted
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.strategies import SearchStrategy

SELDOM = 4  # inputs, of which one has constants of the function
FLOATS = 1 << 1023  # smaller integers are floats
DRAWN_MAX = 400  # choices of one input that Hypothesis makes, which can hardly make more: further ones repeat them
SIZE_MAX = 10**10  # of a text, as Hypothesis bounds it where a strategy does not


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. constraints: what the strategy allows, by the names of Hypothesis (`min_value`, `max_value`, …)."""

    kind: str  # integer, float, string, bytes or boolean
    value: Any
    constraints: Mapping[str, Any]

    def of_kind(self, constant: int | float | str) -> int | float | str | None:
        """Return a constant as a value of this kind; None where it is of another one."""
        if self.kind == "float" and isinstance(constant, int | float):
            return float(constant) if abs(constant) < FLOATS else None
        kinds: dict[str, type] = {"integer": int, "string": str}
        return constant if type(constant) is kinds.get(self.kind) else None

    def permits(self, value: Any) -> bool:
        return bool(choice_permitted(value, self.constraints))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Span:
    """Choices that belong together. label: the same for all spans of one kind of strategy."""

    label: int
    parts: Tree


@dataclass(frozen=True, slots=True)
class Fresh:
    """A choice or a span that is drawn anew. least: each number in it is, with probability 1/2, the least one."""

    least: bool = False


Constants: TypeAlias = tuple[int | float | str, ...]
Part: TypeAlias = Choice | Span | Fresh
Tree: TypeAlias = tuple[Part, ...]
Path: TypeAlias = tuple[int, ...]  # of a part: its place in the tree, then in the span there, and so on


@dataclass(frozen=True, slots=True)
class Input:
    """A value that a strategy draws, and the choices that make it again."""

    value: Any
    tree: Tree


class Source:
    """What Hypothesis draws in the example that it is at: the choices that it varies and shrinks.

    constants: numbers and texts of the function, which one input in `SELDOM` has among its own.
    """

    def __init__(self, constants: Constants = ()) -> None:
        self.data = current_build_context().data
        self.constants = constants if constants and self.chance(1 / SELDOM) else ()

    def integer(self, low: int, high: int) -> int:
        return int(self.data.draw_integer(low, high)) if low < high else low

    def chance(self, share: float) -> bool:
        return bool(self.data.draw_boolean(share))

    def again(self, choice: Choice) -> Any:
        """Return another value, within the same constraints."""
        if self.constants and self.chance(1 / 2):
            permitted = [one for one in map(choice.of_kind, self.constants) if one is not None and choice.permits(one)]
            if permitted:
                return permitted[self.integer(0, len(permitted) - 1)]
        return getattr(self.data, f"draw_{choice.kind}")(**choice.constraints)


def choices_of_example() -> tuple[Choice, ...]:
    """Return the choices of the example that Hypothesis is at."""
    nodes = current_build_context().data.nodes
    return tuple(Choice(node.type, node.value, node.constraints) for node in nodes)


def as_bytes(choices: Iterable[Choice]) -> bytes:
    """Return choices as the databases of Hypothesis keep them."""
    return choices_to_bytes([one.value for one in choices])


def follow(strategy: SearchStrategy[Any], tree: Tree | None, source: Source | None) -> Input | None:
    """Return what a strategy draws where a tree prescribes its choices; None where it draws nothing.

    tree: None prescribes nothing. source: of what the tree does not prescribe. None: the strategy draws nothing then.
    """
    depth = 0 if source is None else source.data.depth
    data = _Following(tree, source)
    try:
        value = data.draw(strategy)
        return Input(value, data.recorded())
    except StopTest as stop:
        if source is not None and stop.testcounter == source.data.testcounter:
            raise
    except UnsatisfiedAssumption:
        pass
    finally:
        while tree is None and source is not None and source.data.depth > depth and not source.data.frozen:
            source.data.stop_span()
    return None


@dataclass(frozen=True, slots=True)
class _Anew:
    """A span that is drawn anew. follows: whether it is an entry, where its first choice is whether there is one; None
    where that is drawn, too. least: see `Fresh`."""

    follows: bool | None = None
    least: bool = False


_INNER, _INNER_LEAST, _BEYOND = _Anew(), _Anew(least=True), _Anew(follows=False)


class _Place:
    """Where the strategy is in a span that the tree prescribes. at: the part that comes next."""

    __slots__ = ("at", "parts")

    def __init__(self, parts: Tree) -> None:
        self.parts, self.at = parts, 0

    def choice(self) -> Choice | Fresh | None:
        part = self.parts[self.at] if self.at < len(self.parts) else None
        if part is None or isinstance(part, Span):
            return None
        self.at += 1
        return part

    def span(self, label: int) -> _Place | _Anew:
        """Return the place in the next span of this label: those before it are left out."""
        for at in range(self.at, len(self.parts)):
            part = self.parts[at]
            if isinstance(part, Span) and part.label == label:
                self.at = at + 1
                return _Place(part.parts)
            if isinstance(part, Fresh):
                self.at = at + 1
                return _Anew(True, part.least)
        return _BEYOND


class _Following(ConjectureData):
    """Makes the choices that a tree prescribes, the others from a source, and records them all as a tree."""

    def __init__(self, tree: Tree | None, source: Source | None) -> None:
        self._source = source
        self._mirrored = source.data if tree is None and source is not None else None
        self._places: list[_Place | _Anew] = [_INNER if tree is None else _Place(tree)]
        self._labels: list[int] = []
        self._parts: list[list[Part]] = [[]]
        self._drawn, self._repeated = list[Choice](), 0
        super().__init__(random=None)

    def recorded(self) -> Tree:
        """Return the tree: all spans are closed, except the outermost one, which Hypothesis leaves open."""
        while self._labels:
            self._close()
        return tuple(self._parts[0])

    def start_span(self, label: int) -> None:
        place = self._places[-1]
        inner = place.span(label) if isinstance(place, _Place) else _INNER_LEAST if place.least else _INNER
        self._places.append(inner)
        self._labels.append(label)
        self._parts.append([])
        self.depth += 1
        if self._mirrored is not None:
            self._mirrored.start_span(label)

    def stop_span(self, *, discard: bool = False) -> None:
        if not self._labels:
            return
        self.depth -= 1
        self._close()
        self._places.pop()
        if discard:
            self._parts[-1].pop()
        if self._mirrored is not None and not self._mirrored.frozen:
            self._mirrored.stop_span(discard=discard)

    def _close(self) -> None:
        span = Span(self._labels.pop(), tuple(self._parts.pop()))
        self._parts[-1].append(span)

    def _made(self, kind: str, constraints: dict[str, Any]) -> Any:
        place = self._places[-1]
        part = place.choice() if isinstance(place, _Place) else None
        if type(part) is Choice and part.kind == kind:
            if part.constraints != constraints:
                part = Choice(kind, part.value, constraints)
            if part.permits(part.value):
                self._parts[-1].append(part)
                return part.value if part.value == part.value else math.nan + 0.0  # each NaN is an object of its own
        choice = Choice(kind, None, constraints)
        follows = place.follows if isinstance(place, _Anew) else bool(place.parts)
        if follows is not None and not self._parts[-1] and is_structure(choice) and choice.permits(follows):
            value: Any = follows
        elif self._source is None:
            self.mark_invalid()
        else:
            is_number = kind in ("integer", "float")
            is_least = is_number and isinstance(place, _Anew) and place.least and self._source.chance(1 / 2)
            value = least(choice) if is_least else self._drawn_anew(choice, self._source)
        self._parts[-1].append(Choice(kind, value, constraints))
        return value

    def _drawn_anew(self, choice: Choice, source: Source) -> Any:
        if len(self._drawn) < DRAWN_MAX:
            self._drawn.append(Choice(choice.kind, source.again(choice), choice.constraints))
            return self._drawn[-1].value
        if choice.kind == "boolean":
            return not choice.permits(False)  # ends a list
        self._repeated += 1
        before = self._drawn[self._repeated % DRAWN_MAX]
        return before.value if before.kind == choice.kind and choice.permits(before.value) else source.again(choice)

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
        forced: int | None = None,
        observe: bool = True,
    ) -> int:
        bounds = {"min_value": min_value, "max_value": max_value, "weights": weights, "shrink_towards": shrink_towards}
        return int(self._made("integer", bounds)) if forced is None else forced

    def draw_float(
        self,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        *,
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float = math.ulp(0.0),
        forced: float | None = None,
        observe: bool = True,
    ) -> float:
        constraints = {
            "min_value": min_value,
            "max_value": max_value,
            "allow_nan": allow_nan,
            "smallest_nonzero_magnitude": smallest_nonzero_magnitude,
        }
        return float(self._made("float", constraints)) if forced is None else forced

    def draw_string(
        self,
        intervals: Any,
        *,
        min_size: int = 0,
        max_size: int = SIZE_MAX,
        forced: str | None = None,
        observe: bool = True,
    ) -> str:
        constraints = {"intervals": intervals, "min_size": min_size, "max_size": max_size}
        return str(self._made("string", constraints)) if forced is None else forced

    def draw_bytes(
        self, min_size: int = 0, max_size: int = SIZE_MAX, *, forced: bytes | None = None, observe: bool = True
    ) -> bytes:
        return bytes(self._made("bytes", {"min_size": min_size, "max_size": max_size})) if forced is None else forced

    def draw_boolean(self, p: float = 0.5, *, forced: bool | None = None, observe: bool = True) -> bool:
        return bool(self._made("boolean", {"p": p})) if forced is None else forced


def is_structure(part: Part) -> bool:
    """Return whether a choice is whether another entry follows: its chance depends on the sizes that are permitted."""
    return isinstance(part, Choice) and part.kind == "boolean" and part.constraints["p"] != 1 / 2


def least(choice: Choice) -> Any:
    """Return the number closest to 0 that a choice permits."""
    low, high = choice.constraints["min_value"], choice.constraints["max_value"]
    zero = type(choice.value)() if choice.value is not None else 0 if choice.kind == "integer" else 0.0
    return low if low is not None and low > 0 else high if high is not None and high < 0 else zero
