"""One worker, two, a cluster, a cluster that loses a worker half-way, an audit that is killed: one report to the byte.

All of them with real processes. Rows that the clock decides are not reproducible, and are none of these.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from subnormal.audit.commands.checkpoints import LOCK
from subnormal.audit.engine.checkpoint import NAME, TEMPORARY
from subnormal.audit.evidence import sampled
from tests.support.clusters import Process, kill, started_scheduler, started_worker, wait_until
from tests.support.processes import ended, started

FILES = ("report.json", "report.html")
MEMBERS = ("exponential-naive-float64", "exponential-exact", "laplace-exact", "laplace-naive-float64")
ATTACKS = ("zero-rounding", "least-significant-bits")
RUNS = 1_500_000
SAVING = """
from subnormal.audit.__main__ import entry
from subnormal.audit.engine import scheduler
scheduler.SAVE_INTERVAL = 0.05  # so that a short audit is half-way for long
entry()
"""
COMMAND = [
    *(sys.executable, "-c", SAVING, "run", "--runs", str(RUNS)),
    *(word for name in ATTACKS for word in ("--attack", name)),
    *(word for name in MEMBERS for word in ("--mechanism", name)),
]
MACHINE = "environment"  # what a report says of where it was made


@dataclass(frozen=True)
class Cluster:
    """A scheduler and the second of its two workers, both to be killed."""

    address: str
    scheduler: Process
    second: Process


def audit(out: Path, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return started([*COMMAND, "--out", str(out), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def files(out: Path, *options: str) -> dict[str, bytes]:
    """Return what an audit has written, and what it has printed but for where."""
    with audit(out, *options) as process:
        printed, errors = ended(process)
    assert process.returncode == 0, errors
    assert not (out / NAME).exists()
    assert not (out / TEMPORARY).exists()
    return {name: (out / name).read_bytes() for name in FILES} | {"printed": printed.replace(str(out), "").encode()}


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return files(tmp_path_factory.mktemp("one"), "--jobs", "1")


def test_the_report_is_one_of_many_runs(one_worker: dict[str, bytes]) -> None:
    document = json.loads(one_worker["report.json"])
    rows = document["rows"]
    assert len(rows) == 4
    assert {row["reproducible"] for row in rows} == {True}
    for row in rows:  # without a law a pilot fixes the bins
        assert row["sampled"]["runs"] == RUNS - (0 if row["exact"] else sampled.PILOT)
    assert MACHINE in document


def test_two_workers(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    assert files(tmp_path, "--jobs", "2") == one_worker


def test_an_audit_that_is_killed_and_resumed(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    with audit(tmp_path, "--jobs", "2") as process:
        half_way(tmp_path, process)
        process.send_signal(signal.SIGKILL)
        ended(process)
    assert NAME in (left := {path.name for path in tmp_path.iterdir()})
    assert left <= {NAME, TEMPORARY, LOCK}  # it may have been killed while it wrote; the lock is nobody's then
    assert files(tmp_path, "--jobs", "2", "--resume") == one_worker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for the tests below, which take it apart: first a worker ends, then the scheduler."""
    folder = tmp_path_factory.mktemp("cluster")
    with (
        started_scheduler(folder) as (scheduler, address),
        started_worker(address, "first", folder),
        started_worker(address, "second", folder) as second,
    ):
        yield Cluster(address, scheduler, second)


def test_a_cluster(tmp_path: Path, cluster: Cluster, one_worker: dict[str, bytes]) -> None:
    assert files(tmp_path, "--cluster", cluster.address) == one_worker


def test_a_cluster_that_loses_a_worker_half_way(tmp_path: Path, cluster: Cluster, one_worker: dict[str, bytes]) -> None:
    assert cluster.second.poll() is None
    with audit(tmp_path, "--cluster", cluster.address) as process:
        half_way(tmp_path, process)
        kill(cluster.second)
        _, errors = ended(process)
        assert process.returncode == 0, errors
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == {name: one_worker[name] for name in FILES}


def test_a_scheduler_that_is_lost_costs_nothing(tmp_path: Path, cluster: Cluster, one_worker: dict[str, bytes]) -> None:
    assert cluster.scheduler.poll() is None
    kill(cluster.second)  # where it still lives: the only worker has all that is not counted
    with audit(tmp_path, "--cluster", cluster.address) as process:
        half_way(tmp_path, process)
        kill(cluster.scheduler)
        printed, errors = ended(process)
    assert process.returncode == 2
    assert errors.splitlines() == [
        f"Error: --cluster: {cluster.address}: the scheduler is gone; --resume goes on from {tmp_path / NAME}"
    ]
    assert printed == ""
    assert files(tmp_path, "--jobs", "2", "--resume") == one_worker


def half_way(out: Path, process: subprocess.Popen[str]) -> None:
    """Wait until there is a checkpoint with counts of a row that is not complete."""
    path = out / NAME

    def begun() -> bool:
        assert process.poll() is None, "the audit has ended too soon"
        rows = json.loads(path.read_bytes())["rows"].values() if path.exists() else ()
        return any(0 < sum(map(sum, row["bins"])) < 2 * RUNS for row in rows)

    wait_until(begun, "a checkpoint half-way")
    time.sleep(0.05)  # in the middle of what comes next
