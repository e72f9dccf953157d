"""The place where a function changes its ways: neighbours of which one is refused and the other is not, for instance.

A function may refuse all inputs beyond some size, because its weights underflow there. Runs of single pairs do not lead
to that place. A bisection does: on the way between two inputs whose outcomes are of different kinds, from neighbour to
neighbour, some two neighbours have outcomes of different kinds, too. The way leads through the choices that draw the
two inputs, so the strategy draws all inputs on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

from subnormal.audit.neighbours.choices import Choice, Input, Path, Tree, choices_of, with_choices
from subnormal.audit.neighbours.rows import Rows, rows_of, sized_rows
from subnormal.mechanisms.core.mechanism import Refused

Way: TypeAlias = tuple[
    int, Callable[[int], Tree]
]  # steps from one input to another, and the choices after so many steps


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
    candidates = rows_of(tree)
    return next(iter([*sized_rows(tree, candidates), *candidates]), None)


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
