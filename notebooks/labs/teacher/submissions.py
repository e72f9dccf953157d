"""Grades the notebooks that students have handed in. This process runs no code of theirs.

A process of its own runs a student's cells and replies with data, `grader.answers`; graders judge these here. A process
that ends or hangs loses the step that did it, a cell or a part, and is started again without it.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import subnormal
from grader.answers import AnswerError, Json, value_of
from grader.functions import Function
from grader.marks import LABS, SECONDS, Marks, Part, parts_of
from subnormal.audit.targets import json_lines
from subnormal.audit.targets.child_process import ChildProcess
from subnormal.audit.targets.json_lines import TargetError
from teacher.cells import code_of
from teacher.suspicions import suspicious
from teacher.worker import FUNCTION

FOLDER = Path(__file__).resolve().parent.parent  # of the labs
COPIED = ("grader", "clinic", "teacher")  # for the student's process
SILENT = 15.0  # seconds beyond the limit of a cell, after which its process is ended
START = 120.0  # seconds until the first cell
REPLY_BYTES = 1 << 26  # of one reply: a million floats take a tenth


@dataclass(frozen=True, slots=True)
class Submission:
    """The marks of each part of one student's lab. flags: why a teacher should look at it."""

    student: str
    lab: str
    marks: tuple[tuple[Part, Marks], ...]
    flags: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """The points of all parts."""
        return sum(marks.points for _, marks in self.marks)


def grade_folder(folder: Path, seconds: float = SECONDS, seed: str = "") -> tuple[list[Submission], list[str]]:
    """Return the marks of every student in a folder, and the notebooks that belong to no lab.

    folder: FOLDER/STUDENT/lab1_worlds.ipynb, or any folders between. A lab that was not handed in has no marks.
    seed: of the inputs at random, which differ by student.
    """
    submissions, strange = [], []
    for path in sorted(folder.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        if path.stem not in LABS:
            strange.append(path.relative_to(folder).as_posix())
            continue
        student = path.parent.relative_to(folder).as_posix()
        submissions.append(grade_notebook(path, student, path.stem, seconds, seed))
    return submissions, strange


def grade_notebook(path: Path, student: str, lab: str, seconds: float = SECONDS, seed: str = "") -> Submission:
    """Return the marks of each part of a notebook. What the notebook prints is not shown.

    This runs what was handed in, with the rights of whoever calls it, beside a copy of the grader.
    """
    parts = parts_of(lab)
    try:
        cells = code_of(json.loads(path.read_text("utf-8")))
    except ValueError as error:  # of JSON too
        return Submission(student, lab, tuple((part, Marks(0, f"The file cannot be read: {error}")) for part in parts))
    with TemporaryDirectory() as copy:
        for name in COPIED:
            shutil.copytree(FOLDER / name, Path(copy, name), ignore=shutil.ignore_patterns("__pycache__"))
        folders = [Path(copy), FOLDER, *map(Path, subnormal.__path__)]
        before = _files(*folders)
        code = Student(path.resolve().parent, Path(copy), cells, seconds)
        try:
            marks = tuple((part, code.marks(part, f"{seed}/{student}/{lab}")) for part in parts)
        finally:
            code.close()
        changed = sorted({file.name for file, _ in before.items() ^ _files(*folders).items()})
    flags = [f"the file {name} of the grader has changed" for name in changed]
    return Submission(student, lab, marks, (*flags, *suspicious(lab, cells)))


@dataclass(slots=True)
class Student:
    """The process of one student. It is started when it is needed, and runs the cells first."""

    folder: Path  # of the notebook
    grader: Path  # the folder of its copy
    cells: list[str]
    seconds: float
    _failed: dict[int, str] = field(default_factory=dict)  # cells that ended a process
    _process: ChildProcess | None = None

    def marks(self, part: Part, seed: str) -> Marks:
        """Return the marks of a part, 0 points where a name that it needs is missing or its code ends the process."""
        try:
            answers = [self._answer(name) for name in part.answers]
        except AnswerError as error:
            return Marks(0, str(error), error.hint)
        except ValueError as error:
            return Marks(0, f"The student's process replies what is no answer: {error}")
        return part.grade(*answers, seconds=self.seconds, seed=seed)

    def close(self) -> None:
        """End the process, and those that it has started."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _answer(self, name: str) -> object:
        reply = self._ask({"name": name})
        return Function(partial(self._call, name)) if reply == FUNCTION else value_of(reply)

    def _call(self, name: str, action: str, arguments: list[Json]) -> Json:
        return self._ask({"name": name, "action": action, "arguments": arguments})

    def _ask(self, request: Json) -> Json:
        while self._process is None:
            self._start()
        try:
            return self._send(request, self.seconds)
        except TargetError as error:
            raise AnswerError(f"Your code {error}.", "Look for a loop without an end.") from None

    def _start(self) -> None:
        """Start the process and run the cells, except those that ended an earlier one."""
        paths = [str(self.grader), *filter(None, [os.environ.get("PYTHONPATH")])]
        command = ["env", f"PYTHONPATH={os.pathsep.join(paths)}", "MPLBACKEND=Agg", sys.executable, "-P"]
        command += ["-m", "teacher.worker", str(self.folder), str(self.seconds)]
        self._process = ChildProcess(command)
        try:
            self._send({"cell": ""}, START)
        except TargetError as error:
            raise RuntimeError(f"the grader's own process {error}: is subnormal installed?") from None
        for place, code in enumerate(self.cells):
            failed = {"failed": self._failed[place]} if place in self._failed else {}
            try:
                self._send({"cell": code, **failed}, self.seconds + SILENT)
            except TargetError as error:
                self._failed[place] = f"the cell {error}"
                return

    def _send(self, request: Json, seconds: float) -> Json:
        """Return the reply to a request. Raises TargetError, and ends the process, where there is none."""
        assert self._process is not None
        try:
            return json_lines.parse(self._process.ask(json.dumps(request).encode() + b"\n", REPLY_BYTES, seconds))
        except BaseException:
            self.close()
            raise


def _files(*folders: Path) -> dict[Path, bytes]:
    """Return the Python files in folders."""
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*.py")}


def totals(submissions: list[Submission]) -> Iterator[tuple[str, dict[str, int], int]]:
    """Yield each student, the points in each lab that was handed in, and their sum."""
    for student in sorted({one.student for one in submissions}):
        points = {one.lab: one.points for one in submissions if one.student == student}
        yield student, points, sum(points.values())


def write_csv(submissions: list[Submission], path: Path) -> None:
    """Write a line for each part: student, lab, part, points, of, message, hint, flags."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["student", "lab", "part", "points", "of", "message", "hint", "flags"])
        for one in submissions:
            for part, marks in one.marks:
                given = [one.student, one.lab, part.number, marks.points, part.points, marks.message, marks.hint]
                writer.writerow([*given, "; ".join(one.flags)])
