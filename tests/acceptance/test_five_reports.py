"""One worker, two, a cluster, a cluster that loses a worker half-way, an audit that is killed: one report to the byte.

All of them with real processes. Rows that the clock decides are not reproducible, and are none of these.
"""

import json
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from subnormal.audit.commands.checkpoints import LOCK
from subnormal.audit.engine.checkpoint import NAME, TEMPORARY
from subnormal.audit.evidence import sampled
from tests.support.clusters import kill, started_scheduler, started_worker, wait_until
from tests.support.processes import SUBNORMAL, ended, started

FILES = ("report.json", "report.html")
MEMBERS = ("exponential-naive-float64", "exponential-exact", "laplace-exact", "laplace-naive-float64")
ATTACKS = ("zero-rounding", "least-significant-bits")
COMMAND = [
    *(*SUBNORMAL, "run", "--runs", "6000000"),
    *(word for name in ATTACKS for word in ("--attack", name)),
    *(word for name in MEMBERS for word in ("--mechanism", name)),
]
MACHINE = "environment"  # what a report says of where it was made


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
        assert row["sampled"]["runs"] == 6_000_000 - (0 if row["exact"] else sampled.PILOT)
    assert MACHINE in document


def test_two_workers(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    assert files(tmp_path, "--jobs", "2") == one_worker


def test_a_cluster(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    with (
        started_scheduler(tmp_path) as (_, address),
        started_worker(address, "first", tmp_path),
        started_worker(address, "second", tmp_path),
    ):
        assert files(tmp_path / "reports", "--cluster", address) == one_worker


def test_a_cluster_that_loses_a_worker_half_way(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    out = tmp_path / "reports"
    with (
        started_scheduler(tmp_path) as (_, address),
        started_worker(address, "first", tmp_path),
        started_worker(address, "second", tmp_path) as second,
        audit(out, "--cluster", address) as process,
    ):
        half_way(out, process)
        kill(second)
        _, errors = ended(process)
        assert process.returncode == 0, errors
    assert {name: (out / name).read_bytes() for name in FILES} == {name: one_worker[name] for name in FILES}


def test_an_audit_that_is_killed_and_resumed(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    with audit(tmp_path, "--jobs", "2") as process:
        half_way(tmp_path, process)
        process.send_signal(signal.SIGKILL)
        ended(process)
    assert NAME in (left := {path.name for path in tmp_path.iterdir()})
    assert left <= {NAME, TEMPORARY, LOCK}  # it may have been killed while it wrote; the lock is nobody's then
    assert files(tmp_path, "--jobs", "2", "--resume") == one_worker


def test_a_scheduler_that_is_lost_costs_nothing(tmp_path: Path, one_worker: dict[str, bytes]) -> None:
    out = tmp_path / "reports"
    with (
        started_scheduler(tmp_path) as (scheduler, address),
        started_worker(address, "only", tmp_path),
        audit(out, "--cluster", address) as process,
    ):
        half_way(out, process)
        kill(scheduler)
        printed, errors = ended(process)
    assert process.returncode == 2
    assert errors.splitlines() == [
        f"Error: --cluster: {address}: the scheduler is gone; --resume goes on from {out / NAME}"
    ]
    assert printed == ""
    assert files(out, "--jobs", "2", "--resume") == one_worker


def half_way(out: Path, process: subprocess.Popen[str]) -> None:
    """Wait until there is a checkpoint with counts of a row that is not complete."""
    path = out / NAME

    def begun() -> bool:
        assert process.poll() is None, "the audit has ended too soon"
        rows = json.loads(path.read_bytes())["rows"].values() if path.exists() else ()
        return any(0 < sum(map(sum, row["bins"])) < 12_000_000 for row in rows)

    wait_until(begun, "a checkpoint half-way")
    time.sleep(0.2)  # in the middle of what comes next
