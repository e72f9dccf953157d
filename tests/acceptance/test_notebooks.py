"""Notebooks run as they are, with their solutions and their sliders moved; each .ipynb is the copy of its .py."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jupytext
import pytest
from matplotlib.figure import Figure

from notebooks import explore
from tests.support.jupyter import cell_of, execute, kernel_of_many
from tests.support.paths import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted([*FOLDER.glob("[0-9]*.py"), *FOLDER.glob("decks/*.py")])  # explore.py is imported by them

CLOCK = """\
import re
import sys
import time
from types import SimpleNamespace
import subnormal.audit.check.check
for name, module in list(sys.modules.items()):  # the kernel's own loop keeps its clock
    if re.match(r"subnormal\\.audit\\.(check|clock|laws)", name) and hasattr(module, "time"):
        module.time = {clock}
%reset -f
"""
OWN_CLOCK = "SimpleNamespace(monotonic=time.process_time, perf_counter=time.process_time)"
SLIDE = """\
_.children[0].value = _.children[0].options[-1][1]
"""
# Each position of each slider, with the others where they begin, and with the others at their ends.
POSITIONS = """\
def draw_positions(draw, **choices):
    from explore import positions
    sliders = {name: positions(*choice) for name, choice in choices.items()}
    begun = {name: first for name, (first, _) in choices.items()}
    ends = {name: values[-1] for name, values in sliders.items()}
    failed = []
    for others in (begun, ends):
        for name, values in sliders.items():
            for value in values:
                try:
                    draw(**{**others, name: value})
                except Exception as error:
                    failed.append(({**others, name: value}, repr(error)))
    assert not failed, f"positions of the sliders without a picture: {failed}"
"""


def read(source: Path) -> Any:
    return jupytext.read(source)


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda source: str(source.stem))
def test_imports_names_that_exist(source: Path) -> None:
    """In no time: running a notebook takes longer than the tests of every day may."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("subnormal"):
            exec(ast.unparse(node), {})


def with_solutions_and_sliders(notebook: Any) -> None:
    """Add what a student does: move the sliders, and run the code of the solutions.

    One combination goes through the slider itself; the others call the function that draws, which is much quicker.

    What other processes of a busy machine take does not count: a check then has the seconds that it is given. Programs
    are other processes, whose time does count.
    """
    starts_programs = any("subnormal.audit.targets.program" in cell.source for cell in notebook.cells)
    cells = [cell_of(CLOCK.format(clock="time" if starts_programs else OWN_CLOCK))]
    for cell in notebook.cells:
        cell.source = re.sub(r"^ROUNDS = \d+", "ROUNDS = 1", cell.source, flags=re.MULTILINE)  # of measuring times
        cells.append(cell)
        if cell.cell_type == "markdown":
            cells += map(cell_of, re.findall(r"^```python\n(.*?)^```", cell.source, re.DOTALL | re.MULTILINE))
        elif re.search(r"^explore\(", cell.source, re.MULTILINE):
            cells += cell_of(SLIDE), cell_of(POSITIONS + cell.source.replace("explore(", "draw_positions(", 1))
    notebook.cells = cells


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    with kernel_of_many() as kernel:
        yield kernel


@pytest.mark.filterwarnings("ignore")  # the kernel's own, not the project's
@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source: Path, kernel: Any) -> None:
    notebook = read(source)
    with_solutions_and_sliders(notebook)
    outputs = [output for cell in execute(notebook, kernel, FOLDER) for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_a_slider_redraws_with_its_value_and_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, str]] = []
    titles: list[str] = []

    def display(figure: Figure, display_id: bool = False) -> Any:
        titles.append(figure.get_suptitle())
        return SimpleNamespace(update=display)

    monkeypatch.setattr(explore, "display", display)

    def draw(epsilon: float, kind: str) -> Figure:
        drawn.append((epsilon, kind))
        figure = Figure()
        figure.suptitle("own")
        return figure

    controls = explore.explore(draw, epsilon=(0.3, [0.1, 0.5]), kind=("float64", ["float16", "float64"]))
    first, second = controls.children
    assert [value for _, value in first.options] == [0.1, 0.3, 0.5]  # the cell to change may have any value
    second.value = "float16"
    first.value = 0.5
    assert drawn == [(0.3, "float64"), (0.3, "float16"), (0.5, "float16")]
    assert titles[-1] == "ε = 0.5, kind = float16\nown"
    assert "Sliders" in repr(controls)  # what a page without widgets shows


FAILING = """\
from explore import explore
from matplotlib.figure import Figure
def draw(number):
    return Figure(figsize=(1 // number, 1))
"""


@pytest.mark.filterwarnings("ignore")  # the kernel's own
def test_an_error_takes_the_place_of_the_picture_above_the_sliders(kernel: Any) -> None:
    """In Jupyter the error of a callback goes to the log of the server; a student would see the picture of before."""
    notebook = jupytext.reads("", "py:percent")
    notebook.cells = [cell_of(FAILING), cell_of("explore(draw, number=(1, [1, 0]))"), cell_of(SLIDE)]
    picture, _ = execute(notebook, kernel, FOLDER)[-2].outputs
    assert picture.data["text/plain"].startswith("ZeroDivisionError: ")
    assert "image/png" not in picture.data


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_with_outputs_has_the_same_cells(source: Path) -> None:
    copy = read(source.with_suffix(".ipynb"))
    cells = [(cell.cell_type, cell.source) for cell in read(source).cells]
    assert [(cell.cell_type, cell.source) for cell in copy.cells] == cells
    assert all(cell.get("execution_count") for cell in copy.cells if cell.cell_type == "code")
