"""Where tasks are done: here, or in worker processes that never outlive the audit and that may die.

An executor has submit(function, *arguments) -> Future, as those of concurrent.futures, and a window: how many futures
are worth having at a time. `subnormal.audit.engine.dask_cluster` has one more.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process, resource_tracker
from types import ModuleType
from typing import Any, Protocol

from subnormal.audit.interrupts import defer

GRACE = 5.0  # seconds for a worker that is terminated
_HIDING = threading.Lock()


class Executor(Protocol):
    """Does tasks: module-level functions of arguments that can be pickled."""

    @property
    def window(self) -> int:
        """How many futures are worth having at a time."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a task."""


class Here:
    """Does each task at once, in this process."""

    window = 1

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a task, done already."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes:
    """Does tasks in processes, one at a time in each, so that one which dies takes no other task along."""

    def __init__(self, count: int) -> None:
        self.window = count
        self._pools = [_pool() for _ in range(count)]
        self._last: list[Future[Any] | None] = [None] * count

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a task, in a process that is free where there is one.

        It is pickled here and unpickled by the task itself: what goes wrong then ends no worker.
        """
        try:
            call = pickle.dumps((function, arguments))
        except Exception as error:  # whatever its parts raise
            unsent: Future[Any] = Future()
            unsent.set_exception(error)
            return unsent
        with _undisturbed(), _main_hidden():
            return self._submitted(call)

    def _submitted(self, call: bytes) -> Future[Any]:
        free = (place for place, future in enumerate(self._last) if future is None or future.done())
        place = next(free, 0)
        try:
            future = self._pools[place].submit(_call, call)
        except BrokenProcessPool:  # by its last task
            self._pools[place] = _pool()
            future = self._pools[place].submit(_call, call)
        self._last[place] = future
        return future

    def shutdown(self, *, cancel: bool = False) -> None:
        """End the processes; those of other executors are left alone."""
        for pool in self._pools:
            pool.shutdown(wait=not cancel, cancel_futures=cancel)


@contextmanager
def local(jobs: int | None = None) -> Iterator[Executor]:
    """Give an executor on this machine: this process for one job, else as many worker processes (None: one a core)."""
    count = cores() if jobs is None else jobs
    if count == 1:
        yield Here()
        return
    others = active_children()
    processes = Processes(count)
    try:
        yield processes
    except BaseException:
        workers = set(active_children()) - set(others)
        for worker in workers:  # they ignore the interrupt, and print no tracebacks
            worker.terminate()
        for worker in workers:  # a pool would write good-byes to those that live, and print where they do not arrive
            worker.join(GRACE)
        processes.shutdown(cancel=True)
        raise
    processes.shutdown()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off an interrupt while a worker may be starting, which would end with a traceback of its own.

    It is put off, because any thread may take the signal; it is blocked, because what starts now inherits that.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which unblocks the signal when it has started
    with defer():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Hide the main module while a worker may be starting, which would import it: a script would run a second time.

    No task needs it. What is defined there cannot be unpickled by a worker, so it is done in this process.
    """
    with _HIDING:  # two threads would restore each other's
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _call(pickled: bytes) -> Any:
    function, arguments = pickle.loads(pickled)
    return function(*arguments)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), _prepare)


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()  # returns when the audit is gone, however it went
        os._exit(1)
