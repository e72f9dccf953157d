"""Typical wrong answers. Each must lose points, and get the hint that names its misunderstanding.

Each cell of wrong_answers/LAB.py is one answer to one part; its title says what is misunderstood. The metadata of the
cell: `part`; `points` that it gets; `hint`, words that its hint must have; `after`, parts whose solutions run before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import jupytext

from grader.marks import LABS, Marks, Part, parts_of
from teacher.cells import Session, part_of
from teacher.copies import BEGIN, solutions
from teacher.submissions import FOLDER


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One answer, the points that it gets, and words of the hint that it must get."""

    lab: str
    part: Part
    title: str
    code: str
    points: int
    hint: str
    after: tuple[int, ...]

    def marks(self) -> Marks:
        """Grade the answer, after the cells that the lab gives."""
        session, source = Session(), source_of(self.lab)
        solved = solutions(source)
        cells = [cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code"]
        shared = [code for code in cells if BEGIN not in code and part_of(code) is None]
        with redirect_stdout(StringIO()):
            for code in (*shared, *(solved[number] for number in self.after), self.code):
                session.run(code)
            return self.part.grade(*map(session.answer, self.part.answers))

    def is_caught_by(self, marks: Marks) -> bool:
        """Return whether these marks are the expected ones, not all the points, with the expected hint."""
        return marks.points == self.points < self.part.points and self.hint in marks.hint


def source_of(lab: str) -> Path:
    """Return the source of a lab."""
    return FOLDER / "sources" / f"{lab}.py"


def wrong_answers() -> Iterator[WrongAnswer]:
    """Yield all typical wrong answers, lab by lab."""
    for lab in LABS:
        parts = {part.number: part for part in parts_of(lab)}
        for cell in jupytext.read(FOLDER / "wrong_answers" / f"{lab}.py").cells:
            if cell.cell_type == "code":
                given = cell.metadata
                after = tuple(given.get("after", ()))
                title = given["title"]
                yield WrongAnswer(lab, parts[given["part"]], title, cell.source, given["points"], given["hint"], after)
