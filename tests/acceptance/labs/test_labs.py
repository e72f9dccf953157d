"""The labs: copies follow from their sources, solutions get all points, and typical wrong answers do not."""

import csv
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
import pytest

from grader import functions, worlds
from grader.answers import AnswerError
from grader.marks import LABS, parts_of
from teacher import copies, gradebook, submissions
from teacher.cells import Session, code_of, part_of
from teacher.submissions import FOLDER
from teacher.wrong_answers import source_of, wrong_answers
from tests.acceptance.labs.test_forged_marks import handed_in
from tests.support.jupyter import execute, kernel_of_many
from tests.support.processes import run

WRONG = list(wrong_answers())
NAME = "student 1082"  # whose ε is 0.3


def cells(notebook: Any) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("lab", LABS)
def test_the_copy_of_the_students_is_what_the_source_builds(lab: str) -> None:
    assert (FOLDER / f"{lab}.ipynb").read_text("utf-8") == copies.written(copies.student(source_of(lab)))


@pytest.mark.parametrize("lab", LABS)
def test_the_copy_of_the_students_has_no_solution(lab: str) -> None:
    """Not a line of one, besides what the cells that are given have too."""
    text = copies.written(copies.student(source_of(lab)))
    assert "SOLUTION" not in text
    given = {line.strip() for code in cells(copies.student(source_of(lab))) for line in code.splitlines()}
    solved = copies.solutions(source_of(lab))
    assert solved
    for code in solved.values():
        assert not [line for line in code.splitlines() if line.strip() and line.strip() in given]


@pytest.mark.parametrize("lab", LABS)
def test_every_part_is_asked_once_and_a_lab_has_ten_points(lab: str) -> None:
    parts = parts_of(lab)
    assert [part.number for part in parts] == list(range(1, len(parts) + 1))
    assert sum(part.points for part in parts) == 10
    for copy in (copies.student(source_of(lab)), copies.teacher(source_of(lab))):
        graded = [cell for cell in copy["cells"] if cell["metadata"].get("nbgrader", {}).get("grade")]
        assert [part_of("".join(cell["source"])) for cell in graded] == [part.number for part in parts]
        assert [cell["metadata"]["nbgrader"]["points"] for cell in graded] == [part.points for part in parts]
        assert all(part.title and f"lab.part_{part.number}({', '.join(part.answers)})" in cells(copy) for part in parts)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    with kernel_of_many() as kernel:
        yield kernel


def executed(notebook: Any, kernel: Any) -> list[Any]:
    """Return the code cells of a notebook, run in the folder of the labs."""
    return execute(jupytext.reads(json.dumps(notebook), "ipynb"), kernel, FOLDER)


@pytest.mark.filterwarnings("ignore")  # the kernel's own, not the project's
@pytest.mark.parametrize("lab", LABS)
def test_the_copy_of_the_teacher_gets_all_points_in_jupyter(lab: str, kernel: Any) -> None:
    """The value of a cell that shows marks is its points, as nbgrader reads them."""
    run_cells = executed(copies.teacher(source_of(lab)), kernel)
    marks = [cell.outputs for cell in run_cells if cell.metadata.get("nbgrader", {}).get("grade")]
    shown = [[output["data"]["text/plain"] for output in outputs if "data" in output] for outputs in marks]
    assert shown == [[str(part.points)] for part in parts_of(lab)]
    assert not [output for cell in run_cells for output in cell.outputs if output.get("name") == "stderr"]


@pytest.mark.filterwarnings("ignore")
def test_what_never_ends_is_interrupted_in_jupyter(kernel: Any) -> None:
    code = (
        "# %%\nimport time\nfrom grader.marks import Marks, part\n\n"
        "@part(1, 'endless', 2)\ndef endless(answer):\n    while True:\n        time.sleep(0.01)\n\n"
        "print(endless.grade(1, seconds=0.5))"
    )
    *_, cell = executed(json.loads(jupytext.writes(jupytext.reads(code, "py:percent"), "ipynb")), kernel)
    assert "did not end within 0.5 seconds" in cell.outputs[0]["text"]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.lab}-{wrong.title}")
def test_a_wrong_answer_loses_points_and_gets_its_hint(wrong: Any) -> None:
    marks = wrong.marks()
    assert wrong.is_caught_by(marks), f"{marks}, instead of {wrong.points} points and the hint {wrong.hint!r}"


def heads(bits: Any) -> int:
    return 1 + heads(bits) if bits.take(1) else 0


