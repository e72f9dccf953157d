"""The table of a run: what was measured, against what, and whether it keeps its bound."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HEADER = ("row", "exact", "against", "ratio", "bound", "met?")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison, in seconds or in MiB. The bounds are on exact/against, or on exact where nothing is against."""

    name: str
    unit: str
    exact: float
    against: float | None
    at_most: float | None = None
    at_least: float = 0.0
    rival: str = ""

    @property
    def value(self) -> float:
        """What the bound is about."""
        return self.exact if self.against is None else self.exact / self.against

    @property
    def met(self) -> bool:
        """Whether the bound is kept; true where there is none."""
        return self.at_least <= self.value <= (np.inf if self.at_most is None else self.at_most)

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        against = "" if self.against is None else f"{_quantity(self.against, self.unit)} {self.rival}".strip()
        ratio = "" if self.against is None else f"{self.value:.3f}"
        met = "" if self.at_most is None else "yes" if self.met else "NO"
        return (self.name, _quantity(self.exact, self.unit), against, ratio, self._bound(), met)

    def _bound(self) -> str:
        if self.at_most is None:
            return ""
        bound = f"{self.at_most:g}" + (f" {self.unit}" if self.against is None else "")
        return f"{self.at_least:g} to {bound}" if self.at_least else f"≤ {bound}"


def _quantity(value: float, unit: str) -> str:
    if unit == "s":
        unit, scale = next((pair for pair in (("s", 1.0), ("ms", 1e-3)) if value >= pair[1]), ("µs", 1e-6))
        value /= scale
    return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as an aligned Markdown table."""
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([text[0], rule, *text[1:]])


def document(rows: Sequence[Row]) -> str:
    """Return the text of results.md."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    return f"""# What exactness costs

Written by `make bench` ({versions}). Medians of at least 15 rounds, processor time, both sides turn by turn in one
process and in random order. A bound is on the ratio exact/against, or on the quantity itself where nothing is against.
Unless a row says more: η = 1, `system_bits`, against numpy in float64 (`benchmarks/naive.py`). The tables that a
process makes once are made before the clock starts.

{table(rows)}
"""
