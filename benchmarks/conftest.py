"""Collects the rows of a run, prints them at its end, and writes results.md on request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.results import Floor, Row, document, table
from subnormal.mechanisms.bits import BitSource

RESULTS = Path(__file__).with_name("results.md")
ROWS = pytest.StashKey[list[Row]]()

Record = Callable[[Row], None]
Duel = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes results.md."""
    parser.addoption("--write-results", action="store_true", help=f"write the table of ratios to {RESULTS.name}")


@pytest.fixture
def record(request: pytest.FixtureRequest, benchmark: BenchmarkFixture) -> Record:
    """Add a row to the table."""

    def add(row: Row) -> None:
        request.config.stash.setdefault(ROWS, []).append(row)
        benchmark.extra_info[row.name] = {"exact": row.exact, "against": row.against, "met": row.met}

    return add


@pytest.fixture
def duel(record: Record, benchmark: BenchmarkFixture) -> Duel:
    """Time two functions turn by turn, and add a row with its floor: a pass over an array, and what `bits` hand out."""

    def fight(
        name: str,
        exact: Callable[[], object],
        against: Callable[[], object],
        at_most: float | None = None,
        rival: str = "",
        bits: BitSource | None = None,
        over: NDArray[Any] | None = None,
    ) -> None:
        calls = {"exact": exact, "against": against}
        if over is not None:
            calls["pass"] = partial(np.min, over)
        taken, before = interleave.medians(calls), bits.consumed if bits else 0
        returned = exact()
        moved = sum(array.nbytes for array in (over, returned) if isinstance(array, np.ndarray))
        floor = Floor(taken.get("pass"), moved, bits.consumed - before if bits else 0)
        record(Row(name, "s", taken["exact"], taken["against"], at_most, rival=rival, floor=floor))
        interleave.into_own_table(benchmark, exact)

    return fight


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, times first, and write it where asked to."""
    found: list[Row] = config.stash.get(ROWS, [])
    rows = sorted(found, key=lambda row: row.unit, reverse=True)
    if not rows:
        return
    terminalreporter.section("what exactness costs")
    terminalreporter.write_line(table(rows))
    if config.getoption("--write-results"):
        RESULTS.write_text(document(rows), encoding="utf-8")
        terminalreporter.write_line(f"written to {RESULTS}")
