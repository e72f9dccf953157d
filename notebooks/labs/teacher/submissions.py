"""Grades the notebooks that students have handed in. This process runs no code of theirs.

A process of its own runs a student's cells and replies with data, `grader.answers`; graders judge these here. A process
that ends or hangs loses the step that did it, a cell or a part, and is started again without it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import subnormal
from grader.answers import AnswerError, Json, RaisedError, value_of
from grader.functions import Function
from grader.marks import LABS, SECONDS, Marks, Part, parts_of
from subnormal.audit.targets import json_lines
from subnormal.audit.targets.child_process import ChildProcess
from subnormal.audit.targets.json_lines import TargetError
from teacher.cells import code_of
from teacher.gradebook import Submission
from teacher.suspicions import own_lines, suspicious
from teacher.worker import FUNCTION

FOLDER = Path(__file__).resolve().parent.parent  # of the labs
COPIED = ("grader", "clinic", "teacher")  # for the student's process
SILENT = 15.0  # seconds beyond the limit of a cell, after which its process is ended
START = 120.0  # seconds until the first cell
COPY = re.compile(rf"({'|'.join(LABS)})(?:[ _-]*(?:\(\d+\)|\d+|[Cc]opy ?\d*))*")
LAB_FOLDER = re.compile(rf"lab ?\d|{'|'.join(LABS)}")  # of a student's folder, as nbgrader makes
REPLY_BYTES = 1 << 26  # of one reply: a million floats take a tenth


def grade_folder(
    folder: Path,
    seconds: float = SECONDS,
    seed: str = "",
    jobs: int = 1,
    done: Callable[[int, int], None] = lambda graded, all_of_them: None,
) -> tuple[list[Submission], list[str]]:
    """Return the marks of every student in a folder, and a sentence for each notebook that is not graded.

    folder: FOLDER/STUDENT/lab1_worlds.ipynb, or any folders between. A lab that was not handed in has no marks.
    seed: of the inputs at random, which differ by student. jobs: notebooks that are graded at the same time. done: is
    called after each notebook, with how many are graded and how many there are.
    """
    paths, left_out = handed_in(folder)
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_grader) as pool:
        graded = [
            pool.submit(grade_notebook, path, student, lab, seconds, seed) for (student, lab), path in paths.items()
        ]
        try:
            for at, _ in enumerate(as_completed(graded), 1):
                done(at, len(graded))
            found = [one.result() for one in graded]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return _same_names_flagged(found), left_out


def handed_in(folder: Path) -> tuple[dict[tuple[str, str], Path], list[str]]:
    """Return the notebook of each student and lab, and a sentence for each one that is left out.

    A browser or Jupyter may have added to the name of a copy: "lab1_worlds (1)", "lab1_worlds-Copy1". Of several copies
    the one that was changed last counts.
    """
    paths: dict[tuple[str, str], list[Path]] = {}
    left_out = []
    for path in sorted(folder.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        known = COPY.fullmatch(path.stem)
        if known is None:
            names = ", ".join(f"{lab}.ipynb" for lab in LABS)
            left_out.append(f"not graded: {path.relative_to(folder).as_posix()} is not called {names}")
            continue
        owner = path.parent.parent if LAB_FOLDER.fullmatch(path.parent.name) else path.parent
        paths.setdefault((owner.relative_to(folder).as_posix(), known[1]), []).append(path)
    for copies in paths.values():
        copies.sort(key=lambda path: (path.stat().st_mtime, len(path.name), path.name))
        newest = copies[-1].relative_to(folder).as_posix()
        left_out += [f"not graded: {path.relative_to(folder).as_posix()}, as {newest} is newer" for path in copies[:-1]]
    return {one: copies[-1] for one, copies in sorted(paths.items())}, left_out


def _start_grader() -> None:
    """Let a process be interrupted that was started in the background, and by `limited`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _same_names_flagged(submissions: list[Submission]) -> list[Submission]:
    """Return the submissions, with a flag where two students have written the same name into a lab."""
    owners: dict[tuple[str, str], list[str]] = {}
    for one in submissions:
        owners.setdefault((one.lab, one.name), []).append(one.student)
    flagged = []
    for one in submissions:
        others = [student for student in owners[one.lab, one.name] if student != one.student]
        flag = f"its name, {one.name!r}, is also that of {others[0]}" if others and one.name else ""
        flagged.append(replace(one, flags=(*one.flags, flag)) if flag else one)
    return flagged


def grade_notebook(path: Path, student: str, lab: str, seconds: float = SECONDS, seed: str = "") -> Submission:
    """Return the marks of each part of a notebook. What the notebook prints is not shown.

    This runs what was handed in, with the rights of whoever calls it, beside a copy of the grader.
    """
    parts = parts_of(lab)
    try:
        cells = code_of(json.loads(path.read_text("utf-8")))
    except ValueError as error:  # of JSON too
        return Submission(student, lab, (Marks(0, f"The file cannot be read: {error}"),) * len(parts))
    with TemporaryDirectory() as copy:
        for name in COPIED:
            shutil.copytree(FOLDER / name, Path(copy, name), ignore=shutil.ignore_patterns("__pycache__"))
        folders = [Path(copy), FOLDER, *map(Path, subnormal.__path__)]
        before = _files(*folders)
        code = Student(path.resolve().parent, Path(copy), cells, seconds)
        try:
            marks = tuple(code.marks(part, f"{seed}/{student}/{lab}") for part in parts)
            name = code.text("name") if any("name" in part.answers for part in parts) else ""
        finally:
            code.close()
        changed = sorted({file.name for file, _ in before.items() ^ _files(*folders).items()})
    flags = [f"the file {name} of the grader has changed" for name in changed]
    written = "\n".join(own_lines(lab, cells))
    return Submission(student, lab, marks, (*flags, *suspicious(lab, cells)), name, written)


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

    def text(self, name: str) -> str:
        """Return what a name stands for, if that is a text."""
        try:
            found = self._answer(name)
        except (AnswerError, ValueError, RaisedError):
            return ""
        return found if isinstance(found, str) else ""

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
