"""Executors: this process, or worker processes, which may die and never outlive the audit.

An executor has submit(function, *arguments) -> Future, like those of concurrent.futures.
`subnormal.audit.engine.dask_cluster` has another executor.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process, resource_tracker
from types import ModuleType
from typing import Any, Protocol, TypeVar

from subnormal.audit.interrupts import check, defer

GRACE = 5.0  # seconds for a terminated worker to exit
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of mallopt, in the GNU C library's malloc.h
_MAIN_LOCK = threading.Lock()

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Runs tasks: module-level functions with arguments that can be pickled."""

    @property
    def window(self) -> int:
        """The number of futures worth having at a time."""

    @property
    def worker_errors(self) -> tuple[type[Exception], ...]:
        """What a future raises whose worker died, perhaps of another task."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a task."""


class Here:
    """Runs each task in this process, during `submit`."""

    window = 1
    worker_errors = ()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the finished future of a task."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes:
    """Runs tasks in processes. One that dies ends all tasks of that time: later ones have new processes."""

    worker_errors = (BrokenProcessPool,)

    def __init__(self, count: int) -> None:
        self.window = count
        self.pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.window, get_context("spawn"), _prepare)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a task. An error in pickling or unpickling it ends no worker."""
        call = Here().submit(dumps, function, *arguments)
        if call.exception() is not None:  # pickling may raise anything
            return call
        with _interrupts_deferred(), _main_hidden():
            try:
                return self.pool.submit(pickle.loads, call.result())
            except BrokenProcessPool:  # by an earlier task
                self.pool = self._new()
                return self.pool.submit(pickle.loads, call.result())


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is made when it is unpickled, so that nobody imports its function before."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


def dumps(function: Callable[..., Any], /, *arguments: Any) -> bytes:
    """Return a call for another process, which makes it by `pickle.loads`."""
    return pickle.dumps(Call(function, arguments))


@contextmanager
def local(jobs: int | None = None) -> Iterator[Executor]:
    """Yield an executor on this machine: this process for one job, else worker processes (None: one per core)."""
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
        for worker in workers:  # they ignore the interrupt, so they print no tracebacks
            worker.terminate()
        for worker in workers:  # shutdown writes to live workers, and prints an error if they end meanwhile
            worker.join(GRACE)
        raise
    finally:
        processes.pool.shutdown(cancel_futures=True)


def warm_up(executor: Executor) -> None:
    """Let the workers start, and import what rows need, while this process goes on."""
    for _ in range(executor.window):
        executor.submit(import_module, f"{__package__}.row")


def each_of(executor: Executor, function: Callable[[S, T], R], subject: S, tasks: Iterable[T]) -> Iterator[R]:
    """Yield function(subject, task) for every task, in their order, however many are computed at a time."""
    left, running = deque(tasks), deque[Future[R]]()
    while left or running:
        check()
        while left and len(running) < 4 * executor.window and not (running and running[0].done()):
            running.append(executor.submit(function, subject, left.popleft()))
        yield running.popleft().result()


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Delay an interrupt while a worker may be starting, because the worker would end with a traceback.

    The handler is deferred, because any thread may receive the signal; the signal is blocked, because a process that
    starts now inherits the mask.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it unblocks the signal once started
    with defer():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Hide the main module while a worker may be starting, because the worker would import it and run a script again.

    No task needs it. A worker cannot unpickle objects of the main module, so tasks with them run in this process.
    """
    with _MAIN_LOCK:  # else two threads would restore each other's module
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _keep_memory() -> None:
    """Let this process keep the memory of arrays that are gone, where its C library can: a fifth of an audit's time.

    Else each large array is mapped anew, and the kernel clears every page of it at its first use.
    """
    os.environ["NUMPY_MADVISE_HUGEPAGE"] = "0"  # read when numpy is imported: huge pages take longer to be found
    with suppress(AttributeError, OSError, TypeError):  # another C library, or none that can be asked
        allocator = ctypes.CDLL(None)
        allocator.mallopt(M_MMAP_MAX, 0)
        allocator.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()  # returns when the audit has ended in any way
        os._exit(1)
