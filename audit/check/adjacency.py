"""Which two inputs are neighbours, as Hypothesis strategies of pairs (in, out).

>>> from hypothesis import strategies as st
>>> neighbours = pairs(st.lists(st.integers(0, 9), max_size=3), add_or_remove())
>>> from hypothesis import find
>>> sorted(find(neighbours, lambda pair: 7 in pair[0] + pair[1]))
[[], [7]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from subnormal.audit.check.crossing import WayOf, of_numbers, of_records, of_sizes
from subnormal.audit.check.distance import Draw, Norm, apart, moved
from subnormal.audit.check.domain import belongs, elements
from subnormal.audit.check.repetition import with_repetition
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

    Datasets are lists, tuples, one-dimensional arrays (or arrays of rows), or pandas frames.

    Args:
        element: a strategy of records. None: records of other datasets of the domain.

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        TypeError: element is no Hypothesis strategy.
    """
    _require_strategy(element)

    def pairs(data: SearchStrategy[Any]) -> SearchStrategy[Pair]:
        from hypothesis import assume

        datasets = with_repetition(data)

        def changed(draw: Draw) -> Pair:
            record = _record(draw, data, element)  # first, so that it stays when Hypothesis tries a smaller dataset
            dataset = draw(datasets)
            assume(_records(dataset) > 0)
            place = draw(_places(_records(dataset)))
            return dataset, _spliced(dataset, place, place + 1, [record])

        return _composite(changed, data)

    return Adjacency("change_one", pairs, of_records)


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

    def pairs(data: SearchStrategy[Any]) -> SearchStrategy[Pair]:
        from hypothesis import assume
        from hypothesis import strategies as st

        datasets = with_repetition(data)

        def changed(draw: Draw) -> Pair:
            removed = int(draw(st.booleans()))
            records = [] if removed else [_record(draw, data, element)]  # first, as in `change_one`
            dataset = draw(datasets)
            size = _records(dataset)
            assume(size >= removed)
            place = draw(_places(size + len(records)))
            return dataset, _spliced(dataset, place, place + removed, records)

        return _composite(changed, data)

    return Adjacency("add_or_remove", pairs, of_sizes)


def within(distance: float, norm: Norm = "linf") -> Adjacency:
    """Return the relation of numbers, of vectors of one length, or of dictionaries of numbers, at most so far apart.

    Distances are compared exactly. A key that a dictionary does not have counts as 0.

    Args:
        distance: positive; the sensitivity of a query, for instance.
        norm: of the difference of vectors: its largest entry ("linf"), the sum of its entries ("l1"), or the root
            of the sum of their squares ("l2").

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        ValueError: the distance is not positive and finite, or the norm is none of these.
    """
    require_positive("distance", distance)
    if norm not in ("l1", "l2", "linf"):
        raise ValueError(f"norm must be 'l1', 'l2' or 'linf', got {norm!r}")

    def pairs(data: SearchStrategy[Any]) -> SearchStrategy[Pair]:
        from hypothesis import assume

        vectors = with_repetition(data)

        def near(draw: Draw) -> Pair:
            one = draw(vectors)
            keys = draw(data) if isinstance(one, dict) else {}
            other = moved(draw, one, distance, norm, keys)
            assume(apart(one, other, norm) <= Fraction(distance) ** (2 if norm == "l2" else 1))
            return one, other

        return _composite(near, data)

    return Adjacency(f"within({given(distance)}, norm={norm!r})", pairs, of_numbers(distance))


def pairs(data: SearchStrategy[Any] | None, adjacent: Any) -> SearchStrategy[Pair]:
    """Return the strategy of neighbours (in, out) that a user has named.

    Args:
        data: a strategy of inputs; None where `adjacent` says everything.
        adjacent: what `change_one`, `add_or_remove` or `within` returned, a strategy of pairs, a sequence of pairs, or
            a predicate of two inputs.

    Raises:
        TypeError: it is none of these, or `data` is missing or no strategy.
        ValueError: an empty sequence of pairs.
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
    return st.sampled_from([tuple(pair) for pair in given])


def _of_predicate(data: SearchStrategy[Any], adjacent: Callable[[Any, Any], bool]) -> SearchStrategy[Pair]:
    """Return pairs that a predicate accepts: an input and a small change of it, or two inputs."""
    from hypothesis import strategies as st

    inputs = with_repetition(data)

    def changed(draw: Draw) -> Pair:
        one, other = draw(inputs), draw(inputs)
        size = _size(one)
        if size is not None and (step := draw(st.integers(0, 3))) and size + (step == 3):
            place = draw(_places(size + (step == 3)))
            record = [] if step == 2 else [_record(draw, data, None)]
            other = _spliced(one, place, place + (step != 3), record)
        return one, other

    return _composite(changed, data).filter(lambda pair: adjacent(*pair))


def _composite(changed: Callable[[Draw], Pair], data: SearchStrategy[Any]) -> SearchStrategy[Pair]:
    """Return the strategy of pairs that a function draws, in either order, both of them in the domain."""
    from hypothesis import assume
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: Draw) -> Pair:
        one, other = changed(draw)
        assume(belongs(data, other) is not False)
        return (one, other) if draw(st.booleans()) else (other, one)

    return drawn()


def _places(size: int) -> SearchStrategy[int]:
    """Return a strategy of places, the last one first: it stays where it is when Hypothesis drops other records."""
    from hypothesis import strategies as st

    return st.integers(0, size - 1).map(lambda back: size - 1 - back)


def _record(draw: Draw, data: SearchStrategy[Any], element: SearchStrategy[Any] | None) -> Any:
    """Return a record: of the strategy of records, of that of the domain's elements, or of another dataset."""
    element = elements(data) if element is None else element
    if element is not None:
        return draw(element)
    from hypothesis import assume

    dataset = draw(data)
    size = _records(dataset)
    assume(size > 0)
    place = draw(_places(size))
    return dataset.iloc[place] if hasattr(dataset, "iloc") else dataset[place]


def _records(dataset: Any) -> int:
    """Return the number of records. Raises TypeError where the input is no dataset of records."""
    size = _size(dataset)
    if size is None:
        raise TypeError(
            "change_one and add_or_remove need datasets of records, lists, tuples, arrays or frames, got "
            f"{quoted(repr(dataset))}: use within(...), pairs, or a predicate of two inputs"
        )
    return int(size)


def _size(dataset: Any) -> Any:
    """Return the number of records; None where the input has none."""
    if isinstance(dataset, list | tuple | np.ndarray) or hasattr(dataset, "iloc"):
        return len(dataset)
    return None


def _spliced(dataset: Any, start: int, stop: int, records: list[Any]) -> Any:
    """Return the dataset with other records from `start` to before `stop`, of the same type."""
    if hasattr(dataset, "iloc"):
        import pandas

        middle = [pandas.DataFrame([record]).astype(dataset.dtypes) for record in records]
        return pandas.concat([dataset.iloc[:start], *middle, dataset.iloc[stop:]], ignore_index=True)
    if isinstance(dataset, np.ndarray):
        middle = [np.asarray(record, dtype=dataset.dtype)[None] for record in records]
        return np.concatenate([dataset[:start], *middle, dataset[stop:]])
    return type(dataset)([*dataset[:start], *records, *dataset[stop:]])
