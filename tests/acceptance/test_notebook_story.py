"""Notebooks are fit for a class: a claim first, short cells, pictures without plotting code, closed solutions."""

import ast
import re
from pathlib import Path
from typing import Any

import jupytext
import pytest

from tests.support.paths import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
PICTURES = {"picture", "cells", "ticks", "side_by_side"}  # of subnormal.plots
VISIBLE_LINES = 15  # of a cell
BEFORE_THE_FIRST_PICTURE = 30  # visible lines of code, in all
HEAD_WORDS = 130
MINUTES = 12

each_notebook = pytest.mark.parametrize("source", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(source: Path) -> list[Any]:
    return list(jupytext.read(source).cells)


def folded(cell: Any) -> bool:
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def lines_of(cell: Any) -> list[str]:
    return [line for line in cell.source.split("\n") if line.strip()]


def visible(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if cell.cell_type == "code" and not folded(cell)]


def calls(cell: Any) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]


def named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


@each_notebook
def test_the_head_has_the_claim_the_mechanism_and_the_minutes(source: Path) -> None:
    head = " ".join(cells_of(source)[0].source.split())
    assert head.startswith("# ")
    for part in ("**Claim.**", "**Mechanism.**", "**You will see**"):
        assert head.count(part) == 1, part
    (minutes,) = re.findall(r"\*\*To present: (\d+) minutes", head)
    assert int(minutes) <= MINUTES
    assert len(head.split()) <= HEAD_WORDS


@each_notebook
def test_cells_that_are_read_are_short(source: Path) -> None:
    shown = visible(cells_of(source))
    assert {cell.source: len(lines_of(cell)) for cell in shown if len(lines_of(cell)) > VISIBLE_LINES} == {}


@each_notebook
def test_a_picture_takes_one_visible_line(source: Path) -> None:
    cells = cells_of(source)
    assert not [
        cell.source for cell in cells if cell.cell_type == "code" and re.search("matplotlib|plt\\.", cell.source)
    ]
    drawn = [call for cell in visible(cells) for call in calls(cell) if named(call) in PICTURES]
    assert not [ast.unparse(call) for call in drawn if call.end_lineno != call.lineno]


@each_notebook
def test_few_lines_of_code_stand_before_the_first_picture(source: Path) -> None:
    cells = cells_of(source.with_suffix(".ipynb"))
    shows = ["image/png" in str(cell.get("outputs", "")) for cell in cells]
    before = visible(cells[: shows.index(True)])
    assert sum(len(lines_of(cell)) for cell in before) <= BEFORE_THE_FIRST_PICTURE


@each_notebook
def test_a_folded_cell_is_folded_in_jupyter_and_in_a_book(source: Path) -> None:
    for cell in cells_of(source):
        assert folded(cell) == ("hide-input" in cell.metadata.get("tags", [])), cell.source


@each_notebook
def test_there_is_one_set_of_sliders_below_a_picture(source: Path) -> None:
    (cell,) = [cell for cell in visible(cells_of(source.with_suffix(".ipynb"))) if "explore" in map(named, calls(cell))]
    picture, sliders = (set(output.get("data", {})) for output in cell.outputs)
    assert "image/png" in picture
    assert "application/vnd.jupyter.widget-view+json" in sliders
    assert 1 <= sum(len(call.keywords) for call in calls(cell) if named(call) == "explore") <= 3


@each_notebook
def test_solutions_are_closed(source: Path) -> None:
    cells = cells_of(source)
    (first,) = [at for at, cell in enumerate(cells) if re.search("^## Exercises", cell.source, re.MULTILINE)]
    assert all(cell.cell_type == "markdown" for cell in cells[first:])  # code would stand open, and its output
    text = "\n".join(cell.source for cell in cells)
    opened = re.sub("<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "Solution" not in opened
    assert not re.search("<details +open", text)
