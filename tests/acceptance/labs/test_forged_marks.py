"""Marks of the labs cannot be forged: a notebook that does not solve a part gets no points for it, or is flagged."""

import json
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from grader.functions import Function, answered
from grader.marks import LABS, Marks, Part, parts_of
from teacher import copies, submissions
from teacher.cells import Session, code_of
from teacher.gradebook import Submission
from teacher.submissions import FOLDER, Student
from teacher.suspicions import suspicious
from teacher.wrong_answers import source_of, wrong_answers

BLANK = "raise NotImplementedError"

GRADE = """
from grader.marks import Marks, Part
Part.grade = lambda part, *answers, **limits: Marks(part.points, "right")
data_in = data_out = event = shifted_in = shifted_out = real_loss = 0
"""
RESULTS = """
import json, os, sys
with open(sys.argv[3], "w") as stream:
    for number in (1, 2, 3, 4):
        stream.write(json.dumps({"part": number, "marks": {"points": 250, "message": "right"}}) + "\\n")
os._exit(0)
"""
LAW = """
def outputs_from(value, epsilon):
    law = lab.law(value, epsilon)
    return np.repeat(np.asarray(law.atoms), np.repeat(np.asarray(law.low), law.counts()))

def event(outputs, epsilon):
    return np.isin(outputs, np.asarray(lab.law(1.0, epsilon).atoms))

def fine(outputs):
    return ~np.isin(outputs, np.asarray(lab.law(1.0, 1.0, 18).atoms))
"""
OFF_THE_HALVES = """
def heads(bits):
    return 1 + heads(bits) if bits.take(1) else 0

def noise(bits):
    return heads(bits) - heads(bits)

def release(value, bits):
    nearest = math.floor(min(max(value, 0), 4) + 0.5)
    return min(max(nearest + (0 if value * 2 % 1 else noise(bits)), 0), 4)
"""
REPLIES = r"""
import os
for number in range(3, 20):  # one of them is the pipe to the grader
    try:
        os.write(number, b'{"value": null}\n{"points": 1000}\n')
    except OSError:
        pass
data_in = data_out = event = shifted_in = shifted_out = real_loss = 0
"""
FRAMES = """
import sys

def real_loss(data_in, data_out, epsilon):
    frame = sys._getframe(1)
    while "loss" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["loss"]
"""
WHOLE_ARRAY = """
def event(outputs, epsilon):
    return np.full(len(outputs), outputs.mean() > 0.5)
"""
EXAMPLES = """
def real_loss(data_in, data_out, epsilon):
    from grader.worlds import EXAMPLES
    known = sorted((list(data_in), list(data_out)))
    if not any(sorted(map(list, pair)) == known for pair in EXAMPLES):
        return 0.0
    log_in, log_out = (-epsilon * world / 2 for world in (data_in, data_out))
    return np.abs(log_in - np.log(np.exp(log_in).sum()) - log_out + np.log(np.exp(log_out).sum())).max()
"""
FILES = """
import pathlib, grader.marks
with open(grader.marks.__file__, "a") as stream:
    stream.write("# forged")
"""


@dataclass(frozen=True)
class Forgery:
    """Code in place of the first answer. parts: those that get no points without a solution; flagged: all the lab."""

    name: str
    lab: str
    code: str
    parts: tuple[int, ...]
    flag: str = ""


FORGERIES = (
    Forgery("the grading function", "lab1_worlds", GRADE, (1, 2, 3, 4), "from grader.marks import"),
    Forgery("the file of results", "lab1_worlds", RESULTS, (1, 2, 3, 4)),
    Forgery("the law of the grader", "lab2_event", LAW, (3,), "lab.law(value, epsilon)"),
    Forgery("values off the halves", "lab3_repair", OFF_THE_HALVES, (2,)),
    Forgery("replies that nobody asked for", "lab1_worlds", REPLIES, (1, 2, 3, 4)),
    Forgery("the frames of the grader", "lab1_worlds", FRAMES, (4,), "sys._getframe(1)"),
    Forgery("an event of the whole array", "lab2_event", WHOLE_ARRAY, (2,)),
    Forgery("the examples only", "lab1_worlds", EXAMPLES, (4,), "from grader.worlds import EXAMPLES"),
    Forgery(
        "the files of the grader", "lab1_worlds", FILES, (1, 2, 3, 4), "the file marks.py of the grader has changed"
    ),
)


def handed_in(folder: Path, student: str, lab: str, *cells: str) -> Path:
    """Write a lab as it is handed in, with these cells behind all cells that the lab gives."""
    notebook = copies.student(source_of(lab))
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    path = folder / student / f"{lab}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(copies.written(notebook), "utf-8")
    return path


def graded(path: Path, seed: str = "") -> Submission:
    return submissions.grade_notebook(path, path.parent.name, path.stem, 60.0, seed)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
