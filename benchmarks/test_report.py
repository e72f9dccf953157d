"""Time of a whole report with its defaults, in a fresh process, where nobody else's libraries are installed."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.conftest import Record
from benchmarks.memory import LIMIT
from benchmarks.results import Row

ROOT = Path(__file__).parent.parent
ROUNDS = 3  # each takes many seconds
BOUND = 17  # seconds on the clock of an idle machine of two processors; 10 on a fast one


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
