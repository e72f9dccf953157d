"""Which two inputs are neighbours, as Hypothesis strategies of pairs (in, out).

One of them is what the domain's strategy draws, the other what it draws where a few of its choices are edited. So both
lie in the domain, whatever the strategy is made of; a pair that is no pair of neighbours is not kept.

>>> from hypothesis import strategies as st
>>> neighbours = pairs(st.lists(st.integers(0, 9), max_size=3), add_or_remove())
>>> from hypothesis import find
>>> sorted(find(neighbours, lambda pair: abs(sum(pair[0]) - sum(pair[1])) == 7))
[[], [7]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from subnormal.audit.neighbours.choice_edits import (
    draw_input,
    from_the_end,
    numbers_moved,
    one_drawn_anew,
    one_more_or_less,
    rows_of_another,
    with_ties,
)
from subnormal.audit.neighbours.choices import Constants, Input, Source, Tree, follow
from subnormal.audit.neighbours.datasets import (
    By,
    differ_by_one,
    differ_by_user,
    differ_in_one,
    differ_in_user,
    is_one_input,
    records_of,
    unshared,
    users_of,
)
from subnormal.audit.neighbours.given_records import with_record
from subnormal.audit.text import given, quoted
from subnormal.audit.values.distance import Norm, are_within
from subnormal.mechanisms.privacy import require_positive

TRIES = 8  # changes of one input, at most

Pair: TypeAlias = tuple[Any, Any]
Domain: TypeAlias = "SearchStrategy[Any]"
Change: TypeAlias = Callable[[Source, Domain, Input], Input | None]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """A relation of neighbours. holds: whether two inputs are; change: makes an input of another, often a neighbour.

    step: how far a number moves at most from neighbour to neighbour; None where neighbours have other sizes. constants:
    numbers and texts of the function, which some inputs have.
    """

    name: str
    holds: Callable[[Any, Any], bool]
    change: Change
    step: float | None = None
    constants: Constants = ()

    def __repr__(self) -> str:
        return self.name

    def pairs(self, data: Domain) -> SearchStrategy[Pair]:
        """Return a strategy of neighbours, both of which `data` draws. They share nothing that can be changed."""
        return self.inputs(data).map(lambda pair: (pair[0].value, pair[1].value))

    def inputs(self, data: Domain) -> SearchStrategy[tuple[Input, Input]]:
        """Return a strategy of neighbours, each with the choices that make it again."""

        def draw() -> tuple[Input, Input]:
            source = Source(self.constants)
            is_turned, first = source.chance(1 / 2), draw_input(data, source)
            one = replace(first, value=unshared(first.value))
            for _ in range(TRIES):
                other = self.change(source, data, one)
                pair = None if other is None else (other, one) if is_turned else (one, other)
                if pair is not None and self.holds(pair[0].value, pair[1].value):
                    return pair
            return reject()

        return st.builds(draw)


def change_one(element: Domain | None = None, *, by: By | None = None, at_most: int | None = None) -> Adjacency:
    """Return the relation of datasets of one size that differ in one record.

    Datasets are lists, tuples, one-dimensional arrays (or arrays of rows), or pandas frames. The label of a frame's row
    is a part of the record, except where an index without a name is 0, 1, 2, … as pandas numbers rows.

    Args:
        element: a strategy of records. None: records of other datasets of the domain.
        by: the part of a record that says whose it is: a column, a key, a field, a place, or a function of the record.
            Datasets differ in all records of one user then, those of another one or other ones in their place.
        at_most: records of a user, so that neighbours differ in no more.

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        TypeError: element is no Hypothesis strategy, or goes with `by`; at_most goes without.
        ValueError: at_most is less than 1; while pairs are drawn, a record has no such part.
    """
    if by is not None or at_most is not None:
        return _of_users("change_one", element, by, at_most)
    _require_strategy(element)

    def change(source: Source, data: Domain, one: Input) -> Input | None:
        if records_of(one.value) == 0:
            return reject()
        if element is not None:
            return with_record(element, source, data, one, is_added=False)
        is_sparse = not isinstance(one.value, list | tuple) and source.chance(
            1 / 4
        )  # one more of the entries that are set
        return _followed(source, data, (one_more_or_less if is_sparse else one_drawn_anew)(source, one.tree))

    return Adjacency("change_one", differ_in_one, change, np.inf)


def add_or_remove(element: Domain | None = None, *, by: By | None = None, at_most: int | None = None) -> Adjacency:
    """Return the relation of datasets one of which has one record more. Sizes stay within those of the domain.

    Args:
        element: a strategy of records. None: records of other datasets of the domain.
        by: the part of a record that says whose it is: a column, a key, a field, a place, or a function of the record.
            One dataset has all records of one more user then.
        at_most: records of a user, so that neighbours differ in no more.

    Returns:
        The relation, for `check(adjacent=...)`.

    Raises:
        TypeError: element is no Hypothesis strategy, or goes with `by`; at_most goes without.
        ValueError: at_most is less than 1; while pairs are drawn, a record has no such part.
    """
    if by is not None or at_most is not None:
        return _of_users("add_or_remove", element, by, at_most)
    _require_strategy(element)

    def change(source: Source, data: Domain, one: Input) -> Input | None:
        records_of(one.value)
        if element is not None and source.chance(1 / 2):
            return with_record(element, source, data, one, is_added=True)
        return _followed(source, data, one_more_or_less(source, one.tree, by=-1 if element is not None else 0))

    return Adjacency("add_or_remove", differ_by_one, change)


def _of_users(name: str, element: Domain | None, by: By | None, at_most: int | None) -> Adjacency:
    """Return the relation of datasets that differ in the records of one user."""
    if by is None or element is not None:
        raise TypeError(f"{name}: at_most goes with by, and by without element")
    if at_most is not None and at_most < 1:
        raise ValueError(f"at_most must be at least 1, got {at_most}")
    differ = differ_by_user if name == "add_or_remove" else differ_in_user
    most = np.inf if at_most is None else at_most

    def change(source: Source, data: Domain, one: Input) -> Input | None:
        users = users_of(one.value, by)
        if not users:
            return reject()
        user = users[from_the_end(source, len(users))]
        kept = [place for place, whose in enumerate(users) if whose != user]
        if name == "add_or_remove":
            return _followed(source, data, rows_of_another(one.tree, kept, len(users)))
        other = draw_input(data, source)
        others = users_of(other.value, by)
        taken = [place for place, whose in enumerate(others) if whose == others[0]]
        tree = rows_of_another(one.tree, kept, len(users), users.index(user), other.tree, taken)
        return _followed(source, data, tree)

    limit = "" if at_most is None else f", at_most={at_most}"
    return Adjacency(f"{name}(by={by!r}{limit})", lambda one, other: differ(one, other, by, most), change)


def within(distance: float, norm: Norm = "linf") -> Adjacency:
    """Return the relation of numbers, of vectors of one length, or of dictionaries of numbers, at most so far apart.

    Distances are compared exactly. A key that a dictionary does not have counts as 0, False as 0 and True as 1. An
    infinity or NaN is 0 apart from itself, and infinitely far from every other entry.

    Args:
        distance: positive and finite.
        norm: of the difference of two vectors: the largest entry ("linf"), the sum of its
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

    def change(source: Source, data: Domain, one: Input) -> Input | None:
        if isinstance(one.value, dict) and source.chance(1 / 2):
            tree = one_more_or_less(source, one.tree, least=True)
        else:
            tree = numbers_moved(source, one.tree, distance, norm) or reject()
        return _followed(source, data, tree)

    def holds(one: Any, other: Any) -> bool:
        return are_within(one, other, distance, norm) and not is_one_input((one, other))

    return Adjacency(f"within({given(distance)}, norm={norm!r})", holds, change, distance)