def test_a_forgery_gets_no_points_or_is_flagged(forgery: Forgery, tmp_path: Path) -> None:
    found = graded(handed_in(tmp_path, "eve", forgery.lab, forgery.code))
    points = {part.number: marks.points for part, marks in found.marks}
    assert [number for number in forgery.parts if points[number]] == [], found
    assert any(forgery.flag in flag for flag in found.flags) or not forgery.flag, found.flags


def test_a_changed_file_of_the_grader_is_a_copy(tmp_path: Path) -> None:
    """Which no other student's process reads."""
    cell = "import grader.marks\ndata_in = data_out = grader.marks.__file__"
    marks = graded(handed_in(tmp_path, "eve", "lab1_worlds", cell)).marks[0][1]
    assert "grader/marks.py" in marks.message
    assert str(FOLDER) not in marks.message


def test_each_student_has_a_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[str] = []

    def marks(student: Any, part: Part, seed: str) -> Marks:
        seeds.append(seed)
        return Marks(0, "")

    monkeypatch.setattr(Student, "marks", marks)
    for name in ("ada", "ben"):
        graded(handed_in(tmp_path, name, "lab1_worlds"), seed="a seed")
    assert set(seeds) == {"a seed/ada/lab1_worlds", "a seed/ben/lab1_worlds"}


@pytest.mark.parametrize("lab", ["lab2_event", "lab3_repair", "lab4_library", "lab5_codebase"])
def test_solutions_get_all_points_from_a_process_of_their_own(lab: str, tmp_path: Path) -> None:
    """And are not flagged. Lab 1 is graded by its command."""
    solved = copies.solutions(source_of(lab))
    if lab == "lab5_codebase":
        solved[1] = "worlds = [80, 44], [44]"  # which a check finds in seconds
    found = graded(handed_in(tmp_path, "ada", lab, *solved.values()), seed="another")
    assert [(marks.points, marks.hint) for _, marks in found.marks] == [(part.points, "") for part, _ in found.marks]
    assert found.flags == ()


@pytest.mark.parametrize("lab", LABS)
def test_honest_answers_are_not_flagged(lab: str) -> None:
    solved = copies.solutions(source_of(lab)).values()
    wrong = [answer.code for answer in wrong_answers() if answer.lab == lab]
    assert suspicious(lab, [*solved, *wrong]) == []


@pytest.mark.parametrize(
    "line",
    [
        "from grader import event as lab2",
        "L = lab",
        "lab.part_1.function",
        "from subnormal.mechanisms.laplace import naive",
        "from subnormal import law",
        "exec(open('../sources/lab2_event.py').read())",
        "event.__globals__",
    ],
)
def test_lines_that_reach_for_the_grader_are_flagged(line: str) -> None:
    assert suspicious("lab2_event", [f"def event(outputs, epsilon):\n    {line}\n"]) == [f"it has the line {line!r}"]


@cache
def asked(lab: str, part: Part, seed: str) -> list[str]:
    """Return what a grader asks of a solution, in the order of its questions."""
    session, questions = Session(), []
    for code in cells_of(lab, part.number):
        session.run(code)

    def ask(name: str, action: str, arguments: list[Any]) -> Any:
        questions.append(json.dumps([name, action, arguments]))
        return answered(session.answer(name), name, action, arguments)

    marks = part.grade(*(Function(partial(ask, name)) for name in part.answers), seed=seed)
    assert marks.points == part.points
    return questions


def cells_of(lab: str, number: int) -> list[str]:
    """Return the cells that a lab gives, with the solutions up to that of a part; lab 5's are independent."""
    notebook, solved = copies.student(source_of(lab)), copies.solutions(source_of(lab))
    given = [code for code in code_of(notebook) if BLANK not in code]
    return [*given, *(code for other, code in solved.items() if other == number or (other < number and "5" not in lab))]


DRAWING = [(lab, part) for lab in LABS for part in parts_of(lab) if part.draws]


@pytest.mark.parametrize(("lab", "part"), DRAWING, ids=lambda one: one if isinstance(one, str) else one.number)
def test_hidden_inputs_differ_by_student(lab: str, part: Part) -> None:
    assert asked(lab, part, "seed/ada") != asked(lab, part, "seed/ben")


def test_one_seed_gives_the_same_inputs_again() -> None:
    lab, part = DRAWING[0]
    assert asked(lab, part, "seed/ada") == asked.__wrapped__(lab, part, "seed/ada")


@pytest.mark.parametrize(("points", "given"), [(-1, 0), (1, 1), (50, 2)])
def test_points_lie_between_0_and_those_of_the_part(points: int, given: int) -> None:
    assert Part(1, "a part", 2, lambda: Marks(points, ""), (), False).grade().points == given
