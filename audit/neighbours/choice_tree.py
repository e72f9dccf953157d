"""The tree of choices that drew an input: its parts, and its rows, spans of one label beside each other.

The choices of a list are a span for each entry and one that ends it. Those of a function that draws a size and then so
many records are the size and a span for each record, or several spans for each in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from subnormal.audit.neighbours.choices import Choice, Part, Path, Span, Tree, is_structure

LOOKED_AT = 64  # spans in which entries are looked for, and choices that may be the number of entries


def part_at(tree: Tree, path: Path) -> Part:
    part = tree[path[0]]
    for place in path[1:]:
        assert isinstance(part, Span)
        part = part.parts[place]
    return part


def parts_of(tree: Tree, path: Path) -> Tree:
    """Return what the span at a path holds; all of the tree for the empty path."""
    span = part_at(tree, path) if path else Span(0, tree)
    return span.parts if isinstance(span, Span) else ()


def with_parts(tree: Tree, path: Path, parts: Tree) -> Tree:
    """Return a tree where the span at a path holds these parts.

    >>> with_parts((Span(1, (Span(3, ()),)), Span(2, ())), (0,), ())
    (Span(label=1, parts=()), Span(label=2, parts=()))
    """
    if not path:
        return parts
    place, span = path[0], tree[path[0]]
    assert isinstance(span, Span)
    return (*tree[:place], Span(span.label, with_parts(span.parts, path[1:], parts)), *tree[place + 1 :])


def with_part(tree: Tree, path: Path, part: Part) -> Tree:
    """Return a tree with another part at a path."""
    *above, place = path
    parts = parts_of(tree, tuple(above))
    return with_parts(tree, tuple(above), (*parts[:place], part, *parts[place + 1 :]))


def with_choices(tree: Tree, choices: Mapping[Path, Choice], above: Path = ()) -> Tree:
    """Return a tree with other choices at these paths."""
    return tuple(
        Span(part.label, with_choices(part.parts, choices, (*above, place)))
        if isinstance(part, Span)
        else choices.get((*above, place), part)
        for place, part in enumerate(tree)
    )


def choices_of(tree: Tree, above: Path = ()) -> Iterator[tuple[Path, Choice]]:
    """Yield all choices of a tree in their order, each after its path."""
    for place, part in enumerate(tree):
        if isinstance(part, Choice):
            yield (*above, place), part
        elif isinstance(part, Span):
            yield from choices_of(part.parts, (*above, place))


def spans_of(tree: Tree, above: Path = ()) -> Iterator[Path]:
    """Yield the paths of all spans of a tree in their order, each before those inside."""
    for place, part in enumerate(tree):
        if isinstance(part, Span):
            yield (*above, place)
            yield from spans_of(part.parts, (*above, place))


@dataclass(frozen=True, slots=True)
class Rows:
    """Entries in the span at a path. starts: the place of each entry there; period: parts of an entry; end: the place
    after the last entry; size: the path of the choice that is their number, or None where each says whether one
    follows."""

    path: Path
    starts: tuple[int, ...]
    period: int
    end: int
    size: Path | None = None

    def row(self, tree: Tree, number: int) -> Tree:
        start = self.starts[number]
        return parts_of(tree, self.path)[start : min(start + self.period, self.end)]

    def spliced(self, tree: Tree, first: int, last: int, parts: Tree, by: int) -> Tree | None:
        """Return a tree with other parts in the place of the rows from `first` to before `last`: `by` more rows than
        there are. None where the strategy does not permit so many."""
        inside = parts_of(tree, self.path)
        begin, end = (self.starts[row] if row < len(self.starts) else self.end for row in (first, last))
        made = with_parts(tree, self.path, (*inside[:begin], *parts, *inside[end:]))
        return made if self.size is None else resized(made, self.size, by)

    def filled(self, tree: Tree, parts: Tree, count: int) -> Tree | None:
        """Return a tree with `count` other rows, or with as many as the strategy permits where their number is a
        choice.
        """
        by = count - len(self.starts)
        if self.size is not None:
            size = part_at(tree, self.size)
            assert isinstance(size, Choice)
            each = len(self.starts) // size.value
            most = size.constraints["max_value"]
            by = by if most is None else min(by, most * each - len(self.starts))
            by //= each
        return self.spliced(tree, 0, len(self.starts), parts, by)


def resized(tree: Tree, path: Path, by: int) -> Tree | None:
    """Return a tree where an integer at a path is larger; None where the strategy does not permit it."""
    *above, place = path
    size = parts_of(tree, tuple(above))[place]
    if not isinstance(size, Choice) or not size.permits(size.value + by):
        return None
    return with_part(tree, path, Choice(size.kind, size.value + by, size.constraints))


def rows_of(tree: Tree) -> list[Rows]:
    """Return what may be the entries of what a strategy draws, the most likely first: several, in an outer span."""
    several, single = list[Rows](), list[Rows]()
    for path in islice(spans_of(tree), LOOKED_AT):
        if len(path) < 2:
            continue
        parts, places = parts_of(tree, path), dict[int, list[int]]()
        for place, part in enumerate(parts):
            if isinstance(part, Span):
                places.setdefault(part.label, []).append(place)
        for starts in places.values():
            period = starts[1] - starts[0] if len(starts) > 1 else 1
            ends = _is_end(parts[starts[-1]])  # the last one only ends them
            rows = Rows(path, tuple(starts[:-1] if ends else starts), period, starts[-1] + (0 if ends else period))
            (several if len(starts) > 1 else single).append(rows)
    several.sort(key=lambda rows: len(rows.path))
    return several + single[::-1]


def says_whether_one_follows(tree: Tree, rows: Rows) -> bool:
    """Return whether a choice of each row is whether it exists, so that their number is no choice."""
    parts = parts_of(tree, rows.path)
    return any(isinstance(part, Span) and part.parts and is_structure(part.parts[0]) for part in parts)


def _is_end(part: object) -> bool:
    """Return whether a span says that no entry follows: it holds nothing, or the choice not to go on."""
    if not isinstance(part, Span):
        return False
    return part.parts == () or (
        len(part.parts) == 1 and isinstance(part.parts[0], Choice) and part.parts[0].value is False
    )


def rows_in(tree: Tree, count: int | None = None) -> list[Rows]:
    """Return what may be the entries of what a strategy draws, those first whose number is a choice; count: only those
    of which there are so many."""
    candidates = rows_of(tree)
    return [rows for rows in [*sized_rows(tree, candidates), *candidates] if count in (None, len(rows.starts))]


def sized_rows(tree: Tree, all_rows: list[Rows]) -> list[Rows]:
    """Return entries whose number, or a part of it, an integer before them may be."""
    found = list[Rows]()
    listed = [rows.path for rows in all_rows if says_whether_one_follows(tree, rows)]
    unlisted = [rows for rows in all_rows[:4] if not any(rows.path[: len(path)] == path for path in listed)]
    for path, size in islice(choices_of(tree), LOOKED_AT):
        if size.kind != "integer" or size.value < 1:
            continue
        for rows in unlisted:
            starts = [start for start in rows.starts if (*rows.path, start) > path]
            before = (*rows.path, rows.starts[1]) if len(rows.starts) > 1 else (*rows.path, rows.end)
            if path > before or not starts or len(starts) % size.value:
                continue
            each = len(starts) // size.value
            period = starts[each] - starts[0] if len(starts) > each else rows.end - starts[0]
            found.append(Rows(rows.path, tuple(starts[::each]), period, rows.end, path))
    return found
