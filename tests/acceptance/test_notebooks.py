"""Notebooks run as they are, with their solutions and all positions of sliders; each .ipynb is the copy of its .py."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbclient.util import run_sync

from notebooks import explore
from tests.support.paths import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.py"))  # explore.py is imported by them

FORGET = "%reset -f"  # whatever the notebooks before have named
CLOCK = """\
import sys
import time
from types import SimpleNamespace
import subnormal.audit.check.check
for name, module in list(sys.modules.items()):  # the kernel's own loop keeps its clock
    if name.startswith("subnormal.audit.check") and hasattr(module, "time"):
        module.time = {clock}
"""
OWN_CLOCK = "SimpleNamespace(monotonic=time.process_time, perf_counter=time.process_time)"
SLIDE = """\
_.children[0].value = _.children[0].options[-1][1]  # the picture is an output of this cell, and so is its error
"""
EVERY_POSITION = """\
def draw_every_position(draw, **choices):
    from itertools import product
    from explore import positions
    failed = {}
    for values in product(*(positions(*choice) for choice in choices.values())):
        try:
            draw(**dict(zip(choices, values, strict=True)))
        except Exception as error:
            failed[values] = repr(error)
    assert not failed, f"positions of the sliders without a picture: {failed}"
"""


def read(source: Path) -> Any:
    return jupytext.read(source)


def code(source: str) -> Any:
    return jupytext.reads(f"# %%\n{source}", "py:percent").cells[0]


def with_solutions_and_sliders(notebook: Any) -> None:
    """Add what a student does: move the sliders to each combination of positions, and run the code of the solutions.

    One combination goes through the slider itself; the others call the function that draws, which is much quicker.

    What other processes of a busy machine take does not count: a check then has the seconds that it is given. Programs
    are other processes, whose time does count.
    """
    starts_programs = any("subnormal.audit.targets.program" in cell.source for cell in notebook.cells)
    cells = [code(CLOCK.format(clock="time" if starts_programs else OWN_CLOCK)), code(FORGET)]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            cells += map(code, re.findall(r"^```python\n(.*?)^```", cell.source, re.DOTALL | re.MULTILINE))
        elif re.search(r"^explore\(", cell.source, re.MULTILINE):
            cells += code(SLIDE), code(EVERY_POSITION + cell.source.replace("explore(", "draw_every_position(", 1))
    notebook.cells = cells


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """One kernel for all notebooks: to start it and to import there costs more than most of them. Not started yet."""
    manager: Any = NotebookClient(jupytext.reads("", "py:percent"), kernel_name="python3").create_kernel_manager()
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def execute(notebook: Any, kernel: Any) -> None:
    beside = {"metadata": {"path": str(FOLDER)}}  # where Jupyter starts the kernel of a notebook
    client: Any = NotebookClient(notebook, km=kernel, timeout=300, resources=beside)
    # A picture under sliders is an output of its cell here. The client would send it to the kernel, by the socket on
    # which it waits, and then often sleep through the cell's end until the timeout.
    client.widget_registry = {}
    try:
        client.execute()
    finally:
        client.kc.stop_channels()


@pytest.mark.filterwarnings("ignore")  # the kernel's own, not the project's
@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source: Path, kernel: Any) -> None:
    notebook = read(source)
    with_solutions_and_sliders(notebook)
    execute(notebook, kernel)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_a_slider_redraws_with_its_value_and_the_others_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, str]] = []
    monkeypatch.setattr(explore, "display", lambda figure: None)

    def draw(epsilon: float, kind: str) -> Figure:
        drawn.append((epsilon, kind))
        return Figure()

    controls = explore.explore(draw, epsilon=(0.3, [0.1, 0.5]), kind=("float64", ["float16", "float64"]))
    first, second, _ = controls.children
    assert [value for _, value in first.options] == [0.1, 0.3, 0.5]  # the cell to change may have any value
    second.value = "float16"
    first.value = 0.5
    assert drawn == [(0.3, "float64"), (0.3, "float16"), (0.5, "float16")]
    assert "Sliders" in repr(controls)  # what a page without widgets shows


FAILING = """\
from explore import explore
def draw(number):
    return 1 // number
"""


@pytest.mark.filterwarnings("ignore")  # the kernel's own
def test_an_error_takes_the_place_of_the_picture_under_the_sliders(kernel: Any) -> None:
    """In Jupyter the error of a callback goes to the log of the server; a student would see the picture of before."""
    notebook = jupytext.reads("", "py:percent")
    notebook.cells = [code(FAILING), code("explore(draw, number=(1, [1, 0]))"), code(SLIDE)]
    execute(notebook, kernel)
    assert [(output.output_type, output.ename) for output in notebook.cells[-1].outputs] == [
        ("error", "ZeroDivisionError")
    ]


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_with_outputs_has_the_same_cells(source: Path) -> None:
    copy = read(source.with_suffix(".ipynb"))
    cells = [(cell.cell_type, cell.source) for cell in read(source).cells]
    assert [(cell.cell_type, cell.source) for cell in copy.cells] == cells
    assert all(cell.get("execution_count") for cell in copy.cells if cell.cell_type == "code")
