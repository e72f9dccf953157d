"""Which two inputs are neighbours, as Hypothesis strategies of pairs (in, out).

>>> from hypothesis import strategies as st
>>> neighbours = pairs(st.lists(st.integers(0, 9), max_size=3), add_or_remove())
>>> from hypothesis import find
>>> sorted(find(neighbours, lambda pair: abs(sum(pair[0]) - sum(pair[1])) == 7))
[[], [7]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from subnormal.audit.check.changed_pairs import Change, draw_changed_pair
from subnormal.audit.check.crossing import WayOf, of_numbers, of_records, of_sizes
from subnormal.audit.check.datasets import (
    differ_by_one,
    differ_in_one,
    has_fields,
    is_frame,
    records_of,
    size_of,
    spliced,
)
from subnormal.audit.check.distance import Draw, Norm, apart, moved
from subnormal.audit.check.domain import belongs, elements
from subnormal.audit.check.repetition import with_repetition
from subnormal.audit.check.search import is_one_input
from subnormal.audit.text import given, quoted
from subnormal.mechanisms.privacy import require_positive

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Pair: TypeAlias = tuple[Any, Any]
PairsOf: TypeAlias = Callable[["SearchStrategy[Any]"], "SearchStrategy[Pair]"]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """A relation of neighbours: pairs(data) is a strategy of pairs, both of which lie in the domain `data`.

    way: from one input to another, from neighbour to neighbour.
    """

    name: str
    pairs: PairsOf
    way: WayOf

    def __repr__(self) -> str:
        return self.name


def change_one(element: SearchStrategy[Any] | None = None) -> Adjacency:
    """Return the relation of datasets of one size that differ in one record.

    Datasets are lists, tuples, one-dimensional arrays (or arrays of rows), or pandas frames. The label of a frame's row
    is a part of the record, except where an index without a name is 0, 1, 2, … as pandas numbers rows.

    Args:
        element: a strategy of records. None: records of other datasets of the domain.

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        TypeError: element is no Hypothesis strategy.
    """
    _require_strategy(element)

    def change(draw: Draw, data: SearchStrategy[Any]) -> Callable[[Any], Any]:
        from hypothesis import assume

        record, known = _record(draw, data, element)  # first, so that it stays when Hypothesis tries a smaller dataset

        def changed(dataset: Any) -> Any:
            assume(records_of(dataset) > 0)
            place = draw(_places(records_of(dataset)))
            return _in(data, spliced(dataset, place, place + 1, [record]), [*_entries(dataset), *known])

        return changed

    return Adjacency("change_one", lambda data: _changed_pairs(data, change, differ_in_one), of_records)


def add_or_remove(element: SearchStrategy[Any] | None = None) -> Adjacency:
    """Return the relation of datasets one of which has one record more. Sizes stay within those of the domain.

    Args:
        element: a strategy of records. None: records of other datasets of the domain.

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        TypeError: element is no Hypothesis strategy.
    """
    _require_strategy(element)

    def change(draw: Draw, data: SearchStrategy[Any]) -> Callable[[Any], Any]:
        from hypothesis import assume
        from hypothesis import strategies as st

        removed = int(draw(st.booleans()))
        record, known = (None, []) if removed else _record(draw, data, element)  # first, as in `change_one`

        def changed(dataset: Any) -> Any:
            size = records_of(dataset)
            assume(size >= removed)
            place = draw(_places(size + 1 - removed))
            other = spliced(dataset, place, place + removed, [] if removed else [record])
            return _in(data, other, [*_entries(dataset), *known])

        return changed

    return Adjacency("add_or_remove", lambda data: _changed_pairs(data, change, differ_by_one), of_sizes)


def within(distance: float, norm: Norm = "linf") -> Adjacency:
    """Return the relation of numbers, of vectors of one length, or of dictionaries of numbers, at most so far apart.

    Distances are compared exactly. A key that a dictionary does not have counts as 0, False as 0 and True as 1. An
    infinity or NaN is 0 apart from itself, and infinitely far from every other entry.

    Args:
        distance: positive; the sensitivity of a query, for instance.
        norm: of the difference of vectors, or of arrays of one shape: its largest entry ("linf"), the sum of its
            entries ("l1"), or the root of the sum of their squares ("l2").

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        ValueError: the distance is not positive and finite, or the norm is none of these.
    """
    require_positive("distance", distance)
    if norm not in ("l1", "l2", "linf"):
        raise ValueError(f"norm must be 'l1', 'l2' or 'linf', got {norm!r}")

    distance = distance.item() if isinstance(distance, np.generic) else distance
    most = Fraction(distance) ** (2 if norm == "l2" else 1)

    def change(draw: Draw, data: SearchStrategy[Any]) -> Callable[[Any], Any]:
        def near(one: Any) -> Any:
            keys = draw(data) if isinstance(one, dict) else {}
            return _in(data, moved(draw, one, distance, norm, keys))

        return near

    def is_near(one: Any, other: Any) -> bool:
        return np.shape(_plain(one)) == np.shape(_plain(other)) and apart(one, other, norm) <= most

    return Adjacency(
        f"within({given(distance)}, norm={norm!r})",
        lambda data: _changed_pairs(data, change, is_near),
        of_numbers(distance),
    )


def pairs(data: SearchStrategy[Any] | None, adjacent: Any) -> SearchStrategy[Pair]:
    """Return the strategy of neighbours (in, out) that a user has named.

    Args:
        data: a strategy of inputs; None where `adjacent` says everything.
        adjacent: what `change_one`, `add_or_remove` or `within` returned, a strategy of pairs, a sequence of pairs, or
            a predicate of two inputs.

    Raises:
        TypeError: it is none of these, or `data` is missing or no strategy.
        ValueError: an empty sequence of pairs, or one without two inputs that differ.
    """
    from hypothesis import strategies as st

    if data is not None and not isinstance(data, st.SearchStrategy):
        hint = ": call it" if callable(data) else ""
        raise TypeError(
            f"data must be a Hypothesis strategy, as st.lists(st.floats(0, 1)), got {quoted(repr(data))}{hint}"
        )
    if isinstance(adjacent, st.SearchStrategy):
        return cast("SearchStrategy[Pair]", with_repetition(adjacent))
    if isinstance(adjacent, Sequence) and not isinstance(adjacent, str):
        return _of_sequence(adjacent)
    if any(adjacent is one for one in (change_one, add_or_remove, within)):
        call = "within(1)" if adjacent is within else f"{adjacent.__name__}()"
        raise TypeError(f"adjacent must be what {adjacent.__name__} returns, not itself: call it, as {call}")
    if data is None:
        raise TypeError("data must be given: a Hypothesis strategy of the inputs, or pairs=[(x, y), ...] instead")
    if isinstance(adjacent, Adjacency):
        return adjacent.pairs(data)
    if callable(adjacent):
        return _of_predicate(data, adjacent)
    raise TypeError(
        "adjacent must be change_one(...), add_or_remove(...), within(...), a strategy of pairs, or a predicate of two "
        f"inputs, got {quoted(repr(adjacent))}"
    )


def _require_strategy(element: Any) -> None:
    from hypothesis.strategies import SearchStrategy

    if element is not None and not isinstance(element, SearchStrategy):
        raise TypeError(f"element must be a Hypothesis strategy of records, got {quoted(repr(element))}")


def _of_sequence(given: Sequence[Any]) -> SearchStrategy[Pair]:
    from hypothesis import strategies as st

    if not given:
        raise ValueError("pairs must not be empty")
    for place, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"pairs[{place}] must be two inputs (x, y), got {quoted(repr(pair))}")
    if all(map(is_one_input, given)):
        raise ValueError(f"pairs must hold two inputs that differ, got {quoted(repr(given[0]))}")
    return st.sampled_from([tuple(pair) for pair in given])


def _of_predicate(data: SearchStrategy[Any], adjacent: Callable[[Any, Any], bool]) -> SearchStrategy[Pair]:
    """Return pairs that a predicate accepts: an input and a small change of it, or two inputs."""
    from hypothesis import strategies as st

    def change(draw: Draw, data: SearchStrategy[Any]) -> Callable[[Any], Any]:
        step = draw(st.integers(0, 3))

        def changed(one: Any) -> Any:
            size = size_of(one)
            if size is None or has_fields(one) or step == 0 or size + (step == 3) == 0:
                return draw(with_repetition(data))
            place = draw(_places(size + (step == 3)))
            record, known = (None, []) if step == 2 else _record(draw, data, None)
            other = spliced(one, place, place + (step != 3), [] if step == 2 else [record])
            return _in(data, other, [*_entries(one), *known])

        return changed

    return _changed_pairs(data, change, adjacent)


def _changed_pairs(
    data: SearchStrategy[Any], change: Change, adjacent: Callable[[Any, Any], bool]
) -> SearchStrategy[Pair]:
    """Return the strategy of inputs of the domain of which one is a change of the other, in either order."""
    from hypothesis import assume
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: Draw) -> Pair:
        one, other = draw_changed_pair(draw, data, change)
        pair = (one, other) if draw(st.booleans()) else (other, one)
        assume(adjacent(*pair))
        return pair

    return drawn()


def _in(data: SearchStrategy[Any], other: Any, drawn: Sequence[Any] = ()) -> Any:
    """Return an input that is known to lie in the domain. drawn: elements that it has drawn, see `belongs`."""
    from hypothesis import assume

    assume(belongs(data, other, drawn) is True)
    return other


def _entries(dataset: Any) -> list[Any]:
    """Return what is known to be drawn where a dataset is, see `belongs`."""
    return list(dataset) if isinstance(dataset, list | tuple) else [dataset] if is_frame(dataset) else []


def _plain(data: Any) -> Any:
    """Return a shape for vectors alone: dictionaries may have other keys."""
    return 0.0 if isinstance(data, dict) else data


def _places(size: int) -> SearchStrategy[int]:
    """Return a strategy of places, the last one first: it stays where it is when Hypothesis drops other records."""
    from hypothesis import strategies as st

    return st.integers(0, size - 1).map(lambda back: size - 1 - back)


def _record(draw: Draw, data: SearchStrategy[Any], element: SearchStrategy[Any] | None) -> tuple[Any, list[Any]]:
    """Return a record, of the strategy of records, of that of the domain's elements, or of another dataset; and a list
    of it where the domain's elements have drawn it."""
    own = elements(data)
    if element is not None or own is not None:
        record = draw(own if element is None else element)
        return record, [record] if element is None else []
    from hypothesis import assume

    dataset = draw(data)
    size = records_of(dataset)
    assume(size > 0)
    place = draw(_places(size))
    record = dataset.iloc[[place]] if is_frame(dataset) else dataset[place]
    return record, [record]