@pytest.mark.parametrize(
    ("lab", "number", "answers"),
    [
        ("lab1_worlds", 1, (NAME, [4968], [4967])),  # with Alice the code always fails: an exception is an outcome
        ("lab1_worlds", 1, (NAME, [4967, 4967, 4967], [4967, 4968, 4966])),
        (
            "lab2_event",
            3,
            (lambda outputs: (outputs > -0.5) & (outputs < 0.5) & (outputs * 2**24 != np.rint(outputs * 2**24)),),
        ),
        ("lab3_repair", 1, (lambda bits: -heads(bits) + heads(bits),)),
        ("lab3_repair", 2, (lambda value, bits: math.floor(value) + heads(bits) - heads(bits),)),
        ("lab4_library", 1, ([[1, 0], [0, 0]],)),
        ("lab4_library", 4, (([0, 0, 1], [1, 1, 0]),)),
        ("lab4_library", 5, (None, ([-17, 3], [-16, 4]))),
        ("lab5_codebase", 1, (([80.5, 44], [44]),)),
        ("lab5_codebase", 1, (([], [math.nan]),)),
        ("lab5_codebase", 1, (([Fraction(161, 2), 44], [44]),)),
        ("lab5_codebase", 2, (lambda low, high: float(max(-low, high)),)),
        ("lab5_codebase", 2, (lambda low, high: Fraction(max(-low, high)),)),
        ("lab5_codebase", 2, (lambda low, high: Decimal(max(-low, high)),)),
        ("lab5_codebase", 2, (lambda low, high: np.int64(max(-low, high)),)),
        ("lab5_codebase", 3, (lambda value, low, high: np.nan_to_num(np.clip(value, low, high)),)),
    ],
)
def test_other_right_answers_get_all_points(lab: str, number: int, answers: tuple[Any, ...]) -> None:
    part = parts_of(lab)[number - 1]
    marks = part.grade(*answers)
    assert (marks.points, marks.hint) == (part.points, ""), marks


def test_what_few_bits_leave_undecided_is_not_taken_for_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "DEPTH", 40)  # 4·10^−11 is undecided
    marks = parts_of("lab3_repair")[0].grade(lambda bits: heads(bits) - heads(bits))
    assert marks.points == 1
    assert "undecided" in marks.message


def test_worlds_whose_difference_overflows_are_no_neighbours() -> None:
    marks = parts_of("lab1_worlds")[0].grade(NAME, [2**63 - 1, 0], [-(2**63), 0])
    assert marks.points == 0
    assert "no neighbours" in marks.message


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize(
    "answer", [None, 3, "text", [], ([0, 1], [1, 1, 1]), object(), lambda: 1 / 0], ids=lambda one: type(one).__name__
)
def test_answers_of_any_type_get_a_message(lab: str, answer: Any) -> None:
    for part in parts_of(lab):
        marks = part.grade(*(answer for _ in part.answers))
        assert marks.points < part.points
        assert marks.message
        assert marks.hint


@pytest.mark.parametrize("lab", LABS)
def test_every_part_has_typical_wrong_answers(lab: str) -> None:
    wrong = [answer for answer in WRONG if answer.lab == lab]
    assert len(wrong) >= 3 * min(len(parts_of(lab)), 3)
    assert {answer.part.number for answer in wrong} == {part.number for part in parts_of(lab)}


def test_submissions_are_graded_into_a_table_and_two_csv(tmp_path: Path) -> None:
    """By the command, in processes of their own: a solution, a blank copy, a forgery, no notebook, an unknown one."""
    handed = tmp_path / "handed in"
    solved = handed_in(handed, "ada", "lab1_worlds", *copies.solutions(source_of("lab1_worlds")).values())
    solved.rename(solved.with_name("lab1_worlds (1).ipynb"))  # by a browser
    handed_in(handed, "ben", "lab1_worlds")
    handed_in(handed, "eve", "lab1_worlds", "from grader.marks import Part")
    (handed / "cyd").mkdir()
    (handed / "cyd" / "lab1_worlds.ipynb").write_text("no notebook")
    (handed / "cyd" / "homework.ipynb").write_text("{}")
    target, students = tmp_path / "marks.csv", tmp_path / "gradebook.csv"
    given: list[str | Path] = [sys.executable, FOLDER, "grade", handed, "--jobs", "2", "--seed", "a seed"]
    shown = run([*given, "--csv", target, "--gradebook", students], cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    table = {cells[1].strip(): cells[7].strip() for line in shown.stdout.splitlines() if (cells := line.split("│"))[1:]}
    assert table == {"ada": "10", "ben": "0", "cyd": "0", "eve": "0"}
    assert "look at eve/lab1_worlds.ipynb: it has the line 'from grader.marks import Part'" in shown.stderr
    assert "look at ada/lab1_worlds.ipynb: its name, 'your name', is also that of ben" in shown.stderr
    assert "--seed a seed" in shown.stderr
    assert "not graded: cyd/homework.ipynb" in shown.stderr
    with target.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["points"] for row in rows if row["student"] == "ada"] == ["3", "2", "3", "2"]
    assert all("no answer yet" in row["message"] for row in rows if row["student"] == "ben")
    assert {row["student"] for row in rows if "grader" in row["flags"]} == {"eve"}
    with students.open(encoding="utf-8") as stream:
        (ada, *others) = csv.DictReader(stream)
    assert list(ada) == ["student", *LABS, "total", "missing", "similarity", "similar_to"]
    assert (ada["lab1_worlds"], ada["lab2_event"], ada["total"]) == ("10", "", "10")
    assert ada["missing"] == "lab2_event lab3_repair lab4_library lab5_codebase"
    assert [other["total"] for other in others] == ["0", "0", "0"]
    assert all("cannot be read" in row["message"] for row in rows if row["student"] == "cyd")


