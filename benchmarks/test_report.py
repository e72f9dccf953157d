"""Time of a whole report with its defaults, in a fresh process."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.conftest import Record
from benchmarks.memory import LIMIT
from benchmarks.results import Row

ROUNDS = 3  # each takes many seconds
BOUND = 17  # seconds on the clock of an idle machine of two processors; 10 on a fast one


def test_a_report(record: Record, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """On the clock, for whoever waits, which needs an idle machine; and on all processors together."""
    clock, processors = list[float](), list[float]()
    command = [sys.executable, "-m", "subnormal.audit", "run"]

    def report() -> None:
        started, before = time.perf_counter(), _processor_seconds()
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=LIMIT)
        clock.append(time.perf_counter() - started)
        processors.append(_processor_seconds() - before)

    benchmark.pedantic(report, rounds=ROUNDS, iterations=1)  # type: ignore[no-untyped-call]
    record(Row("python -m audit run, by default, on the clock", "s", median(clock), None, BOUND))
    record(Row("python -m audit run, by default, on all processors", "s", median(processors), None))


def _processor_seconds() -> float:
    """Return the seconds of processors that the children of this process took, in programs and in the kernel."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
