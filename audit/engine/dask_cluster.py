"""An audit's tasks on a running Dask scheduler: what is handed out comes back as counts, never as samples."""

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

from subnormal.audit.engine.dask_workers import Call, ClusterError, Crew, Stranger, Told, done_here, in_a_line
from subnormal.audit.engine.fingerprint import digest
from subnormal.audit.text import given

PATIENCE = 10.0  # seconds for a scheduler to answer, then for its first workers to be there, then for good-byes
ABSENCE = 30.0  # seconds for a worker to come, when all have gone: a nanny restarts its own in a few
LOOK = 0.5  # seconds between two looks at who is there
LOSSES = 4  # a task that lost all its workers so often has ended them itself
QUIETED = ("distributed", "tornado", "asyncio")  # loggers

__all__ = ["Cluster", "ClusterError", "cluster"]


@contextmanager
def cluster(address: str, told: Told) -> Iterator[Cluster]:
    """Give the workers of the Dask scheduler at an address, such as "tcp://127.0.0.1:8786".

    told(line) is called, from another thread, for every worker that is refused. At the end, and at an interrupt, what
    is outstanding is cancelled; scheduler and workers stay as they are. Raises ClusterError where there is no scheduler
    there, no worker in this environment, or no Dask to ask them with.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterError(f"{address}: no module {error.name!r}; in a checkout, pip install '.[cluster]'") from None
    opened: Future[Cluster] = Future()
    loop = asyncio.new_event_loop()
    serving = loop.create_task(_serve(distributed, address, told, opened))
    thread = threading.Thread(target=_run, args=(loop, serving), name="cluster", daemon=True)
    with _quiet():
        thread.start()
        try:
            yield opened.result()
        finally:
            loop.call_soon_threadsafe(serving.cancel)
            thread.join()
            loop.close()  # not by the thread: it may be done before it is told to end


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    with suppress(asyncio.CancelledError):
        loop.run_until_complete(serving)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask has to say from the terminal: what matters of it is raised."""
    names = {name for name in (*QUIETED, *logging.root.manager.loggerDict) if name.split(".")[0] in QUIETED}
    levels = {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")  # of versions: ours are compared, and Dask's talk
        for name in levels:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


async def _serve(distributed: Any, address: str, told: Told, opened: Future[Cluster]) -> None:
    """Open the connection, and hold it until cancelled."""
    client = distributed.Client(address, asynchronous=True, set_as_default=False, timeout=PATIENCE, name="subnormal")
    try:
        try:
            await _connected(client, address)
            crew = Crew(client, address, told)
            await crew.gather(PATIENCE)
            workers = Cluster(client, crew, distributed.KilledWorker)
            opened.set_result(workers)
            await workers.watch()
        finally:
            await _closed(client)
    except Exception as error:
        opened.set_exception(error)  # last: who hears of it ends what goes on here


async def _connected(client: Any, address: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE):  # Dask's own ends when something opens the door, and says nothing
            await client
    except Exception as error:
        why = f"no answer in {given(PATIENCE)} s" if isinstance(error, TimeoutError) else in_a_line(error)
        raise ClusterError(f"no Dask scheduler at {address!r}: {why}") from None


async def _closed(client: Any) -> None:
    with suppress(Exception):
        await client.close(timeout=PATIENCE)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Cluster:
    """Workers that take tasks. All but `submit` and `slots` runs on an event loop, in a thread of its own."""

    def __init__(self, client: Any, crew: Crew, killed: type[Exception]) -> None:
        self._client, self._crew, self._killed = client, crew, killed
        self._loop = asyncio.get_running_loop()
        self._lost: ClusterError | None = None  # why nothing more can be done
        self._waiting: dict[asyncio.Future[None], frozenset[str]] = {}  # set where none of these workers is left

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Return the future of a call on some worker: a function of a module, and arguments that can be pickled.

        A task whose worker dies runs again elsewhere. It ends with BrokenExecutor when it ended all that took it, and
        with ClusterError when the scheduler is gone, or for `ABSENCE` seconds nobody was there who may take it.
        """
        return asyncio.run_coroutine_threadsafe(self._result(function, arguments), self._loop)

    @property
    def window(self) -> int:
        """How many futures are worth having at a time: a task for each thread, and one that it can begin at once."""
        return 2 * self.slots

    @property
    def slots(self) -> int:
        """The threads of the workers that take tasks now; 1 where there are none, so that a task will tell why."""
        return max(1, self._crew.threads)

    async def watch(self) -> None:
        """Look who is there until cancelled, and wake the tasks that nobody will do."""
        while self._lost is None:
            await asyncio.sleep(LOOK)
            try:
                await self._crew.look()
            except Exception as error:
                self._lost = ClusterError(str(error) or in_a_line(error))
            for over, workers in self._waiting.items():
                if not over.done() and (self._lost is not None or workers.isdisjoint(self._crew.present)):
                    over.set_result(None)
        await asyncio.Event().wait()  # a caller with another task gets the error

    async def _result(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        call = pickle.dumps(Call(done_here, (digest(), function, arguments)))
        losses = 0
        while losses < LOSSES:
            workers = await self._workers()
            try:
                answer = await self._answer(call, workers)
            except TaskCancelledError:
                losses += 1
                continue
            except self._killed:
                break
            if not isinstance(answer, Stranger):
                return answer
            self._crew.refuse(answer)
        raise BrokenExecutor("every worker that took the task died")

    async def _workers(self) -> frozenset[str]:
        """Return who may take a task, as soon as there is anybody."""
        deadline = self._loop.time() + ABSENCE
        while True:
            if self._lost is not None:
                raise ClusterError(str(self._lost))
            self._crew.require_scheduler()
            if self._crew.allowed:
                return self._crew.allowed
            if self._loop.time() > deadline:
                raise self._crew.nobody()
            await asyncio.sleep(LOOK)

    async def _answer(self, call: bytes, workers: frozenset[str]) -> Any:
        """Return what a worker says to a call. Raises CancelledError, that of concurrent.futures, when none will."""
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