def test_copies_of_a_notebook_are_found_whoever_named_them(tmp_path: Path) -> None:
    """The newest counts; the folder of a lab is not the student's."""
    names = (" (1)", "(2)", "-Copy1", " - Copy", " 2", "x")
    for age, name in enumerate(names):
        path = tmp_path / "ada" / f"lab1_worlds{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
        os.utime(path, (1e9 - age, 1e9 - age))
    other = tmp_path / "ben" / "lab2_event" / "lab2_event.ipynb"
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    paths, left_out = submissions.handed_in(tmp_path)
    assert paths == {
        ("ada", "lab1_worlds"): tmp_path / "ada" / "lab1_worlds (1).ipynb",
        ("ben", "lab2_event"): other,
    }
    assert len(left_out) == len(names) - 1
    assert "ada/lab1_worldsx.ipynb is not called" in left_out[0]
    assert all("as ada/lab1_worlds (1).ipynb is newer" in sentence for sentence in left_out[1:])


def test_a_budget_is_of_a_name() -> None:
    """Of 20,000 names each of the 201 budgets gets 99.5 ± 9.9: none is 6 deviations off, wrongly once in 10^6."""
    budgets = Counter(worlds.budget(f"student {number}") for number in range(20_000))
    assert (min(budgets), max(budgets), len(budgets)) == (0.2, 0.4, 201)
    assert all(40 < count < 160 for count in budgets.values())
    assert worlds.budget(" Ada  Lovelace") == worlds.budget("ada lovelace")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_worlds_of_another_budget_get_no_points(number: int) -> None:
    """The solution for one name, copied by a student whose ε differs by 0.01."""
    session, source = Session(), source_of("lab1_worlds")
    for code in (*code_of(copies.student(source)), *copies.solutions(source).values()):
        session.run(code.replace("your name", NAME))
    part = parts_of("lab1_worlds")[number - 1]
    own, others = (part.grade(name, *map(session.answer, part.answers[1:])) for name in (NAME, "student 652"))
    assert (own.points, worlds.budget("student 652")) == (part.points, 0.31)
    assert others.points < part.points


def submission(student: str, code: str) -> gradebook.Submission:
    return gradebook.Submission(student, "lab3_repair", (), code=code)


def test_copied_answers_are_similar_whatever_their_names() -> None:
    one, other = ("\n".join(copies.solutions(source_of(lab)).values()) for lab in ("lab3_repair", "lab5_codebase"))
    renamed = "# my own work\n" + one.replace("count", "n").replace("heads", "f")
    given = [submission("ada", one), submission("ben", renamed), submission("cyd", other), submission("dan", "n = 1")]
    found = gradebook.similarities(given)
    assert (found["ada"], found["ben"]) == ((1.0, "ben", "lab3_repair"), (1.0, "ada", "lab3_repair"))
    assert found["cyd"][0] < 0.2
    assert found["dan"] == (0.0, "", "")  # too short to tell


def test_a_student_loses_only_the_parts_whose_code_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that hang, exit and end the process, an answer of the wrong type, and one that never ends."""
    solved = copies.solutions(source_of("lab1_worlds"))
    loop = "import time\nwhile True:\n    try:\n        time.sleep(0.1)\n    except BaseException:\n        pass\n"
    path = handed_in(
        tmp_path,
        "dan",
        "lab1_worlds",
        f"%timeit 1 + 1\n{solved[1]}",
        "event = 'zero'",
        f"{solved[3]}\nimport sys\nsys.exit(1)",
        "def real_loss(*arguments):\n    import time\n    while True:\n        time.sleep(0.1)\n",
        loop,
        "import os\nos._exit(3)",
    )
    monkeypatch.setattr(submissions, "SILENT", 1.0)
    found = submissions.grade_notebook(path, "dan", "lab1_worlds", seconds=6.0)
    marks = [marks for _, marks in found.marks]
    assert [one.points for one in marks] == [3, 0, 3, 0]
    assert marks[1].message == "`event` must be a set of indices of outcomes, got 'zero'."
    assert "within 6 s" in marks[3].message  # of one call, or of the part


def test_a_missing_name_says_why_its_cell_failed() -> None:
    session = Session()
    session.run("data_in = [1, 2\n")
    session.run("def event(outputs:\n    pass")
    with pytest.raises(AnswerError, match=r"`data_in` is not defined: .*SyntaxError"):
        session.answer("data_in")


def test_a_folder_without_labs_is_a_mistake(tmp_path: Path) -> None:
    shown = run([sys.executable, FOLDER, "grade", tmp_path], cwd=tmp_path)
    assert shown.returncode == 2
    assert "no lab in" in shown.stderr
    assert "Traceback" not in shown.stderr
