"""Small edits of the choices that drew an input: an entry more or less, one drawn anew, numbers that move, and ties.

An edit need not succeed. Which inputs are neighbours the relation says, and whether the edited choices draw an input of
the domain the strategy: an edit only has to lead to neighbours often.

Inputs with ties are lists of one or two distinct entries, short and long ones, or of entries that are alike in one
place, and floats close to one before them. Hypothesis draws numbers one by one: equal and close ones are rare, and long
lists do not occur. Real data hold all of these, and flaws show there: the largest of equal counts, a thousand records
at a bound or of one user, bounds that rounding moves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from subnormal.audit.neighbours.choice_tree import (
    Rows,
    choices_of,
    part_at,
    resized,
    rows_in,
    rows_of,
    says_whether_one_follows,
    sized_rows,
    with_choices,
    with_part,
)
from subnormal.audit.neighbours.choices import (
    Choice,
    Constants,
    Fresh,
    Input,
    Path,
    Source,
    Span,
    Tree,
    follow,
    is_structure,
)
from subnormal.audit.values.distance import Norm

OFTEN = 3  # one input in so many has ties, and one in so many a float that is close to the one before it
LONGEST = 1 << 12  # entries of a list with ties, where it may be as short
SIZES = sorted({0, *(2**power + by for power in range(LONGEST.bit_length()) for by in (-1, 0, 1))})
FLOAT = {"allow_nan": False, "smallest_nonzero_magnitude": math.ulp(0.0)}


def from_the_end(source: Source, size: int) -> int:
    """Return a place: the last one half of the time, the first a quarter. Counted from the end, it stays when others
    before it are dropped. The first decides in functions that number what they meet.
    """
    return max(0, size - 1 - (source.integer(0, 2 * (size - 1)) if source.chance(1 / 2) else 0))


def one_more_or_less(source: Source, tree: Tree, by: int = 0, least: bool = False) -> Tree | None:
    """Return choices with one row more or less, where rows are seen. by: 1 or −1; 0: either. least: see `Fresh`."""
    candidates = rows_of(tree)
    by = by or (-1 if source.chance(1 / 2) and any(rows.starts for rows in candidates) else 1)
    sized = sized_rows(tree, candidates)
    if sized and source.chance(3 / 4):
        chosen = 0 if source.chance(3 / 4) else source.integer(0, len(sized) - 1)
        return _spliced(source, tree, sized[chosen], by, least)
    numbers = [path for path, choice in choices_of(tree) if choice.kind == "integer"]
    first = (*candidates[0].path, *candidates[0].starts[:1]) if candidates else ()
    before = [path for path in numbers if path < first]  # a size stands before what it is the size of
    if numbers and source.chance(1 / 2 if before or not candidates else 1 / 32):
        sizes = before or numbers
        return resized(tree, sizes[source.integer(0, min(len(sizes), 8) - 1)], by)  # the strategy draws what is missing
    if not candidates:
        return None
    beside = [rows for rows in candidates[1:4] if len(rows.starts) == len(candidates[0].starts) > 1]
    if beside and source.chance(1 / 2):
        earlier, later = sorted((candidates[0], beside[0]), key=_first)
        return _spliced_beside(source, tree, later, earlier, by)
    chosen = 0 if source.chance(7 / 8) else source.integer(0, len(candidates) - 1)
    return _spliced(source, tree, candidates[chosen], by, least)


def _first(rows: Rows) -> Path:
    return (*rows.path, rows.starts[0])


def _spliced_beside(source: Source, tree: Tree, later: Rows, earlier: Rows, by: int) -> Tree | None:
    """Return choices with a row more or less at one place of both, such as the labels and the rows of a frame."""
    place = from_the_end(source, len(later.starts) + (by > 0))
    for rows in (later, earlier):  # the later ones first: so the path of the others stays
        made = rows.spliced(tree, place, place + (by < 0), (Fresh(),) * rows.period if by > 0 else (), by)
        if made is None:
            return None
        tree = made
    return tree


def _spliced(source: Source, tree: Tree, rows: Rows, by: int, least: bool) -> Tree | None:
    size = len(rows.starts)
    if rows.size is not None and source.chance(1 / 4):
        return resized(tree, rows.size, by)
    if by > 0:
        place = from_the_end(source, size + 1)
        return rows.spliced(tree, place, place, (Fresh(least),) * rows.period, by)
    if not size:
        return None
    place = from_the_end(source, size)
    return rows.spliced(tree, place, place + 1, (), by)


def rows_of_another(
    tree: Tree, kept: list[int], count: int, place: int = 0, other: Tree = (), taken: list[int] | None = None
) -> Tree | None:
    """Return choices with these rows alone, of `count`; before the row at a place, rows that are taken of another input
    of the same strategy. None where its rows are not seen."""
    rows = next(iter(rows_in(tree, count)), None)
    others = next(iter(rows_in(other)), None) if taken else None
    if rows is None or (taken and (others is None or others.period != rows.period or max(taken) >= len(others.starts))):
        return None
    added = sum((others.row(other, row) for row in taken or ()), ()) if others else ()
    before = sum((rows.row(tree, row) for row in kept if row < place), ())
    after = sum((rows.row(tree, row) for row in kept if row >= place), ())
    return rows.filled(tree, before + added + after, len(kept) + len(taken or ()))


def one_drawn_anew(source: Source, tree: Tree, whole: bool = False) -> Tree | None:
    """Return choices of which one is another, or one span is drawn anew. whole: or all of them."""
    paths = [path for path, choice in choices_of(tree) if not is_structure(choice)]
    if not paths:
        return None
    path = paths[len(paths) - 1 - source.integer(0, len(paths) - 1)]
    outer = 0 if whole else min(_common(paths[0], paths[-1]), len(path) - 1)
    return drawn_anew(source, tree, path[: len(path) - source.integer(0, len(path) - 1 - outer)])


def drawn_anew(source: Source, tree: Tree, path: Path) -> Tree:
    part = part_at(tree, path)
    return with_part(tree, path, _another(source, part) if isinstance(part, Choice) else Fresh())


def _common(one: Path, other: Path) -> int:
    """Return the length of the path of the innermost span that holds both."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one) - 1)


