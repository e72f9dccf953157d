"""Runs an audit's tasks on the workers of a Dask scheduler. Results are counts, never samples.

Only workers with the same fingerprint of the environment may take tasks. A worker is asked for it before its first
task, and compares it again for every task, because another process may have taken its address in the meantime.
"""

from __future__ import annotations

import logging
import math
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from subnormal.audit.engine.fingerprint import differing, digest, fingerprint
from subnormal.audit.engine.process_pool import dumps
from subnormal.audit.text import given

ANSWER_TIMEOUT = 10.0  # seconds for a scheduler to answer, for its first workers to register, and for closing
SCHEDULER_TIMEOUT = 30.0  # seconds without an answer after which the scheduler counts as gone
WORKER_TIMEOUT = 30.0  # seconds to wait for a worker when none is left: a nanny restarts its workers in a few
POLL_INTERVAL = 0.5  # seconds between two requests for the list of workers


class ClusterError(Exception):
    """The cluster cannot do tasks. The message is one line that names its address and the reason."""


class WrongEnvironmentError(Exception):
    """The environment of a worker is not the one that the task is meant for: its address, and its fingerprint."""


@contextmanager
def cluster(address: str, warn: Callable[[str], None]) -> Iterator[Cluster]:
    """Yield the workers of the Dask scheduler at an address, such as "tcp://127.0.0.1:8786".

    warn(line) is called for every worker that is refused. At the end, and at an interrupt, outstanding tasks are
    cancelled; the scheduler and its workers keep running. Raises ClusterError if no scheduler answers at the address,
    if no worker has this environment, or if Dask is not installed.
    """
    with _quiet():
        client, killed = _connected(address)
        try:
            yield Cluster(client, address, warn, killed)
        finally:
            with suppress(Exception):
                client.close(timeout=ANSWER_TIMEOUT)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the loggers and warnings of Dask: errors that matter are raised."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed")  # about versions, which `fingerprint` compares
            yield
    finally:
        logging.disable(before)


def _connected(address: str) -> tuple[Any, type[Exception]]:
    """Return a client of the scheduler, and the error of a task whose workers died. Raises ClusterError."""
    try:
        from distributed import Client, KilledWorker
    except ModuleNotFoundError as error:
        raise ClusterError(f"{address}: no module {error.name!r}; in a checkout, pip install -e '.[cluster]'") from None
    opened: Future[Any] = Future()

    def connect() -> None:
        try:
            client = Client(address, set_as_default=False, timeout=ANSWER_TIMEOUT, name="subnormal")
            opened.set_result(client)
        except Exception as error:
            opened.set_exception(error)

    threading.Thread(target=connect, daemon=True).start()  # it has no end where a port accepts and never answers
    try:
        return opened.result(ANSWER_TIMEOUT + 1), KilledWorker
    except Exception as error:
        why = f"no answer in {given(ANSWER_TIMEOUT)} s" if not opened.done() else _one_line(error)
        raise ClusterError(f"no Dask scheduler at {address!r}: {why}") from None


