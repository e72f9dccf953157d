"""Memory beyond the input."""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Record
from benchmarks.memory import CASES, allocated, one_draw, resident
from benchmarks.results import Row

BOUNDS = {
    "ten-million": ("one draw, n = 10^7, u random in 0…9", 64.0),
    "distinct": ("one draw, n = 75,000, u = 0…n−1", 32.0),
}


@pytest.mark.parametrize("case", BOUNDS)
def test_memory_beyond_the_input(case: str, record: Record, benchmark: BenchmarkFixture) -> None:
    """Peaks of one draw: of Python's allocator, and of a fresh process, tables included."""
    name, bound = BOUNDS[case]
    utilities = CASES[case]()
    peaks = {side: allocated(one_draw(utilities, side)) for side in ("exact", "naive")}
    record(Row(f"memory allocated: {name}", "MiB", peaks["exact"], None, bound))
    record(Row(f"memory allocated by plain floats: {name}", "MiB", peaks["naive"], None))
    grown = resident(case, "exact")
    if grown is not None:
        record(Row(f"resident memory of a fresh process: {name}", "MiB", grown, None, bound))
    interleave.into_own_table(benchmark, one_draw(utilities, "exact"))