def _another(source: Source, choice: Choice) -> Choice | Fresh:
    value: Any = choice.value
    if choice.kind == "boolean":
        return Choice(choice.kind, not value, choice.constraints)
    if choice.kind not in ("string", "bytes") or source.chance(1 / 2):
        return Fresh()
    place, kept = source.integer(0, len(value)), source.integer(0, 1)
    letter = _letter(source, choice) if source.chance(2 / 3) else value[:0]
    return Choice(choice.kind, value[:place] + letter + value[place + kept :], choice.constraints)


def _letter(source: Source, choice: Choice) -> Any:
    if choice.kind == "bytes":
        return bytes([source.integer(0, 255) if source.chance(1 / 2) else (1 << source.integer(0, 8)) % 256])
    return source.again(Choice("string", None, {**choice.constraints, "min_size": 1, "max_size": 1}))


def numbers_moved(source: Source, tree: Tree, distance: float, norm: Norm) -> Tree | None:
    """Return choices of which one number moves, or several of one kind do, together at most so far."""
    numbers = [(path, choice) for path, choice in choices_of(tree) if is_number(choice)]
    if not numbers:
        return None
    path, chosen = numbers[len(numbers) - 1 - source.integer(0, len(numbers) - 1)]
    alike = [(place, choice) for place, choice in numbers if _are_alike(tree, (place, choice), (path, chosen))]
    if source.chance(1 / 2):
        alike = [one for one in alike if _bounds(one[1]) == _bounds(chosen)]
    places = [place for place, _ in alike]
    steps = _steps(source, len(alike), places.index(path), distance, norm, chosen.kind != "float")
    moving = zip(alike, steps, strict=True)
    return with_choices(tree, {place: toward(choice, step, distance) for (place, choice), step in moving if step})


def is_number(choice: Choice) -> bool:
    return choice.kind in ("integer", "float", "boolean") and not is_structure(choice)


