"""Audits of a billion runs: time, memory, and what counting costs beside the draws."""

from __future__ import annotations

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave, scale
from benchmarks.conftest import Record
from benchmarks.results import Row

JOBS = 2
BATCHES = 32
NAME = f"{scale.MECHANISM}, {scale.OUTCOMES:,} outcomes"


def test_counting_beside_a_bare_loop(record: Record, benchmark: BenchmarkFixture) -> None:
    """The same draws, counted by an audit, and by numpy's bincount alone."""
    calls = scale.rivals(BATCHES)
    taken = interleave.medians(calls)
    name = f"{BATCHES} batches of an audit, counted: {NAME}"
    record(Row(name, "s", taken["ours"], taken["bare"], 1.3, rival="sample and bincount"))
    interleave.into_own_table(benchmark, calls["ours"])


def test_a_billion_runs(record: Record, benchmark: BenchmarkFixture) -> None:
    """Of each world, by two processes; the memory is that of the largest."""
    small, large, most = (scale.audited(runs, JOBS) for runs in (10**6, 10**8, 10**9))
    record(Row(f"10^9 runs of each world, {JOBS} processes: {NAME}", "s", most["seconds"], None, 60))
    record(
        Row(
            f"10^9 runs of each world, the largest process: {NAME}",
            "MiB",
            most["peak"],
            small["peak"],
            1.1,
            rival="10^6 runs",
        )
    )
    record(
        Row(
            f"10^8 runs of each world, the largest process: {NAME}",
            "MiB",
            large["peak"],
            small["peak"],
            1.1,
            rival="10^6 runs",
        )
    )
    interleave.into_own_table(benchmark, scale.rivals(1)["ours"])
