"""Notebooks run as they are, and each .ipynb is the copy of its .py."""

from pathlib import Path
from typing import Any

import jupytext
import pytest
from nbclient import NotebookClient

from tests.support.paths import ROOT

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.py"))  # pictures.py is imported by them


def read(source: Path) -> Any:
    return jupytext.read(source)


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.filterwarnings("ignore")  # the kernel's own, not the project's
@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(source: Path) -> None:
    notebook = read(source)
    beside = {"metadata": {"path": str(FOLDER)}}  # where Jupyter starts the kernel of a notebook
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=beside).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_copy_with_outputs_has_the_same_cells(source: Path) -> None:
    copy = read(source.with_suffix(".ipynb"))
    cells = [(cell.cell_type, cell.source) for cell in read(source).cells]
    assert [(cell.cell_type, cell.source) for cell in copy.cells] == cells
    assert all(cell.get("execution_count") for cell in copy.cells if cell.cell_type == "code")