def _are_alike(tree: Tree, one: tuple[Path, Choice], other: tuple[Path, Choice]) -> bool:
    """Return whether two choices are of one kind, and in spans of one label."""
    if one[1].kind != other[1].kind or len(one[0]) < 2 or len(other[0]) < 2:
        return one == other
    spans = [part_at(tree, path[:-1]) for path, _ in (one, other)]
    return all(isinstance(span, Span) for span in spans) and spans[0].label == spans[1].label  # type: ignore[union-attr]


def _bounds(choice: Choice) -> tuple[Any, Any]:
    return choice.constraints.get("min_value"), choice.constraints.get("max_value")


def _steps(source: Source, size: int, chosen: int, distance: float, norm: Norm, whole: bool) -> list[Any]:
    """Return how far each number moves: one of them, all alike, the last ones against the others, or each by its
    own.
    """
    share = distance * {"linf": 1.0, "l1": 1 / size, "l2": 1 / math.sqrt(size)}[norm]
    most: float = math.floor(share) if whole else share
    way = source.integer(0, 3) if size > 1 and most else 0
    if way == 0:
        step = _step(source, distance, whole)
        return [step if place == chosen else 0 for place in range(size)]
    if way == 1:
        return [_step(source, share, whole) for _ in range(size)]
    step = -most if source.chance(1 / 2) else most
    if way == 2:
        return [step] * size
    first = (size - 1, size // 2, source.integer(1, size))[source.integer(0, 2)]
    return [step if place < first else -step for place in range(size)]


def _step(source: Source, most: float, whole: bool) -> Any:
    most = math.floor(most) if whole else most
    if source.chance(1 / 2):
        return -most if source.chance(1 / 2) else most
    if whole:
        return source.integer(-int(most), int(most))
    return source.again(Choice("float", None, FLOAT | {"min_value": -float(most), "max_value": float(most)}))


def toward(choice: Choice, step: Any, most: float) -> Choice:
    """Return a number that is a step away, no further than `most` where the sum is rounded, and within its bounds."""
    value: Any = choice.value
    if choice.kind == "boolean":
        return Choice(choice.kind, value + step >= 1, choice.constraints)
    if isinstance(value, float) and not math.isfinite(value):
        return choice
    low, high = _bounds(choice)
    other = value + step
    other = low if low is not None and other < low else high if high is not None and other > high else other
    while (
        isinstance(other, float) and not math.isinf(other) and abs(Fraction(other) - Fraction(value)) > Fraction(most)
    ):
        other = math.nextafter(other, value)
    return Choice(choice.kind, other, choice.constraints)


def with_ties(data: SearchStrategy[Any], constants: Constants = ()) -> SearchStrategy[Any]:
    """Return a strategy of the same values, some of which have ties, or constants."""
    return st.builds(lambda: draw_input(data, Source(constants)).value)


def draw_input(data: SearchStrategy[Any], source: Source) -> Input:
    """Return an input, with ties now and then."""
    ties, close, alike = (source.chance(1 / OFTEN) for _ in range(3))
    drawn = follow(data, None, source)
    if drawn is None:
        reject()
    if alike and not ties:
        drawn = _follow(data, _with_equal_column(source, drawn.tree), source, drawn)
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


def _with_equal_column(source: Source, tree: Tree) -> Tree | None:
    """Return choices of which one is the same in all rows: all of them are one user's, or of one kind."""
    rows = _rows(tree)
    if rows is None:
        return None
    of_rows = [list(choices_of(rows.row(tree, row))) for row in range(len(rows.starts))]
    columns = [one for one in of_rows[source.integer(0, len(of_rows) - 1)] if not is_structure(one[1])]
    if not columns:
        return None
    place, choice = columns[source.integer(0, len(columns) - 1)]
    changed = {
        (*rows.path, start + place[0], *place[1:]): choice
        for start, of_row in zip(rows.starts, of_rows, strict=True)
        if any(path == place and one.constraints == choice.constraints for path, one in of_row)
    }
    return with_choices(tree, changed)


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
    sizes = [one for one in source.constants if isinstance(one, int) and 0 <= one <= LONGEST]
    size = sizes[source.integer(0, len(sizes) - 1)] if sizes and source.chance(1 / 2) else size
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
