"""Tasks on real Dask processes: the same to the byte, whoever dies, and whoever comes with other versions."""

import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import distributed
import pytest

from subnormal.audit.engine import dask_cluster, fingerprint
from subnormal.audit.engine.dask_cluster import ClusterError, cluster
from tests.support.clusters import (
    PATIENCE,
    counts,
    kill,
    results,
    slow_counts,
    started_scheduler,
    started_worker,
    wait_until,
)
from tests.support.paths import ROOT

ENDS = 20.0  # seconds on a busy machine: fewer than Dask waits by itself, and than tasks last that are left
BATCHES = [
    (attack, mechanism, batch, 4_000)
    for attack, mechanism in (
        ("zero-rounding", "exponential-naive-float64"),
        ("zero-rounding", "exponential-naive-float16"),
        ("zero-rounding", "exponential-exact"),
        ("least-significant-bits", "laplace-naive-float64"),
        ("least-significant-bits", "laplace-exact-base-e"),
        ("box-muller-inversion", "gaussian-naive-float32"),
    )
    for batch in range(3)
]
OLDER = (
    "import importlib.metadata as m; v = m.version; m.version = lambda name: '2.3.1' if name == 'numpy' else v(name)"
)
WITHOUT = "import sys; sys.modules['subnormal.audit'] = None"


def nobody_is_refused(line: str) -> None:
    raise AssertionError(line)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A scheduler with two workers."""
    with (
        started_scheduler(folder) as (_, address),
        started_worker(address, "first", folder),
        started_worker(address, "second", folder),
    ):
        yield address


def other_python(folder: Path, code: str) -> str:
    """Return a PYTHONPATH with which every interpreter begins with this code."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    return f"{folder}{os.pathsep}{ROOT}"


def test_an_error_of_a_task_is_its_own(address: str) -> None:
    with cluster(address, nobody_is_refused) as workers:
        assert isinstance(workers.submit(counts, "zero-roundin", "", 0, 1).exception(PATIENCE), LookupError)
        assert workers.submit(counts, *BATCHES[0]).result(PATIENCE) == counts(*BATCHES[0])


def test_who_joins_in_another_environment_is_refused_by_name(address: str, tmp_path: Path) -> None:
    told: list[str] = []
    with ExitStack() as held:
        workers = held.enter_context(cluster(address, told.append))
        older = other_python(tmp_path / "older", OLDER)
        without = other_python(tmp_path / "without", WITHOUT)
        stranger = held.enter_context(started_worker(address, "stranger", tmp_path, PYTHONPATH=older))
        held.enter_context(started_worker(address, "empty", tmp_path, PYTHONPATH=without))
        wait_until(lambda: bool(workers.window) and len(told) == 2, "two refusals")
        found = results(workers, slow_counts, [(batch, 0.01) for batch in range(20)])
        assert stranger.pid not in {process for process, _ in found}
        assert workers.window == 4
    by_name = {line.partition("(")[2].partition(")")[0]: line for line in told}
    numpy = fingerprint.fingerprint()["numpy"]
    assert by_name["stranger"].endswith(f"(stranger) is refused: numpy {numpy} here, 2.3.1 there")
    assert "is refused: it cannot run subnormal: ModuleNotFoundError" in by_name["empty"]
    assert all(line.startswith("worker tcp://127.0.0.1:") for line in told)


