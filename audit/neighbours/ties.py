"""Inputs with ties: lists of one or two distinct entries, short and long ones, and floats close to one before them.

Hypothesis draws numbers one by one: equal and close ones are rare, and long lists do not occur. Real data hold all of
these, and flaws show there: the largest of equal counts, a thousand records at a bound, bounds that rounding moves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from subnormal.audit.neighbours.choices import (
    Choice,
    Input,
    Source,
    Tree,
    choices_of,
    follow,
    with_part,
)
from subnormal.audit.neighbours.rows import Rows, rows_of, says_whether_one_follows, sized_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

OFTEN = 3  # one input in so many has ties, and one in so many a float that is close to the one before it
LONGEST = 1 << 12  # entries of a list with ties, where it may be as short
SIZES = sorted({0, *(2**power + by for power in range(LONGEST.bit_length()) for by in (-1, 0, 1))})


def with_ties(data: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Return a strategy of the same values, some of which have ties."""
    from hypothesis import strategies as st

    return st.builds(lambda: draw_input(data, Source()).value)


def draw_input(data: SearchStrategy[Any], source: Source) -> Input:
    """Return an input, with ties now and then."""
    from hypothesis import reject

    ties, close = source.chance(1 / OFTEN), source.chance(1 / OFTEN)
    drawn = follow(data, None, source)
    if drawn is None:
        reject()
    if close:
        drawn = _follow(data, _with_close_floats(source, drawn.tree), source, drawn)
    return _tied(data, drawn, source) if ties else drawn


def _follow(data: SearchStrategy[Any], tree: Tree | None, source: Source, otherwise: Input) -> Input:
    return (None if tree is None else follow(data, tree, source)) or otherwise


def _with_close_floats(source: Source, tree: Tree) -> Tree | None:
    """Return choices of which one float is close to the one before it: up to as far away as that is large, in steps of
    the last bit."""
    floats = [(path, choice) for path, choice in choices_of(tree) if choice.kind == "float"]
    if len(floats) < 2:
        return None
    place = source.integer(1, len(floats) - 1)
    before, (path, choice) = floats[place - 1][1].value, floats[place]
    if not math.isfinite(before):
        return None
    step = math.ldexp(math.ulp(before), source.integer(0, 4 if source.chance(1 / 2) else 52))
    near = before + (step if source.chance(1 / 2) else -step)
    return with_part(tree, path, Choice(choice.kind, near, choice.constraints)) if choice.permits(near) else None


def _tied(data: SearchStrategy[Any], drawn: Input, source: Source) -> Input:
    """Return an input whose rows are of one or two values, each row made anew.

    How long a list may be, the strategy says: it takes as many rows as it can of those that it is given.
    """
    rows = _rows(drawn.tree)
    if rows is None:
        return drawn
    first = source.integer(0, len(rows.starts) - 1)
    second = min(first + 1, len(rows.starts) - 1)
    size = SIZES[min(source.integer(0, len(SIZES) - 1) for _ in range(3))]  # most lists are short: long ones take time
    others = source.integer(0, 2)  # none, one, or half of them
    one, other = rows.row(drawn.tree, first), rows.row(drawn.tree, second)
    equal = _follow(data, rows.filled(drawn.tree, one * size, size), source, drawn)
    taken = _rows(equal.tree)
    if taken is None or taken.path != rows.path:
        return equal
    count = len(taken.starts)
    last = (0, min(1, count), count // 2)[others]
    return _follow(data, taken.filled(equal.tree, one * (count - last) + other * last, count), source, equal)


def _rows(tree: Tree) -> Rows | None:
    """Return the rows of an input: those whose number is a choice, or of which each says whether there is another."""
    candidates = [rows for rows in rows_of(tree) if rows.starts]
    listed = [rows for rows in candidates if says_whether_one_follows(tree, rows)]
    several = [rows for rows in candidates if len(rows.starts) > 1]
    return next(iter([*sized_rows(tree, candidates[:1]), *listed, *several]), None)