def _followed(source: Source, data: Domain, tree: Tree | None) -> Input | None:
    return None if tree is None else follow(data, tree, source)


def require_strategy(data: Any) -> None:
    """Raise TypeError where the data are no strategy."""
    if not isinstance(data, st.SearchStrategy):
        hint = ": call it" if callable(data) else ""
        raise TypeError(
            f"data must be a Hypothesis strategy, such as st.lists(st.floats(0, 1)), got {quoted(repr(data))}{hint}"
        )


def pairs(data: SearchStrategy[Any] | None, adjacent: Any, constants: Constants = ()) -> SearchStrategy[Pair]:
    """Return the strategy of neighbours (in, out) that a user has named.

    Args:
        data: a strategy of inputs; None where `adjacent` says everything.
        adjacent: what `change_one`, `add_or_remove` or `within` returned, a strategy of pairs, a sequence of pairs, or
            a predicate of two inputs.
        constants: numbers and texts of the function, which some inputs have.

    Raises:
        TypeError: it is none of these, or `data` is missing or no strategy.
        ValueError: an empty sequence of pairs, or one without two inputs that differ.
    """
    if data is not None:
        require_strategy(data)
    if isinstance(adjacent, st.SearchStrategy):
        return cast("SearchStrategy[Pair]", with_ties(adjacent, constants))
    if isinstance(adjacent, Sequence) and not isinstance(adjacent, str):
        return _of_sequence(adjacent)
    if any(adjacent is one for one in (change_one, add_or_remove, within)):
        call = "within(1)" if adjacent is within else f"{adjacent.__name__}()"
        raise TypeError(f"adjacent must be what {adjacent.__name__} returns, not itself: call it, as {call}")
    if data is None:
        raise TypeError("data must be given: a Hypothesis strategy of the inputs, or pairs=[(x, y), ...] instead")
    if isinstance(adjacent, Adjacency):
        return replace(adjacent, constants=constants).pairs(data)
    if callable(adjacent):
        return replace(_of_predicate(adjacent), constants=constants).pairs(data)
    raise TypeError(
        "adjacent must be change_one(...), add_or_remove(...), within(...), a strategy of pairs, or a predicate of two "
        f"inputs, got {quoted(repr(adjacent))}"
    )


def _require_strategy(element: Any) -> None:
    if element is not None and not isinstance(element, SearchStrategy):
        raise TypeError(f"element must be a Hypothesis strategy of records, got {quoted(repr(element))}")


def _of_sequence(given: Sequence[Any]) -> SearchStrategy[Pair]:
    if not given:
        raise ValueError("pairs must not be empty")
    for place, pair in enumerate(given):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"pairs[{place}] must be two inputs (x, y), got {quoted(repr(pair))}")
    if all(map(is_one_input, given)):
        raise ValueError(f"pairs must hold two inputs that differ, got {quoted(repr(given[0]))}")
    return st.sampled_from([tuple(pair) for pair in given])


def _of_predicate(adjacent: Callable[[Any, Any], bool]) -> Adjacency:
    """Return the relation that a predicate tells: of an input and a small change of it, or of two inputs."""

    def change(source: Source, data: Domain, one: Input) -> Input | None:
        match source.integer(0, 3):
            case 0:
                return draw_input(data, source)
            case 1:
                return _followed(source, data, one_drawn_anew(source, one.tree))
            case 2:
                return _followed(source, data, one_more_or_less(source, one.tree))
        return _followed(source, data, numbers_moved(source, one.tree, 1, "linf"))

    def holds(one: Any, other: Any) -> bool:
        return not is_one_input((one, other)) and bool(adjacent(one, other))

    return Adjacency("predicate", holds, change)
