"""Neighbours whose outcomes are of different kinds, found by bisection: one of them is refused, for instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sized
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.search import Pair, in_example, search
from subnormal.audit.check.stages.state import Check
from subnormal.audit.neighbours.choices import Input, Tree, follow
from subnormal.audit.neighbours.refusal_bisection import crossed, extent, kind, rows_of_both, way_between, without_row
from subnormal.audit.neighbours.relations import Adjacency

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

RUNS = 8  # of each input, all of other kinds than those of the other, where a record is left out of both
INPUTS = 256  # inputs of which one run each is looked at, for outcomes of several kinds

Seen: TypeAlias = dict[tuple[Hashable, int], Input]  # by the kind of the outcome, and by the size of the input
Inputs: TypeAlias = tuple[Input, Input]


def of_two_kinds(check: Check, data: SearchStrategy[Any], relation: Adjacency) -> Pair | None:
    """Return neighbours whose outcomes are of different kinds; None where no such are found."""

    def kind_at(value: Any) -> Hashable:
        return kind(check.function.outcome(value))

    seconds = check.seconds / 16
    seen = _seen(check, data, relation, kind_at, seconds)
    if len({of_outcome for of_outcome, _ in seen}) < 2:
        return None

    def found() -> Pair | None:
        with check.function.within(seconds):
            pair = _crossed(data, relation, kind_at, seen)
        if pair is None:
            return None
        one, other = _small(check, data, relation, kind_at, pair, time.monotonic() + seconds)
        return one.value, other.value

    pair: Pair | None = in_example(check.seed, found)
    return pair


def _seen(
    check: Check, data: SearchStrategy[Any], relation: Adjacency, kind_at: Callable[[Any], Hashable], seconds: float
) -> Seen:
    """Return an input for each kind of outcome, and for each size: where neighbours have one size, none leads to
    another.
    """
    seen, latest = Seen(), list[Input]()

    def values(pair: Inputs) -> Pair:
        latest[:] = pair
        return pair[0].value, pair[1].value

    def looked(pair: Pair) -> float:
        size = len(pair[0]) if isinstance(pair[0], Sized) else 0
        seen.setdefault((kind_at(pair[0]), size), latest[0])
        return extent(pair[0])  # large inputs are those that overflow and underflow

    strategy = relation.inputs(data).map(values)
    search(strategy, looked, seed=check.seed, seconds=seconds, shrinking=0.0, examples=INPUTS)
    return seen


def _crossed(
    data: SearchStrategy[Any], relation: Adjacency, kind_at: Callable[[Any], Hashable], seen: Seen
) -> Inputs | None:
    for ((kind_of_one, _), one), ((kind_of_other, _), other) in combinations(seen.items(), 2):
        way = None if kind_of_one == kind_of_other else way_between(one.tree, other.tree, relation.step)
        pair = None if way is None else crossed(way, lambda tree: follow(data, tree, None), kind_at)
        if pair is not None and _are_of_two_kinds(relation, kind_at, pair):
            return pair
    return None


def _are_of_two_kinds(relation: Adjacency, kind_at: Callable[[Any], Hashable], pair: Inputs) -> bool:
    one, other = (end.value for end in pair)
    return relation.holds(one, other) and kind_at(one) != kind_at(other)


def _small(
    check: Check,
    data: SearchStrategy[Any],
    relation: Adjacency,
    kind_at: Callable[[Any], Hashable],
    pair: Inputs,
    until: float,
) -> Inputs:
    """Return the neighbours without the records that their outcomes' kinds do not need, as far as the time allows."""

    def drawn(trees: tuple[Tree, Tree]) -> Inputs | None:
        one, other = (follow(data, tree, None) for tree in trees)
        return None if one is None or other is None or not relation.holds(one.value, other.value) else (one, other)

    def differs(shorter: Inputs) -> bool:
        with suppress(OverTimeError), check.function.within(until - time.monotonic()):
            one, other = ({kind_at(end.value) for _ in range(RUNS)} for end in shorter)
            return one.isdisjoint(other)
        return False

    for row in reversed(range(rows_of_both((pair[0].tree, pair[1].tree)))):
        shorter = drawn((without_row(pair[0].tree, row), without_row(pair[1].tree, row)))
        pair = shorter if shorter is not None and differs(shorter) else pair
    return pair
