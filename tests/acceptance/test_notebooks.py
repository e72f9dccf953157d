"""Notebooks run as they are, with their solutions and their sliders, and each .ipynb is the copy of its .py."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import pytest
from nbclient import NotebookClient
from nbclient.util import run_sync

from tests.support.paths import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.py"))  # pictures.py and explore.py are imported by them

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
controls = _
for slider in controls.children[:-1]:
    slider.value = slider.options[-1][1]  # an error of the picture is one of this cell
"""


def read(source: Path) -> Any:
    return jupytext.read(source)


def code(source: str) -> Any:
    return jupytext.reads(f"# %%\n{source}", "py:percent").cells[0]


def with_solutions_and_sliders(notebook: Any) -> None:
    """Add what a student does: move each slider to its end, and run the code of the solutions.

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
            cells.append(code(SLIDE))
    notebook.cells = cells


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """One kernel for all notebooks: to start it and to import there costs more than most of them. Not started yet."""
    manager: Any = NotebookClient(jupytext.reads("", "py:percent"), kernel_name="python3").create_kernel_manager()
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


@pytest.mark.filterwarnings("ignore")  # the kernel's own, not the project's
@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source: Path, kernel: Any) -> None:
    notebook = read(source)
    with_solutions_and_sliders(notebook)
    beside = {"metadata": {"path": str(FOLDER)}}  # where Jupyter starts the kernel of a notebook
    client: Any = NotebookClient(notebook, km=kernel, timeout=300, resources=beside)
    # A picture under sliders is an output of its cell here. The client would send it to the kernel, by the socket on
    # which it waits, and then often sleep through the cell's end until the timeout.
    client.widget_registry = {}
    try:
        client.execute()
    finally:
        client.kc.stop_channels()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_with_outputs_has_the_same_cells(source: Path) -> None:
    copy = read(source.with_suffix(".ipynb"))
    cells = [(cell.cell_type, cell.source) for cell in read(source).cells]
    assert [(cell.cell_type, cell.source) for cell in copy.cells] == cells
    assert all(cell.get("execution_count") for cell in copy.cells if cell.cell_type == "code")
