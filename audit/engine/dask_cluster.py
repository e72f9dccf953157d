"""Runs an audit's tasks on the workers of a Dask scheduler. Results are counts, never samples."""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from concurrent.futures import CancelledError as TaskCancelledError
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from subnormal.audit.engine.dask_workers import (
    Call,
    ClusterError,
    WorkerPool,
    WrongEnvironment,
    call_in_environment,
    one_line,
)
from subnormal.audit.engine.fingerprint import digest
from subnormal.audit.text import given

ANSWER_TIMEOUT = 10.0  # seconds for a scheduler to answer, for its first workers to register, and for closing
WORKER_TIMEOUT = 30.0  # seconds to wait for a worker when none is left: a nanny restarts its workers in a few
POLL_INTERVAL = 0.5  # seconds between two requests for the list of workers
LOSSES_MAX = 4  # a task that has lost all its workers this many times is assumed to end them
QUIET_LOGGERS = ("distributed", "tornado", "asyncio")

__all__ = ["Cluster", "ClusterError", "cluster"]


@contextmanager
def cluster(address: str, warn: Callable[[str], None]) -> Iterator[Cluster]:
    """Yield the workers of the Dask scheduler at an address, such as "tcp://127.0.0.1:8786".

    warn(line) is called, from another thread, for every worker that is refused. At the end, and at an interrupt,
    outstanding tasks are cancelled; the scheduler and its workers keep running. Raises ClusterError if no scheduler
    answers at the address, if no worker has this environment, or if Dask is not installed.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterError(f"{address}: no module {error.name!r}; in a checkout, pip install -e '.[cluster]'") from None
    opened: Future[Cluster] = Future()
    loop = asyncio.new_event_loop()
    serving = loop.create_task(_serve(distributed, address, warn, opened))
    thread = threading.Thread(target=_run, args=(loop, serving), name="cluster", daemon=True)
    with _quiet():
        thread.start()
        try:
            yield opened.result()
        finally:
            loop.call_soon_threadsafe(serving.cancel)
            thread.join()
            loop.close()  # not in the thread, which may have ended before `cancel` is called


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    with suppress(asyncio.CancelledError):
        loop.run_until_complete(serving)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the loggers and warnings of Dask: errors that matter are raised."""
    names = {name for name in (*QUIET_LOGGERS, *logging.root.manager.loggerDict) if name.split(".")[0] in QUIET_LOGGERS}
    levels = {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")  # about versions, which `fingerprint` compares
        for name in levels:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


async def _serve(distributed: Any, address: str, warn: Callable[[str], None], opened: Future[Cluster]) -> None:
    """Open the connection and keep it open until cancelled."""
    client = distributed.Client(
        address, asynchronous=True, set_as_default=False, timeout=ANSWER_TIMEOUT, name="subnormal"
    )
    try:
        try:
            await _connected(client, address)
            pool = WorkerPool(client, address, warn)
            await pool.wait_for_workers(ANSWER_TIMEOUT)
            workers = Cluster(client, pool, distributed.KilledWorker)
            opened.set_result(workers)
            await workers.poll()
        finally:
            await _closed(client)
    except Exception as error:
        opened.set_exception(error)  # last, because the caller then cancels this task


async def _connected(client: Any, address: str) -> None:
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):  # Dask's own ends once a port accepts, though it may never answer
            await client
    except Exception as error:
        why = f"no answer in {given(ANSWER_TIMEOUT)} s" if isinstance(error, TimeoutError) else one_line(error)
        raise ClusterError(f"no Dask scheduler at {address!r}: {why}") from None


async def _closed(client: Any) -> None:
    with suppress(Exception):
        await client.close(timeout=ANSWER_TIMEOUT)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Cluster:
    """An executor on Dask workers. Everything except `submit` and `slots` runs on an event loop in its own thread."""

    def __init__(self, client: Any, pool: WorkerPool, killed: type[Exception]) -> None:
        self._client, self._pool, self._killed = client, pool, killed
        self._loop = asyncio.get_running_loop()
        self._lost: ClusterError | None = None  # why no task can be done any more
        self._waiting: dict[asyncio.Future[None], frozenset[str]] = {}  # set when all of these workers have gone

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Return the future of a call on some worker: a function of a module, and arguments that can be pickled.

        A task whose worker dies is run again on another one. The future raises BrokenExecutor if every worker that took
        the task died, and ClusterError if the scheduler is gone or no allowed worker was there for `WORKER_TIMEOUT` s.
        """
        return asyncio.run_coroutine_threadsafe(self._result(function, arguments), self._loop)

    @property
    def window(self) -> int:
        """The number of futures worth having at a time: for each thread a running task and a waiting one."""
        return 2 * self.slots

    @property
    def slots(self) -> int:
        """The threads of the allowed workers; 1 if there are none, so that a submitted task raises the reason."""
        return max(1, self._pool.threads)

    async def poll(self) -> None:
        """Refresh the list of workers until cancelled, and end the waiting of tasks whose workers have all gone."""
        while self._lost is None:
            await asyncio.sleep(POLL_INTERVAL)
            try:
                await self._pool.refresh()
            except Exception as error:
                self._lost = ClusterError(str(error) or one_line(error))
            for over, workers in self._waiting.items():
                if not over.done() and (self._lost is not None or workers.isdisjoint(self._pool.present)):
                    over.set_result(None)
        await asyncio.Event().wait()  # every later task raises the error

    async def _result(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        call = pickle.dumps(Call(call_in_environment, (digest(), function, arguments)))
        losses = 0
        while losses < LOSSES_MAX:
            workers = await self._workers()
            try:
                answer = await self._answer(call, workers)
            except TaskCancelledError:
                losses += 1
                continue
            except self._killed:
                break
            if not isinstance(answer, WrongEnvironment):
                return answer
            self._pool.refuse(answer)
        raise BrokenExecutor("every worker that took the task died")

    async def _workers(self) -> frozenset[str]:
        """Return the addresses of the allowed workers, as soon as there is one."""
        deadline = self._loop.time() + WORKER_TIMEOUT
        while True:
            if self._lost is not None:
                raise ClusterError(str(self._lost))
            self._pool.require_scheduler()
            if self._pool.allowed:
                return self._pool.allowed
            if self._loop.time() > deadline:
                raise self._pool.no_worker_error()
            await asyncio.sleep(POLL_INTERVAL)

    async def _answer(self, call: bytes, workers: frozenset[str]) -> Any:
        """Return a worker's answer. Raises CancelledError, of concurrent.futures, when all its workers have gone."""
        over = self._loop.create_future()
        self._waiting[over] = workers
        task = self._client.submit(pickle.loads, call, key=f"subnormal-{uuid4()}", workers=sorted(workers), pure=False)
        answer = self._loop.create_task(_awaited(task))
        try:
            await asyncio.wait({answer, over}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise TaskCancelledError
            return answer.result()
        finally:
            del self._waiting[over]
            answer.cancel()
            task.release()


async def _awaited(task: Any) -> Any:
    return await task
