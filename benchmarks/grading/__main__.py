"""A class of eighty that hands in five labs, and the time of its grading: python -m benchmarks.grading.

Most students solve a lab; others give typical wrong answers, hand in a blank copy or nothing, or copy from a fellow
student. The first students try the forgeries of `tests/acceptance/labs`. The command prints how long the grading takes,
and exits with 1 where an honest solution loses points or a forgery gets them unnoticed.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

LABS_FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "labs"
sys.path.insert(0, str(LABS_FOLDER))  # of the graders

from grader.marks import LABS
from teacher import copies
from teacher.wrong_answers import source_of, wrong_answers
from tests.acceptance.labs.test_forged_marks import FORGERIES

SOLVED, WRONG, BLANK, MISSING, COPIED = "solved", "wrong", "blank", "missing", "copied"
SHARES = {SOLVED: 60, WRONG: 25, BLANK: 5, MISSING: 5, COPIED: 5}
CHECKS = "for query in (patients, total_weight):\n    check(query, weights, add_or_remove(), Claim(1.0), seconds=10)\n"
SEED = 1


def write_class(folder: Path, students: int) -> dict[tuple[str, str], str]:
    """Write the notebooks of a class; return what each student has done in each lab."""
    chosen, kinds = random.Random(SEED), {}
    for number in range(students):
        for lab in LABS:
            kind = chosen.choices(list(SHARES), list(SHARES.values()))[0]
            student = f"student {number:02}"
            if number < len(FORGERIES) and FORGERIES[number].lab == lab:
                kind = FORGERIES[number].name
            kinds[student, lab] = kind
            if kind != MISSING:
                _hand_in(folder / student, student, lab, kind, chosen)
    return kinds


def _hand_in(folder: Path, student: str, lab: str, kind: str, chosen: random.Random) -> None:
    solved = copies.solutions(source_of(lab))
    if lab == "lab5_codebase" and chosen.random() < 0.25:
        solved[1] += CHECKS  # of a sound query too, which takes all its seconds
    cells = list(solved.values())
    if kind == WRONG:
        cells.append(chosen.choice([answer.code for answer in wrong_answers() if answer.lab == lab]))
    elif kind == BLANK:
        cells = []
    elif kind != SOLVED and kind != COPIED:
        (forgery,) = (one for one in FORGERIES if one.name == kind)
        cells = [forgery.code]
    if kind != COPIED:
        cells = [f"# {student}\n{code}" for code in cells]
    notebook = copies.student(source_of(lab))
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": code} for code in cells]
    folder.mkdir(parents=True, exist_ok=True)
    added = chosen.choice(["", "", " (1)", "-Copy1"])
    (folder / f"{lab}{added}.ipynb").write_text(copies.written(notebook).replace("your name", student), "utf-8")


def mistakes(kinds: dict[tuple[str, str], str], marks: list[dict[str, str]]) -> list[str]:
    """Return a sentence for each lab with other marks than it should have."""
    found = []
    for (student, lab), kind in kinds.items():
        rows = [row for row in marks if (row["student"], row["lab"]) == (student, lab)]
        points = {int(row["part"]): int(row["points"]) for row in rows}
        forged = [one for one in FORGERIES if one.name == kind]
        if kind in (SOLVED, COPIED) and sum(points.values()) < 10:
            found.append(f"{student} solved {lab} and has {points}: {[row['message'] for row in rows]}")
        if kind in (BLANK, MISSING) and sum(points.values()) > 0:
            found.append(f"{student} did nothing in {lab} and has {points}")
        if any(points[part] > 0 for one in forged for part in one.parts):
            found.append(f"{student} forged {lab}, {kind}, and has {points}")
    return found


def main() -> None:
    """Make a class, have it graded, and print how long that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=80)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder, parts, gradebook = Path(temporary, "class"), Path(temporary, "parts.csv"), Path(temporary, "grades.csv")
        kinds = write_class(folder, given.students)
        start = time.perf_counter()
        command: list[str | Path] = [sys.executable, LABS_FOLDER, "grade", folder, "--seed", "1"]
        subprocess.run([*command, "--jobs", str(given.jobs), "--csv", parts, "--gradebook", gradebook], check=True)
        seconds = time.perf_counter() - start
        notebooks = sum(kind != MISSING for kind in kinds.values())
        print(f"{given.students} students, {notebooks} notebooks, {given.jobs} jobs: {seconds:.0f} seconds", end="")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f", {used.ru_utime + used.ru_stime:.0f} of a processor")
        with gradebook.open(encoding="utf-8", newline="") as stream:
            assert len(list(csv.DictReader(stream))) == given.students
        with parts.open(encoding="utf-8", newline="") as stream:
            wrong = mistakes(kinds, list(csv.DictReader(stream)))
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