def test_who_takes_the_address_of_another_is_asked_again(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(dask_cluster, "POLL_INTERVAL", 1e3)  # only the tasks themselves can tell
    with ExitStack() as held:
        sound = held.enter_context(started_worker(address, "sound", tmp_path))
        workers = held.enter_context(cluster(address, told.append))
        wait_until(lambda: workers.window == 6, "all workers")
        kill(sound)
        listening = ("--worker-port", address_of(tmp_path / "sound").rpartition(":")[2])
        older = other_python(tmp_path / "older", OLDER)
        stranger = held.enter_context(started_worker(address, "heir", tmp_path, *listening, PYTHONPATH=older))
        processes = {process for process, _ in results(workers, slow_counts, [(batch, 0.05) for batch in range(20)])}
        assert stranger.pid not in processes
        assert len(processes) == 2
    assert len(told) == 1
    assert "2.3.1 there" in told[0]
    assert address_of(tmp_path / "heir") in told[0]


def address_of(folder: Path) -> str:
    """Return the address of a worker, from its log."""
    return (folder / "log").read_text().partition("Start worker at:")[2].split()[0]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make this process a machine with other exponentials."""
    monkeypatch.setattr(fingerprint, "exponentials", lambda: "0123456789abcdef")
    for cached in (fingerprint.fingerprint, fingerprint.digest):
        cached.cache_clear()
    yield
    for cached in (fingerprint.fingerprint, fingerprint.digest):
        cached.cache_clear()


@pytest.mark.usefixtures("elsewhere")
def test_when_all_workers_are_refused_there_is_no_audit(address: str) -> None:
    told: list[str] = []
    with pytest.raises(ClusterError, match=rf"^{address}: all its workers are refused$"), cluster(address, told.append):
        pass
    assert len(told) == 2
    assert all(line.endswith("the table of exponentials differs: another processor or math library") for line in told)


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What Dask tells its loggers, in a list."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    yield records
    for logger in loggers:
        logger.removeHandler(handler)


@pytest.mark.parametrize("absent", ["tcp://127.0.0.1:1", "nonsense://127.0.0.1", "127.0.0.1:port", ""])
def test_a_scheduler_that_is_not_there_is_one_line(
    absent: str, said: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "ANSWER_TIMEOUT", 1.0)
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"^no Dask scheduler at ") as caught, cluster(absent, nobody_is_refused):
        pass
    assert time.monotonic() - begun < ENDS
    assert repr(absent) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert said == []
    assert capfd.readouterr() == ("", "")


def test_who_opens_and_says_nothing_is_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "ANSWER_TIMEOUT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent_address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(ClusterError, match=rf"'{silent_address}': no answer in 1 s$"),
            cluster(silent_address, print),
        ):
            pass


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install -e '.\[cluster\]'"), cluster("", nobody_is_refused):
        pass


def test_an_interrupt_leaves_the_cluster_as_it_was(address: str) -> None:
    def interrupted() -> None:
        with cluster(address, nobody_is_refused) as workers:
            futures = [workers.submit(slow_counts, batch, 2.0) for batch in range(40)]
            futures[0].result(PATIENCE)
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                begun.append(time.monotonic())
        raise AssertionError("not reached")

    begun: list[float] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun[0] < ENDS
    with distributed.Client(address, set_as_default=False) as client:
        wait_until(lambda: not client.run_on_scheduler(tasks_left), "a scheduler without tasks")
    with cluster(address, nobody_is_refused) as workers:
        assert workers.submit(counts, *BATCHES[0]).result(PATIENCE) == counts(*BATCHES[0])


def tasks_left(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def test_a_task_that_ends_its_workers_ends_and_so_does_an_audit_without_its_scheduler(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    levels = {
        name: logging.getLogger(name).level for name in ("distributed", "distributed.client", "tornado", "asyncio")
    }
    with started_scheduler(tmp_path) as (scheduler, address):
        with monkeypatch.context() as hasty:
            hasty.setattr(dask_cluster, "ANSWER_TIMEOUT", 1.0)
            with (
                pytest.raises(ClusterError, match=rf"^{address}: the scheduler has no workers$"),
                cluster(address, print),
            ):
                pass
        with (
            started_worker(address, "again and again", tmp_path, "--nanny"),
            cluster(address, nobody_is_refused) as workers,
        ):
            fatal = workers.submit(os._exit, 1)
            wait_until(lambda: bool(workers.window) and fatal.done(), "the end of a task")
            assert fatal.cancelled() or isinstance(fatal.exception(), workers.worker_errors)
            assert results(workers, counts, BATCHES[:1]) == [counts(*BATCHES[0])]
            workers.submit(time.sleep, 60)
            kill(scheduler)
            with pytest.raises(ClusterError, match=rf"^{address}: the scheduler is gone$"):
                wait_until(lambda: not workers.window, "nothing")
    assert said == []
    assert capfd.readouterr() == ("", "")
    assert levels == {name: logging.getLogger(name).level for name in levels}
