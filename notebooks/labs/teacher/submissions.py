"""Grades the notebooks that students have handed in, each in a process of its own.

A process that ends or hangs loses the step that did it, a cell or a part, and is started again without it.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.marks import LABS, SECONDS, Marks, Part, parts_of
from teacher.cells import code_of

FOLDER = Path(__file__).resolve().parent.parent  # of the labs
SILENT = 15.0  # seconds beyond the limit of a step, after which its process is ended
START = 120.0  # seconds until the first step


@dataclass(frozen=True, slots=True)
class Row:
    """The marks of one part of one submission."""

    student: str
    lab: str
    part: Part
    marks: Marks


def grade_folder(folder: Path, seconds: float = SECONDS) -> tuple[list[Row], list[str]]:
    """Return the marks of every student in a folder, and the notebooks that belong to no lab.

    folder: FOLDER/STUDENT/lab1_worlds.ipynb, or any folders between. A lab that was not handed in has no row.
    """
    rows, strange = [], []
    for path in sorted(folder.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        if path.stem not in LABS:
            strange.append(path.relative_to(folder).as_posix())
            continue
        name = path.parent.relative_to(folder).as_posix()
        rows += [Row(name, path.stem, part, marks) for part, marks in grade_notebook(path, path.stem, seconds)]
    return rows, strange


def grade_notebook(path: Path, lab: str, seconds: float = SECONDS) -> list[tuple[Part, Marks]]:
    """Return the marks of each part of a notebook. What the notebook prints is not shown.

    This runs what was handed in, with the rights of whoever calls it.
    """
    parts = parts_of(lab)
    try:
        code_of(json.loads(path.read_text("utf-8")))
    except ValueError as error:  # of JSON too
        return [(part, Marks(0, f"The file cannot be read: {error}")) for part in parts]
    skipped: dict[str, str] = {}
    while True:
        with TemporaryDirectory() as scratch:
            results = Path(scratch, "results")
            results.touch()
            reason = _run(path.resolve(), lab, results, seconds, skipped)
            lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
        graded = {line["part"]: Marks(**line["marks"]) for line in lines if "part" in line}
        if len(graded) == len(parts):
            return [(part, graded[part.number]) for part in parts]
        step = next((line["step"] for line in reversed(lines) if "step" in line), None)
        if step is None or step in skipped:
            raise RuntimeError(f"the grader's own process {reason}, before {path} was run: is subnormal installed?")
        skipped[step] = reason


def _run(path: Path, lab: str, results: Path, seconds: float, skipped: dict[str, str]) -> str:
    """Run the worker until it ends or is silent for too long, and return how it ended."""
    command = [sys.executable, "-P", "-m", "teacher.worker", str(path), lab, str(results), str(seconds)]
    paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"}
    process = subprocess.Popen(
        [*command, json.dumps(skipped)],
        cwd=path.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    size, since = 0, time.monotonic()
    try:
        while process.poll() is None:
            time.sleep(0.05)
            if (now := results.stat().st_size) != size:
                size, since = now, time.monotonic()
            if time.monotonic() - since > (seconds + SILENT if size else START):
                return f"did not end within {seconds:g} seconds"
        return f"ended its process (exit code {process.returncode})"
    finally:
        process.kill()
        process.wait()


def totals(rows: list[Row]) -> Iterator[tuple[str, dict[str, int], int]]:
    """Yield each student, the points in each lab that was handed in, and their sum."""
    for student in sorted({row.student for row in rows}):
        own = [row for row in rows if row.student == student]
        points = {lab: sum(row.marks.points for row in own if row.lab == lab) for lab in {row.lab for row in own}}
        yield student, points, sum(points.values())


def write_csv(rows: list[Row], path: Path) -> None:
    """Write a line for each part: student, lab, part, points, of, message, hint."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["student", "lab", "part", "points", "of", "message", "hint"])
        for row in rows:
            marks = row.marks
            given = [row.student, row.lab, row.part.number, marks.points, row.part.points, marks.message, marks.hint]
            writer.writerow(given)
