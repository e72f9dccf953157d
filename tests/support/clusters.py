"""A Dask scheduler and workers as processes of their own, on the loopback interface alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from subnormal.attacks import catalogue
from subnormal.audit.engine.process_pool import Executor
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member
from tests.support.paths import ROOT

PATIENCE = 30.0  # seconds for a process to start on a busy machine
LOOPBACK = "127.0.0.1"
Process = subprocess.Popen[bytes]


@contextmanager
def started_scheduler(folder: Path) -> Iterator[tuple[Process, str]]:
    """Give a scheduler's process and its address. It is killed at the end, if nobody has done so before."""
    told = folder / "scheduler.json"
    with _started("scheduler", folder, "--port", "0", "--scheduler-file", str(told)) as process:
        wait_until(lambda: told.exists() and told.stat().st_size > 0, "a scheduler", process)  # it is made, then filled
        yield process, str(json.loads(told.read_text())["address"])


@contextmanager
def started_worker(address: str, name: str, folder: Path, *options: str, **variables: str) -> Iterator[Process]:
    """Give the process of a worker of one thread that has joined; the variables are its environment's, beside ours.

    Without a nanny, unless "--nanny" is among the options: killing the process kills the worker.
    """
    told = folder / name
    told.mkdir()
    nanny = [] if "--nanny" in options else ["--no-nanny"]
    arguments = (address, "--name", name, "--nthreads", "1", "--local-directory", str(told), *nanny, *options)
    with _started("worker", told, *arguments, **variables) as process:
        wait_until(lambda: b"Registered to" in (told / "log").read_bytes(), f"worker {name}", process)
        yield process


@contextmanager
def _started(kind: str, folder: Path, *arguments: str, **variables: str) -> Iterator[Process]:
    """Give `dask scheduler` or `dask worker`, its log in the folder, in a group of its own: a nanny has children."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments]
    command += ["--host", LOOPBACK, "--dashboard-address", f"{LOOPBACK}:0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", **variables}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, process_group=0
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process: Process) -> None:
    """Kill a process and its children with SIGKILL, and wait for it."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.wait(PATIENCE)


def wait_until(so: Callable[[], bool], what: str, process: Process | None = None) -> None:
    """Wait until something is so. Raises AssertionError, with what was waited for, when it takes too long."""
    deadline = time.monotonic() + PATIENCE
    while not so():
        ended = process is not None and process.poll() is not None
        if ended or time.monotonic() > deadline:
            raise AssertionError(f"{what}: {'it has ended' if ended else f'nothing for {PATIENCE:g} s'}")
        time.sleep(0.02)


def results(
    executor: Executor,
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    each: Callable[[Any], None] = lambda result: None,
) -> list[Any]:
    """Give the results of calls, submitted as by an audit, again where workers died. each: called with each result."""
    left, running, found = list(enumerate(calls)), dict[Future[Any], tuple[int, Any]](), dict[int, Any]()
    deadline = time.monotonic() + PATIENCE
    while len(found) < len(calls):
        assert time.monotonic() < deadline, f"{len(found)} of {len(calls)} results"
        window = executor.window
        while left and len(running) < window:
            place, arguments = left.pop(0)
            running[executor.submit(function, *arguments)] = place, arguments
        for future in wait(running, 0.1, FIRST_COMPLETED).done:
            place, arguments = running.pop(future)
            if future.cancelled() or isinstance(future.exception(), executor.worker_errors):
                left.append((place, arguments))
            else:
                found[place] = future.result()
                each(found[place])
    return [found[place] for place in range(len(calls))]


def counts(attack: str, mechanism: str, batch: int, runs: int) -> tuple[tuple[int, str], ...]:
    """For a worker to run: how often the event happened in each world, and a digest of all that was drawn."""
    found, (tried, sampler) = [], (catalogue.attack(attack), member(mechanism))
    for world, data in zip(("in", "out"), tried.worlds(), strict=True):
        bits = seeded_bits(1, attack, mechanism, world, batch)
        outcomes = sampler.sample(data, tried.parameters, bits, runs)
        assert tried.event is not None
        drawn = blake2b(tried.statistic(outcomes).tobytes(), digest_size=8).hexdigest()
        found.append((int(tried.event(outcomes).sum()), drawn))
    return tuple(found)


def slow_counts(batch: int, seconds: float) -> tuple[int, tuple[tuple[int, str], ...]]:
    """For a worker to run: its process, and the counts of a batch after so many seconds."""
    time.sleep(seconds)
    return os.getpid(), counts("zero-rounding", "exponential-exact", batch, 1_000)
