"""`python notebooks/labs build` makes the copies of the labs; `grade FOLDER` grades what students have handed in."""

from __future__ import annotations

import secrets
import shutil
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.marks import LABS, SECONDS, Marks, Part
from teacher import copies
from teacher.submissions import FOLDER, grade_folder, totals, write_csv
from teacher.wrong_answers import wrong_answers

HANDED_OUT = ("grader", "clinic")  # with the students' copies
TEACHER = FOLDER.parent.parent / "build" / "labs" / "teacher"
STUDENT = FOLDER.parent.parent / "build" / "labs" / "student"


@click.group()
def command() -> None:
    """Labs that grade themselves."""


@command.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--csv", "target", type=click.Path(dir_okay=False, path_type=Path), help="Write each part's marks.")
@click.option("--seconds", default=SECONDS, show_default=True, help="Time limit of each cell and part.")
@click.option("--seed", help="Of the inputs that students do not know; by default at random.")
def grade(folder: Path, target: Path | None, seconds: float, seed: str | None) -> None:
    """Grade FOLDER/STUDENT/lab1_worlds.ipynb and so on. Runs the students' code, with your rights."""
    seed = secrets.token_hex(8) if seed is None else seed
    try:
        submissions, strange = grade_folder(folder, seconds, seed)
    except RuntimeError as error:  # of the grader itself
        raise click.ClickException(str(error)) from None
    for path in strange:
        click.echo(f"not graded: {path} is not called {', '.join(f'{lab}.ipynb' for lab in LABS)}", err=True)
    if not submissions:
        raise click.UsageError(f"no lab in {folder}: its notebooks must be {folder}/STUDENT/{next(iter(LABS))}.ipynb")
    table = Table("student", *LABS, "sum")
    for student, points, total in totals(submissions):
        table.add_row(Text(student), *(str(points.get(lab, "–")) for lab in LABS), str(total))
    Console().print(table)
    for one in submissions:
        for flag in one.flags:
            click.echo(f"look at {one.student}/{one.lab}.ipynb: {flag}", err=True)
    click.echo(f"the same inputs again: --seed {seed}", err=True)
    if target is not None:
        write_csv(submissions, target)


@command.command()
def build() -> None:
    """Make the students' and the teacher's copies, and grade the solutions and the typical wrong answers.

    The students' copies stand beside this file, and with what they need in build/labs/student; the teacher's in
    build/labs/teacher. Exit code 1 where a solution loses points, or a wrong answer does not.
    """
    for source in sorted((FOLDER / "sources").glob("*.py")):
        name = f"{source.stem}.ipynb"
        _write(copies.student(source), FOLDER / name, STUDENT / name)
        _write(copies.teacher(source), TEACHER / name)
    for name in HANDED_OUT:
        for target in (STUDENT, TEACHER):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(FOLDER / name, target / name, dirs_exist_ok=True, ignore=ignored)
    table, failed = Table("lab", "part", "answer", "points", "hint"), 0
    for one in grade_folder(TEACHER)[0]:
        failed += len(one.flags)
        for part, marks in one.marks:
            failed += marks.points < part.points
            _add(table, one.lab, part, "solution", marks)
    for wrong in wrong_answers():
        marks = wrong.marks()
        failed += not wrong.is_caught_by(marks)
        _add(table, wrong.lab, wrong.part, wrong.title, marks)
    Console().print(table)
    if failed:
        raise click.ClickException(f"{failed} answers have other marks than they should have")
    click.echo(f"{STUDENT} is for students, {TEACHER} for you")


def _add(table: Table, lab: str, part: Part, answer: str, marks: Marks) -> None:
    table.add_row(lab, str(part.number), answer, f"{marks.points} of {part.points}", Text(marks.hint))


def _write(notebook: copies.Notebook, *paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(copies.written(notebook), "utf-8")


if __name__ == "__main__":
    sys.exit(command())
