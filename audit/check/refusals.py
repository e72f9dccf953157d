"""Neighbours that a function treats in two ways, found by bisection: it refuses one, or adds more noise to the other.

A function may refuse all inputs beyond some size, because its weights underflow there. Runs of single pairs do not lead
to that place. A bisection does: on the way between two inputs whose outcomes are of different kinds, from neighbour to
neighbour, some two neighbours have outcomes of different kinds, too. The same holds for the noise, whose scales known
primitives tell. The way leads through the choices that draw the two inputs, so the strategy draws all inputs on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sized
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import accumulate, combinations
from typing import Any, TypeAlias

import numpy as np
from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.search import Pair, in_example, search
from subnormal.audit.check.state import Check
from subnormal.audit.clock import DRAW, Clock
from subnormal.audit.neighbours.choice_tree import Rows, choices_of, rows_in, with_choices
from subnormal.audit.neighbours.choices import Choice, Input, Path, Tree, follow
from subnormal.audit.neighbours.relations import Adjacency
from subnormal.audit.randomness.catalogue import Primitive
from subnormal.audit.randomness.primitives import intercepted
from subnormal.mechanisms.core.mechanism import Refused

RUNS = 8  # of each input, all of other kinds than those of the other, where a record is left out of both
KINDS = 16  # of outcomes, or of noise, at most: scales that follow the data are of no kind
INPUTS = 256  # inputs of which one run each is looked at, for outcomes of several kinds

Treatment: TypeAlias = tuple[Hashable, frozenset[tuple[str, Hashable]]]  # kind of an outcome, and scales of the noise
Seen: TypeAlias = dict[tuple[Hashable, int], Input]  # by one of both, and by the size of the input
Inputs: TypeAlias = tuple[Input, Input]
Way: TypeAlias = tuple[int, Callable[[int], Tree]]  # steps between two inputs, and the choices after so many steps


def find_two_kinds(check: Check, data: SearchStrategy[Any] | None, relation: Adjacency | None) -> list[Pair]:
    """Return neighbours whose outcomes are of different kinds, and neighbours whose noise has different scales; none
    where no such are found in the time for it.

    data, relation: None where the pairs are named, or drawn by a strategy of pairs.
    """
    found = list[Pair]()
    if data is not None and relation is not None:
        scales, is_inside = set[tuple[str, Hashable]](), False

        def noted(primitive: Primitive, original: Callable[..., Any], arguments: Any, options: Any) -> Any:
            nonlocal is_inside
            if is_inside:  # `random.gauss` itself calls `random.random`, every other time
                return original(*arguments, **options)
            is_inside = True
            try:
                drawn = original(*arguments, **options)
            finally:
                is_inside = False
            scales.add((str(primitive), scale_of(primitive, arguments, options)))  # of arguments that it takes
            return drawn

        def treated(value: Any) -> Treatment:
            scales.clear()
            return kind(check.function.outcome(value)), frozenset(scales)

        with suppress(OverTimeError), intercepted(check.function.function, noted):
            found = _find_in_domain(check, data, relation, treated)
    return found


def _find_in_domain(
    check: Check, data: SearchStrategy[Any], relation: Adjacency, treated: Callable[[Any], Treatment]
) -> list[Pair]:
    seconds, found = check.seconds / 16, list[Pair]()
    seen = _seen(check, data, relation, treated, seconds)

    def crossing(aspect: int) -> Pair | None:
        def kind_at(value: Any) -> Hashable:
            return treated(value)[aspect]

        by_kind = {(treatment[aspect], size): one for (treatment, size), one in seen.items()}
        with check.function.within(seconds):
            pair = _crossed(check, data, relation, kind_at, by_kind)
        if pair is None:
            return None
        one, other = _small(check, data, relation, kind_at, pair, check.clock.now() + seconds)
        return one.value, other.value

    for aspect in range(2):
        if 1 < len({treatment[aspect] for treatment, _ in seen}) <= KINDS:
            pair: Pair | None = in_example(check.seed, partial(crossing, aspect))
            found += [] if pair is None else [pair]
    return found


def _seen(
    check: Check, data: SearchStrategy[Any], relation: Adjacency, kind_at: Callable[[Any], Treatment], seconds: float
) -> dict[tuple[Treatment, int], Input]:
    """Return an input for each treatment, and for each size: where neighbours have one size, none leads to
    another.
    """
    seen, latest = dict[tuple[Treatment, int], Input](), list[Input]()

    def values(pair: Inputs) -> Pair:
        latest[:] = pair
        return pair[0].value, pair[1].value

    def looked(pair: Pair) -> float:
        size = len(pair[0]) if isinstance(pair[0], Sized) else 0
        seen.setdefault((kind_at(pair[0]), size), latest[0])
        return extent(pair[0])  # large inputs are those that overflow and underflow

    strategy = relation.inputs(data).map(values)
    search(strategy, looked, seed=check.seed, seconds=seconds, shrinking=0.0, examples=INPUTS, clock=check.clock)
    return seen


def _drawn(clock: Clock, data: SearchStrategy[Any], tree: Tree) -> Input | None:
    """Return what the strategy draws where a tree prescribes its choices; None: nothing."""
    clock.spend(DRAW)
    return follow(data, tree, None)


def _crossed(
    check: Check, data: SearchStrategy[Any], relation: Adjacency, kind_at: Callable[[Any], Hashable], seen: Seen
) -> Inputs | None:
    for ((kind_of_one, _), one), ((kind_of_other, _), other) in combinations(seen.items(), 2):
        way = None if kind_of_one == kind_of_other else way_between(one.tree, other.tree, relation.step)
        pair = None if way is None else crossed(way, partial(_drawn, check.clock, data), kind_at)
        if pair is not None and _differ_in_kind(relation, kind_at, pair):
            return pair
    return None


def _differ_in_kind(relation: Adjacency, kind_at: Callable[[Any], Hashable], pair: Inputs) -> bool:
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
        one, other = (_drawn(check.clock, data, tree) for tree in trees)
        return None if one is None or other is None or not relation.holds(one.value, other.value) else (one, other)

    def differs(shorter: Inputs) -> bool:
        with suppress(OverTimeError), check.function.within(until - check.clock.now()):
            one, other = ({kind_at(end.value) for _ in range(RUNS)} for end in shorter)
            return one.isdisjoint(other)
        return False

    for row in reversed(range(rows_of_both((pair[0].tree, pair[1].tree)))):
        shorter = drawn((without_row(pair[0].tree, row), without_row(pair[1].tree, row)))
        pair = shorter if shorter is not None and differs(shorter) else pair
    return pair


def kind(outcome: Hashable) -> Hashable:
    """Return in what way an outcome is no number: refused, infinite, not a number, or None; or that parts of it are so.

    >>> kind(1.5), kind((2, math.nan)), kind(Refused("ValueError: empty"))
    (None, frozenset({'nan'}), 'refused')
    """
    if isinstance(outcome, Refused):
        return "refused"
    if outcome is None or (isinstance(outcome, float) and not math.isfinite(outcome)):
        return str(outcome)
    if isinstance(outcome, tuple):
        return frozenset(map(kind, outcome)) - {None} or None
    return None


def scale_of(primitive: Primitive, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Hashable:
    """Return the scale of the noise that a call of a primitive draws; the numbers among its arguments where the
    primitive does not say which one is its scale."""
    if primitive.where is None:
        given = (*arguments, *options.values())
    else:
        given = tuple(np.unique(np.abs(primitive.where(*arguments, **options)[1])).tolist())
    return tuple(one for one in given if isinstance(one, int | float))


def extent(data: Any) -> float:
    """Return how large an input is: about the logarithm of a number, or the sum of its parts and their number.

    >>> extent(0), extent([7, -7]) == 2 * (1 + extent(7))
    (0.0, True)
    """
    if isinstance(data, int | float) and math.isfinite(data):
        return math.log2(1 + abs(data))
    return sum(1 + extent(part) for part in data) if isinstance(data, list | tuple) else 0.0


def crossed(
    way: Way, drawn: Callable[[Tree], Input | None], kind_at: Callable[[Any], Hashable]
) -> tuple[Input, Input] | None:
    """Return neighbours on the way whose outcomes are of different kinds, as those at its ends are.

    drawn: what the strategy draws where a tree prescribes its choices. None: on the way it draws nothing.
    """
    last, at = way
    ends = drawn(at(0)), drawn(at(last))
    first = 0
    if ends[0] is None or ends[1] is None:
        return None
    one, other, start = ends[0], ends[1], kind_at(ends[0].value)
    while last - first > 1:
        middle = (first + last) // 2
        between = drawn(at(middle))
        if between is None:
            return None
        if kind_at(between.value) == start:
            first, one = middle, between
        else:
            last, other = middle, between
    return one, other


def way_between(one: Tree, other: Tree, step: float | None) -> Way | None:
    """Return the way from the choices of one input to those of another; None where none is known.

    step: how far a number moves at most from neighbour to neighbour; None where neighbours have other sizes.
    """
    if step is None:
        return _by_rows(one, other)
    return _by_numbers(one, other, step)


def _by_rows(one: Tree, other: Tree) -> Way | None:
    """Return the way that removes all rows of one input from its end, and then adds those of the other."""
    first, second = _rows(one), _rows(other)
    if first is None or second is None:
        return None
    size, others = len(first.starts), len(second.starts)

    def at(step: int) -> Tree:
        if step <= size:
            return _shortened(one, first, size - step)
        return _shortened(other, second, step - size)

    return size + others, at


def _rows(tree: Tree) -> Rows | None:
    return next(iter(rows_in(tree)), None)


def _shortened(tree: Tree, rows: Rows, size: int) -> Tree:
    return rows.spliced(tree, size, len(rows.starts), (), size - len(rows.starts)) or ()


def _by_numbers(one: Tree, other: Tree, step: float) -> Way | None:
    """Return the way that changes one choice after the other: numbers in steps, or in nearly such for floats, so that
    both ends of a step are no further apart after rounding."""
    starts, ends = list(choices_of(one)), list(choices_of(other))
    if [(path, choice.kind) for path, choice in starts] != [(path, choice.kind) for path, choice in ends]:
        return None
    moves = [_Move(path, start, end.value, step) for (path, start), (_, end) in zip(starts, ends, strict=True)]
    if any(move.steps is None for move in moves):
        return None
    passed = [0, *accumulate(move.steps or 0 for move in moves)]

    def at(step: int) -> Tree:
        moved = zip(moves, passed[:-1], strict=True)
        return with_choices(
            one, {move.path: move.at(min(max(step - before, 0), move.steps or 0)) for move, before in moved}
        )

    return passed[-1], at


class _Move:
    """A choice that changes to another value. steps: how many that takes; None where it cannot."""

    def __init__(self, path: Path, start: Choice, end: Any, most: float) -> None:
        self.path, self._start, self._end, self._size = path, start, end, Fraction(0)
        if repr(start.value) == repr(end):
            self.steps: int | None = 0
        elif start.kind == "boolean" and most < 1:
            self.steps = None
        elif start.kind not in ("integer", "float") or math.isinf(most):
            self.steps = 1
        else:
            self.steps = self._counted(most)

    def _counted(self, most: float) -> int | None:
        start, end = self._start.value, self._end
        if not (math.isfinite(start) and math.isfinite(end)):
            return None
        is_whole = self._start.kind == "integer"
        rounding = 0.0 if is_whole else 2 * math.ulp(max(abs(start), abs(end)))
        self._size = Fraction(math.floor(most) if is_whole else most) - Fraction(rounding)
        return None if self._size <= 0 else math.ceil(abs(Fraction(end) - Fraction(start)) / self._size)

    def at(self, step: int) -> Choice:
        start, end = self._start.value, self._end
        if step == self.steps:
            value = end
        elif not step:
            value = start
        else:
            exact = Fraction(start) + step * (self._size if end > start else -self._size)
            value = int(exact) if self._start.kind == "integer" else float(exact)
        return Choice(self._start.kind, value, self._start.constraints)


def rows_of_both(pair: tuple[Tree, Tree]) -> int:
    """Return how many rows both inputs have."""
    return min(0 if (rows := _rows(tree)) is None else len(rows.starts) for tree in pair)


def without_row(tree: Tree, row: int) -> Tree:
    rows = _rows(tree)
    return () if rows is None else rows.spliced(tree, row, row + 1, (), -1) or ()
