"""The student's and the teacher's copy of a lab, from one source.

A source is a notebook in jupytext's percent format. What stands between the marks of nbgrader, `### BEGIN SOLUTION` and
`### END SOLUTION`, is not in the student's copy. Cells have nbgrader's metadata, so that it can grade them too.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jupytext

from teacher.cells import part_of

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BLANK = '# YOUR CODE HERE\nraise NotImplementedError("no answer yet")'
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
SOLUTION = re.compile(rf"^{BEGIN}\n(.*?)^{END}$", re.DOTALL | re.MULTILINE)

Notebook = dict[str, Any]


def student(source: Path) -> Notebook:
    """Return the notebook without its solutions."""
    return _copy(source, solved=False)


def teacher(source: Path) -> Notebook:
    """Return the notebook with its solutions."""
    return _copy(source, solved=True)


def written(notebook: Notebook) -> str:
    """Return a notebook as the text of its file, the same each time."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def solutions(source: Path) -> dict[int, str]:
    """Return the code of each solution, by the number of the first part that grades it."""
    found, waiting = {}, ""
    for cell in jupytext.read(source).cells:
        if cell.cell_type == "code" and (region := SOLUTION.search(cell.source)):
            waiting = region[1]
        number = part_of(cell.source)
        if number is not None and waiting:
            found[number], waiting = waiting, ""
    return found


def _copy(source: Path, *, solved: bool) -> Notebook:
    from grader.marks import parts_of

    points = {one.number: one.points for one in parts_of(source.stem)}
    cells = []
    for place, cell in enumerate(jupytext.read(source).cells):
        made = {"cell_type": cell.cell_type, "id": f"cell-{place}", "metadata": {}, "source": cell.source}
        if cell.cell_type == "code":
            made |= {"execution_count": None, "outputs": []}
            number = part_of(cell.source)
            if BEGIN in cell.source:
                made["metadata"] = _nbgrader(f"answer-{place}", solution=True)
                made["source"] = cell.source if solved else SOLUTION.sub(lambda _: BLANK, cell.source)
            elif number is not None:
                made["metadata"] = _nbgrader(f"part-{number}", grade=True, locked=True, points=points[number])
        made["source"] = made["source"].splitlines(keepends=True)
        cells.append(made)
    return {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}


def _nbgrader(name: str, **fields: Any) -> dict[str, Any]:
    cell = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": cell | fields}
