"""The results of a class: a line for each part, and a line for each student."""

from __future__ import annotations

import csv
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.marks import LABS, Marks, Part, parts_of

TOKENS = 6  # in a row, which two answers have in common
LEAST = 40  # such rows of tokens; answers with fewer are alike whoever writes them
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@dataclass(frozen=True, slots=True)
class Submission:
    """One student's lab. marks_of_parts: in the order of its parts.

    flags: why a teacher should look at it. name: that of the notebook's first cell, where the lab asks for it. code:
    the cells that the student wrote or changed.
    """

    student: str
    lab: str
    marks_of_parts: tuple[Marks, ...]
    flags: tuple[str, ...] = ()
    name: str = ""
    code: str = ""

    @property
    def marks(self) -> tuple[tuple[Part, Marks], ...]:
        """Each part, and its marks."""
        return tuple(zip(parts_of(self.lab), self.marks_of_parts, strict=True))

    @property
    def points(self) -> int:
        """The points of all parts."""
        return sum(marks.points for marks in self.marks_of_parts)


@dataclass(frozen=True, slots=True)
class Line:
    """One student. points: of each lab that was handed in. similarity: see `similarities`."""

    student: str
    points: dict[str, int]
    similarity: tuple[float, str, str]

    @property
    def missing(self) -> list[str]:
        """The labs that were not handed in."""
        return [lab for lab in LABS if lab not in self.points]

    @property
    def total(self) -> int:
        """The points of all labs."""
        return sum(self.points.values())


def lines(submissions: list[Submission]) -> Iterator[Line]:
    """Yield each student, in the order of their names."""
    alike = similarities(submissions)
    for student in sorted({one.student for one in submissions}):
        points = {one.lab: one.points for one in submissions if one.student == student}
        yield Line(student, points, alike[student])


def similarities(submissions: list[Submission]) -> dict[str, tuple[float, str, str]]:
    """Return for each student the largest similarity of a lab with another student's, the other student and the lab.

    The similarity is the share of their rows of tokens that two answers have in common, 1 where they differ in names of
    variables and in comments alone. Answers that are too short to tell have none.
    """
    alike = {one.student: (0.0, "", "") for one in submissions}
    for lab in LABS:
        rows = {one.student: _rows(one.code) for one in submissions if one.lab == lab}
        rows = {student: found for student, found in rows.items() if found.total() >= LEAST}
        for student, own in rows.items():
            for other, theirs in rows.items():
                if other != student:
                    share = (own & theirs).total() / (own | theirs).total()
                    alike[student] = max(alike[student], (share, other, lab))
    return alike


def _rows(code: str) -> Counter[tuple[str, ...]]:
    """Return the rows of tokens of code, each name replaced by one word."""
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in SKIPPED:
                named = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
                tokens.append("name" if named else token.string)
    except (tokenize.TokenError, SyntaxError):
        pass  # the tokens before the mistake
    return Counter(zip(*(tokens[start:] for start in range(TOKENS)), strict=False))


def write_gradebook(submissions: list[Submission], path: Path) -> None:
    """Write a line for each student: the points of each lab, the total, the labs that are missing, the similarity."""
    rows: Iterable[list[object]] = (
        [
            line.student,
            *(line.points.get(lab, "") for lab in LABS),
            line.total,
            " ".join(line.missing),
            f"{line.similarity[0]:.2f}",
            " ".join(line.similarity[1:]),
        ]
        for line in lines(submissions)
    )
    _write(path, ["student", *LABS, "total", "missing", "similarity", "similar_to"], rows)


def write_parts(submissions: list[Submission], path: Path) -> None:
    """Write a line for each part: student, lab, part, points, of, message, hint, flags."""
    rows: Iterable[list[object]] = (
        [one.student, one.lab, part.number, marks.points, part.points, marks.message, marks.hint, "; ".join(one.flags)]
        for one in submissions
        for part, marks in one.marks
    )
    _write(path, ["student", "lab", "part", "points", "of", "message", "hint", "flags"], rows)


def _write(path: Path, head: list[str], rows: Iterable[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head, *rows])
