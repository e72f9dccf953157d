"""Neighbours with a record of a strategy that the user gives: a dataset with that record is found in the domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis.strategies import SearchStrategy

from subnormal.audit.neighbours.choice_edits import from_the_end
from subnormal.audit.neighbours.choice_tree import Rows, choices_of, part_at, rows_in, spans_of, with_choices, with_part
from subnormal.audit.neighbours.choices import Choice, Fresh, Input, Path, Source, Span, Tree, follow
from subnormal.audit.neighbours.datasets import records_of, spliced, text_of

DRAWN_ANEW = 4  # times that a record is drawn anew, where no choices of the domain are known to make the given one


def with_record(
    element: SearchStrategy[Any], source: Source, data: SearchStrategy[Any], one: Input, *, is_added: bool
) -> Input | None:
    """Return a dataset of the domain with a record of a strategy, which is added or takes the place of another."""
    record, size = follow(element, None, source), records_of(one.value)
    if record is None or size + is_added == 0:
        return None
    place = from_the_end(source, size + is_added)
    wanted = text_of(spliced(one.value, place, place + (not is_added), [record.value]))
    for rows in rows_in(one.tree, size)[:2]:
        model = _with_room(source, data, one, rows, place) if is_added else one
        if model is None:
            continue
        for tree, may_draw in _trees(model.tree, rows, place, record):
            other = follow(data, tree, source if may_draw else None)
            if other is not None and text_of(other.value) == wanted:
                return other
    return None


def _with_room(source: Source, data: SearchStrategy[Any], one: Input, rows: Rows, place: int) -> Input | None:
    """Return a dataset with one record more, of any kind."""
    tree = rows.spliced(one.tree, place, place, (Fresh(),) * rows.period, 1)
    return None if tree is None else follow(data, tree, source)


def _trees(tree: Tree, rows: Rows, place: int, record: Input) -> Iterator[tuple[Tree, bool]]:
    """Yield choices of a dataset that may make a record at a place, and whether some of them are drawn anew.

    They are those that made the record, or its own numbers and texts; in place of a span of that row, from the outer
    ones to the inner ones.
    """
    start = rows.starts[place] if place < len(rows.starts) else rows.end
    row = [path for path in spans_of(tree) if path[:-1] == rows.path and start <= path[-1] < start + rows.period]
    inner = [path for path in spans_of(tree) for above in row if path[: len(above)] == above]
    made_by, values = _root(record.tree), list(_atoms(record.value))
    for path in inner:
        span = part_at(tree, path)
        assert isinstance(span, Span)
        yield with_part(tree, path, Span(span.label, made_by)), False
        choices = list(choices_of(span.parts, path))
        if len(choices) == len(values):
            yield with_choices(tree, _valued(choices, values)), False
    for _ in range(DRAWN_ANEW):
        for path in inner[-1:]:
            yield with_part(tree, path, Fresh()), True


def _root(tree: Tree) -> Tree:
    """Return the choices of a whole strategy: what its outermost span holds."""
    parts = tree
    for _ in range(2):
        parts = parts[0].parts if len(parts) == 1 and isinstance(parts[0], Span) else parts
    return parts


def _atoms(record: Any) -> Iterator[Any]:
    if isinstance(record, list | tuple):
        for part in record:
            yield from _atoms(part)
    else:
        yield record


def _valued(choices: list[tuple[Path, Choice]], values: list[Any]) -> dict[Path, Choice]:
    return {
        path: Choice(choice.kind, value, choice.constraints) if type(value) is type(choice.value) else choice
        for (path, choice), value in zip(choices, values, strict=True)
    }
