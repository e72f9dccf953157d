"""The table of a run: what was measured, against what, and whether it keeps its bound."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from subnormal.mechanisms.families import installed

HEADER = ("row", "exact", "against", "ratio", "bound", "met?", "floor")
RIVALS = ("jax", "jax-privacy", "opendp")  # libraries beside which noise is measured, where they are installed


@dataclass(frozen=True, slots=True)
class Floor:
    """What the work of a row cannot do without: a pass over its input, bytes read or written, random bits.

    one_pass: seconds of np.min over the input; None where there is no input to speak of.
    """

    one_pass: float | None = None
    moved: int = 0
    bits: int = 0

    def text(self, seconds: float) -> str:
        """Return the floor in words, for a row that takes so long."""
        parts = []
        if self.one_pass is not None:
            parts.append(f"a pass {_quantity(self.one_pass, 's')}, exact takes {seconds / self.one_pass:.1f}")
        if self.moved:
            unit, size = next(pair for pair in (("MB", 1e6), ("kB", 1e3), ("bytes", 1)) if self.moved >= pair[1])
            parts.append(f"{self.moved / size:.3g} {unit} moved")
        if self.bits:
            parts.append(f"{self.bits:.3g} bits drawn")
        return "; ".join(parts)


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
    floor: Floor = Floor()

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
        floor = self.floor.text(self.exact)
        return (self.name, _quantity(self.exact, self.unit), against, ratio, self._bound(), met, floor)

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
    processor = f"{os.cpu_count()} × {_processor()}"
    return f"""# What exactness costs

Written by `make bench` ({versions}) on {processor}. Medians of at least 15 rounds, processor
time, both sides turn by turn in one process and in random order. A bound is on the ratio exact/against, or on the
quantity itself where nothing is against.
Unless a row says more: η = 1, `system_bits`, against numpy in float64 (`benchmarks/naive.py`). The tables that a
process makes once are made before the clock starts. The floor is what the work cannot do without: one pass (`np.min`)
over the input, the bytes of the input and of what is returned, and the random bits that one call took.{_absent()}

{table(rows)}
"""


def _processor() -> str:
    """Return the name of the processor, and whether it has the instructions that count here."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # another system
        return platform.processor() or platform.machine()
    known = dict(line.split(":", 1) for line in told.splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in known.items()}
    flags = fields.get("flags", "").split()
    names = [f"{name} {'yes' if flag in flags else 'no'}" for name, flag in (("AVX-512", "avx512f"), ("VAES", "vaes"))]
    return f"{fields.get('model name', platform.machine())} ({', '.join(names)})"


def _absent() -> str:
    """Return the sentence that names the libraries that were not measured."""
    missing = [name for name in RIVALS if installed(name) is None]
    return f"\nNot installed, so not measured: {', '.join(missing)}." if missing else ""
