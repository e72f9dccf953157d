"""Time of what users wait for: a whole report, a check beside the function that it calls, an import."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pytest
from hypothesis import strategies as st
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave
from benchmarks.conftest import Record
from benchmarks.memory import LIMIT
from benchmarks.results import Row
from subnormal import Claim, add_or_remove, check

ROOT = Path(__file__).parent.parent
ROUNDS = 3  # each takes many seconds
BOUND = 17  # seconds on the clock of an idle machine of two processors; 10 on a fast one

SECONDS = 20.0  # of a check
GRID = 1e-3  # so that no last bits convict, and the check goes on
FUNCTIONS = [(1e-6, "1 µs"), (1e-4, "100 µs"), (1e-2, "10 ms")]
IMPORTS = [("import subnormal", 0.05), ("from subnormal import check", 0.4)]


def test_a_report(record: Record, benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """On the clock, for whoever waits, which needs an idle machine; and on all processors together.

    In an environment of its own, as `make report` makes one: the libraries of the extras would add their own rows.
    """
    clock, processors = list[float](), list[float]()
    environment = tmp_path / "environment"
    install = ["-m", "pip", "--python", str(environment), "install", "--quiet", "--disable-pip-version-check"]
    _call(sys.executable, "-m", "venv", "--without-pip", str(environment))
    _call(sys.executable, *install, "--editable", str(ROOT))

    def report() -> None:
        started, before = time.perf_counter(), _processor_seconds()
        _call(str(environment / "bin" / "python"), "-m", "subnormal.audit", "run", "--out", str(tmp_path / "reports"))
        clock.append(time.perf_counter() - started)
        processors.append(_processor_seconds() - before)

    benchmark.pedantic(report, rounds=ROUNDS, iterations=1, warmup_rounds=1)  # type: ignore[no-untyped-call]
    record(Row("python -m audit run, by default, on the clock", "s", median(clock[1:]), None, BOUND))
    record(Row("python -m audit run, by default, on all processors", "s", median(processors[1:]), None))


def _call(*command: str) -> None:
    """Run a program, without the folders of this process's modules."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=tempfile.gettempdir(), check=True, capture_output=True, timeout=LIMIT, env=alone)


def _processor_seconds() -> float:
    """Return the seconds of processors that the children of this process took, in programs and in the kernel."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


@pytest.mark.parametrize(("seconds", "name"), FUNCTIONS)
def test_a_check(seconds: float, name: str, record: Record, benchmark: BenchmarkFixture) -> None:
    """A sound function, so that the check takes all its time."""
    function, data = working(seconds), st.lists(st.integers(0, 100))
    alone = interleave.medians({"alone": partial(function, [1, 2, 3])})["alone"]
    checked = partial(check, function, data, add_or_remove(), Claim(1.0, 0.01), seconds=SECONDS, grid=GRID)
    before = interleave.clock()
    result = benchmark.pedantic(checked)  # type: ignore[no-untyped-call]
    run = (interleave.clock() - before) / result.runs
    assert str(result.verdict) != "VIOLATED"
    told = f"a check of {SECONDS:g} s, function of {name}"
    record(Row(f"{told}: a run", "s", run, alone, rival="the function alone"))
    record(Row(f"{told}: runs in a second", "runs", 1 / run, None))
    record(Row(f"{told}: its own part of a minute", "s", 60 * (1 - alone / run), None))


def working(seconds: float) -> Callable[[list[int]], float]:
    """Return a noisy count that takes so long."""

    def noisy_count(records: list[int]) -> float:
        for _ in range(loops):
            pass
        return len(records) + random.gauss(0.0, 10.0)

    loops = 0
    least = interleave.medians({"least": lambda: noisy_count([])})["least"]
    loops = 1_000
    loop = (interleave.medians({"loops": lambda: noisy_count([])})["loops"] - least) / loops
    loops = round(max(0.0, seconds - least) / loop)
    return noisy_count


@pytest.mark.parametrize(("statement", "bound"), IMPORTS)
def test_imports(statement: str, bound: float, record: Record, benchmark: BenchmarkFixture) -> None:
    """In fresh processes, whose modules are compiled already."""
    code = f"import time; began = time.process_time(); {statement}; print(time.process_time() - began)"
    command = [sys.executable, "-c", code]
    taken = list[float]()

    def imported() -> None:
        taken.append(float(subprocess.run(command, capture_output=True, check=True).stdout))

    benchmark.pedantic(imported, rounds=interleave.ROUNDS, warmup_rounds=1)  # type: ignore[no-untyped-call]
    record(Row(statement, "s", median(taken), None, bound))
