"""`python notebooks/labs build` makes the copies of the labs; `grade FOLDER` grades what students have handed in."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader.marks import LABS, SECONDS, Marks, Part
from subnormal.audit.commands.labs import hand_out
from teacher.gradebook import lines, write_gradebook, write_parts
from teacher.submissions import FOLDER, grade_folder

FILE = click.Path(dir_okay=False, path_type=Path)
BUILT = FOLDER.parent.parent / "build" / "labs"
TEACHER, STUDENT = BUILT / "teacher", BUILT / "student"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def command() -> None:
    """Labs that grade themselves."""


@command.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--gradebook", type=FILE, help="Write a line for each student, as CSV.")
@click.option("--csv", "parts", type=FILE, help="Write a line for each part, with what was found and the hint, as CSV.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count(), help="Notebooks graded at the same time.")
@click.option("--seconds", default=SECONDS, help="Time limit of each cell and part.")
@click.option("--seed", help="Of the inputs that students do not know; by default at random.")
def grade(
    folder: Path, gradebook: Path | None, parts: Path | None, jobs: int, seconds: float, seed: str | None
) -> None:
    """Grade FOLDER/STUDENT/lab1_worlds.ipynb and so on. Runs the students' code, with your rights."""
    seed = secrets.token_hex(8) if seed is None else seed
    columns = "[progress.description]{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("notebooks", total=None)

            def show(graded: int, all_of_them: int) -> None:
                progress.update(task, completed=graded, total=all_of_them)

            submissions, left_out = grade_folder(folder, seconds, seed, jobs, show)
    except RuntimeError as error:  # of the grader itself
        raise click.ClickException(str(error)) from None
    for sentence in left_out:
        click.echo(sentence, err=True)
    if not submissions:
        raise click.UsageError(f"no lab in {folder}: its notebooks must be {folder}/STUDENT/{next(iter(LABS))}.ipynb")
    table = Table("student", *(lab.partition("_")[0] for lab in LABS), "total", "missing", "similarity")
    for line in lines(submissions):
        points = (str(line.points.get(lab, "–")) for lab in LABS)
        table.add_row(Text(line.student), *points, str(line.total), str(len(line.missing)), f"{line.similarity[0]:.2f}")
    Console().print(table)
    for one in submissions:
        for flag in one.flags:
            click.echo(f"look at {one.student}/{one.lab}.ipynb: {flag}", err=True)
    click.echo(f"the same inputs again: --seed {seed}", err=True)
    for target, write in ((gradebook, write_gradebook), (parts, write_parts)):
        if target is not None:
            write(submissions, target)


@command.command()
def build() -> None:
    """Make the students' and the teacher's copies, and grade the solutions and the typical wrong answers.

    The students' copies stand beside this file, and with what they need in build/labs/student; the teacher's in
    build/labs/teacher. Exit code 1 where a solution loses points, or a wrong answer does not.
    """
    from teacher import copies  # which needs jupytext
    from teacher.wrong_answers import wrong_answers

    shutil.rmtree(BUILT, ignore_errors=True)
    for source in sorted((FOLDER / "sources").glob("*.py")):
        name = f"{source.stem}.ipynb"
        (FOLDER / name).write_text(copies.written(copies.student(source)), "utf-8")
    hand_out(STUDENT)
    hand_out(TEACHER)
    for source in sorted((FOLDER / "sources").glob("*.py")):
        (TEACHER / f"{source.stem}.ipynb").write_text(copies.written(copies.teacher(source)), "utf-8")
    table, failed = Table("lab", "part", "answer", "points", "hint"), 0
    for one in grade_folder(TEACHER, jobs=os.cpu_count() or 1)[0]:
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


if __name__ == "__main__":
    sys.exit(command())
