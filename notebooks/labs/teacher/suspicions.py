"""Lines of a notebook that reach for the grader or for an answer of the library: a teacher should look at them."""

from __future__ import annotations

import json
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
SOURCES = FOLDER / "sources"
WORDS = r"grader|teacher|sources|importlib|getattr|setattr|eval|exec|compile|globals|vars|inspect|gc|ctypes"
REACHES = rf"(?<![\w.])({WORDS})\b|\bsubnormal(\.|.*\blaw\b)|__\w+__|\b_getframe\b|\bsys\.modules\b"


def suspicious(lab: str, cells: list[str]) -> list[str]:
    """Return the suspicious lines of a notebook's cells: no line that the lab gives, nor a use of `lab` that it shows.

    No list of words finds everything: a line that is named costs no points, and other lines may cheat too.
    """
    source = (SOURCES / f"{lab}.py").read_text("utf-8")
    shown = "|".join(sorted(set(re.findall(r"\blab\.(\w+)", source))))
    reaches = re.compile(rf"{REACHES}|\blab\b(?!\.({shown})\b(?!\.))")
    lines = [line.strip() for line in own_lines(lab, cells)]
    return [f"it has the line {line!r}" for line in lines if reaches.search(line)]


def own_lines(lab: str, cells: list[str]) -> list[str]:
    """Return the lines of a notebook's cells that the students' copy of the lab does not have."""
    notebook = json.loads((FOLDER / f"{lab}.ipynb").read_text("utf-8"))
    given = {line.strip() for cell in notebook["cells"] for line in cell["source"]}
    return [line for code in cells for line in code.splitlines() if line.strip() not in given]
