"""A frequency list of a million words, and how time and memory grow with the cells of the dynamic program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Record
from benchmarks.memory import allocated
from benchmarks.results import Row
from benchmarks.words import MILLION, frequencies
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.partitions import exact as partitions_exact
from subnormal.mechanisms.partitions.bounds import around, by_total
from subnormal.mechanisms.privacy import selection_eta

pytestmark = pytest.mark.benchmark(timer=interleave.clock, disable_gc=True)

BITS = system_bits()
ETA = selection_eta(1.0)
WIDTH = 64
SECONDS = 10.0
ROWS = (1_000, 2_000, 4_000, 8_000)
WIDTHS = (1 << 14, 1 << 15, 1 << 16, 1 << 17)  # from where numpy's price of a call is small beside that of its cells


def release(rows: int, width: int) -> Callable[[], object]:
    """Return the release of one list of so many counts, each between bounds of that width."""
    data = np.sort(np.random.default_rng(1).integers(0, 50_000, rows))[::-1]
    lower, upper = around(data, width)
    return partial(partitions_exact.sample, data, ETA, BITS, 1, lower=lower, upper=upper)


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """Return the slope of a line through the logarithms: 1 where costs grow like sizes."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def test_a_million_words(record: Record, benchmark: BenchmarkFixture) -> None:
    """One release, with bounds of width 64 around the list itself, and with those that hold for any million words."""
    data = frequencies()
    assert data.sum() == MILLION
    for described, (lower, upper) in (
        (f"bounds of width {WIDTH}", around(data, WIDTH)),
        ("y_i ≤ 10^6/i", by_total(MILLION, len(data))),
    ):
        call = partial(partitions_exact.sample, data, ETA, BITS, 1, lower=lower, upper=upper)
        taken = interleave.medians({"exact": call})["exact"]
        cells = int((upper - lower + 1).sum())
        name = f"one list of {MILLION:,} words, {len(data):,} counts, {described}: {cells:,} cells, ε = 1"
        record(Row(name, "s", taken, None, SECONDS))
    interleave.into_own_table(benchmark, release(1_000, WIDTH))


@pytest.mark.parametrize("grown", ["rows", "width"])
def test_costs_grow_linearly(grown: str, record: Record, benchmark: BenchmarkFixture) -> None:
    """The exponents of time and of memory, in the number of counts and in the width of their bounds."""
    sizes = ROWS if grown == "rows" else WIDTHS
    calls = {str(size): release(size, WIDTH) if grown == "rows" else release(50, size) for size in sizes}
    taken = interleave.medians(calls)
    times, peaks = [taken[str(size)] for size in sizes], [allocated(calls[str(size)]) for size in sizes]
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    fixed = f"{WIDTH} cells each" if grown == "rows" else "50 counts"
    what = f"{span} counts of {fixed}" if grown == "rows" else f"widths of {span}, {fixed}"
    record(Row(f"partitions, exponent of time: {what}", "exponent", exponent(sizes, times), None, 1.1))
    record(Row(f"partitions, exponent of memory: {what}", "exponent", exponent(sizes, peaks), None, 1.1))
    interleave.into_own_table(benchmark, calls[str(sizes[0])])