class Cluster:
    """An executor on the workers that have this environment, of which it keeps a list. Not thread-safe."""

    def __init__(self, client: Any, address: str, warn: Callable[[str], None], killed: type[Exception]) -> None:
        """Wait for the first workers. Raises ClusterError if none of them may take tasks."""
        self.worker_errors = (killed, WrongEnvironmentError)
        self._client, self._address, self._warn, self._executor = client, address, warn, client.get_executor(pure=False)
        self._asked_at = -math.inf
        self._present: dict[str, tuple[str, int]] = {}  # name and threads of each worker, by its address
        self._allowed: frozenset[str] = frozenset()
        self._refused: frozenset[str] = frozenset()
        self._checks: dict[str, Future[Any]] = {}  # the first task of each worker that is neither
        self._running: dict[Future[Any], frozenset[str]] = {}  # the workers that may take a task
        self._wait_for_worker(ANSWER_TIMEOUT, first=True)

    @property
    def window(self) -> int:
        """The number of futures worth having at a time: for each thread a running task and a waiting one.

        To be asked between submissions. Waits `WORKER_TIMEOUT` seconds for a worker where none is left. Raises
        ClusterError if there is none then, or if the scheduler is gone.
        """
        self._refresh()
        self._wait_for_worker(WORKER_TIMEOUT)
        return 2 * sum(self._present[address][1] for address in self._allowed)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a call on some worker: a function of a module, and arguments that can be pickled.

        Dask runs a task again whose worker dies. The future raises one of `worker_errors` if several did, or if another
        process was at the address of its worker. It is cancelled if all workers that were allowed have gone.
        """
        future = self._send(self._allowed, function, *arguments)
        self._running[future] = self._allowed
        return future

    def _send(self, workers: frozenset[str], function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        call, key = dumps(_call_in_environment, digest(), function, arguments), f"subnormal-{uuid4()}"
        future: Future[Any] = self._executor.submit(pickle.loads, call, key=key, workers=sorted(workers))
        return future

    def _wait_for_worker(self, seconds: float, *, first: bool = False) -> None:
        ends = time.monotonic() + seconds
        while not self._allowed:
            all_refused = first and bool(self._present) and self._refused == self._present.keys()
            if all_refused or time.monotonic() > ends:
                raise self._no_worker_error()
            time.sleep(0.05)
            self._refresh()

    def _refresh(self) -> None:
        """Update the list of workers and check the new ones. Raises ClusterError when the scheduler is gone."""
        if self._client.status != "running":
            raise ClusterError(f"{self._address}: the scheduler is gone")
        if time.monotonic() - self._asked_at >= POLL_INTERVAL:
            self._ask_scheduler()
        for address, check in list(self._checks.items()):
            if check.done():
                del self._checks[address]
                self._add_check(address, check)
        for future, workers in list(self._running.items()):
            if future.done():
                del self._running[future]
                self._refuse_if_wrong(future)
            elif workers.isdisjoint(self._present):
                future.cancel()

    def _ask_scheduler(self) -> None:
        try:
            identity = self._client.sync(self._client.scheduler.identity, callback_timeout=SCHEDULER_TIMEOUT)
        except OSError:  # it ended meanwhile or does not answer; the client may not have noticed
            raise ClusterError(f"{self._address}: the scheduler is gone") from None
        self._asked_at = time.monotonic()
        workers = identity["workers"].items()
        self._present = {address: (str(worker["name"]), int(worker["nthreads"])) for address, worker in workers}
        self._allowed &= self._present.keys()
        self._refused &= self._present.keys()
        for address in self._checks.keys() - self._present.keys():
            self._checks.pop(address).cancel()
        for address in self._present.keys() - self._allowed - self._refused - self._checks.keys():
            self._checks[address] = self._send(frozenset({address}), bool)

    def _add_check(self, address: str, check: Future[Any]) -> None:
        """Allow or refuse a worker. One whose check was cancelled is checked again."""
        if check.cancelled() or self._refuse_if_wrong(check):
            return
        if (error := check.exception()) is None:
            self._allowed |= {address}
        else:
            self._refuse(address, f"it cannot run subnormal: {_one_line(error)}")

    def _refuse_if_wrong(self, future: Future[Any]) -> bool:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, WrongEnvironmentError):
            address, theirs = error.args
            self._refuse(address, "; ".join(differing(fingerprint(), theirs)))
        return isinstance(error, WrongEnvironmentError)

    def _refuse(self, address: str, why: str) -> None:
        """Exclude a worker from tasks, and warn what differs."""
        if address in self._refused:  # several of its tasks may report it
            return
        self._allowed, self._refused = self._allowed - {address}, self._refused | {address}
        name, _ = self._present.get(address, (address, 0))
        named = "" if name == address else f" ({name})"
        self._warn(f"worker {address}{named} is refused: {why}")

    def _no_worker_error(self) -> ClusterError:
        """Return the error that says why no worker may take a task."""
        if not self._present:
            return ClusterError(f"{self._address}: the scheduler has no workers")
        if self._refused == self._present.keys():
            return ClusterError(f"{self._address}: all its workers are refused")
        return ClusterError(f"{self._address}: none of its workers answers")


def _call_in_environment(required: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """On a worker: return the function's result. Raises WrongEnvironmentError if the environment has another digest."""
    if digest() != required:
        from distributed import get_worker

        raise WrongEnvironmentError(get_worker().address, fingerprint())
    return function(*arguments)


def _one_line(error: BaseException) -> str:
    """Return the type of an error, and the first line of its message.

    >>> _one_line(ValueError("no\\nsuch luck")), _one_line(TimeoutError())
    ('ValueError: no', 'TimeoutError')
    """
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
