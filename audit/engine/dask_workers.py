"""The workers of a Dask scheduler. Only workers with the same fingerprint of the environment may take tasks.

A worker is asked for its fingerprint before its first task, and compares it again for every task, because another
process may have taken its address in the meantime.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from subnormal.audit.engine.fingerprint import differing, digest, fingerprint

SCHEDULER_TIMEOUT = 30.0  # seconds without an answer after which the scheduler counts as gone


class ClusterError(Exception):
    """The cluster cannot do tasks. The message is one line that names its address and the reason."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is made when it is unpickled, so that the scheduler does not import the workers' functions."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


@dataclass(frozen=True, slots=True)
class WrongEnvironment:
    """The answer of a worker whose environment is not the one that the task is meant for."""

    address: str
    fingerprint: dict[str, str]


def call_in_environment(required: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """On a worker: return the function's result if the environment has the required digest, else WrongEnvironment."""
    if digest() != required:
        from distributed import get_worker

        return WrongEnvironment(get_worker().address, fingerprint())
    return function(*arguments)


class WorkerPool:
    """The workers that are present, and those that may take tasks. Attributes are replaced, not mutated."""

    def __init__(self, client: Any, address: str, warn: Callable[[str], None]) -> None:
        self._client, self._address, self._warn = client, address, warn
        self.present: dict[str, tuple[str, int]] = {}  # name and threads of each worker, by its address
        self.allowed: frozenset[str] = frozenset()
        self._refused: frozenset[str] = frozenset()
        self._checks: dict[str, asyncio.Task[None]] = {}

    @property
    def threads(self) -> int:
        """The threads of the workers that may take tasks."""
        present = self.present
        return sum(present[address][1] for address in self.allowed if address in present)

    async def wait_for_workers(self, patience: float) -> None:
        """Wait until the first workers are present and checked. Raises ClusterError if none of them may take tasks."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.refresh()
                while not self.present:
                    await asyncio.sleep(0.1)
                    await self.refresh()
                await asyncio.wait(self._checks.values())
        if not self.allowed:
            raise self.no_worker_error()

    async def refresh(self) -> None:
        """Update the list of workers and check the new ones. Raises ClusterError when the scheduler is gone."""
        self.require_scheduler()
        try:
            identity = await asyncio.wait_for(self._client.scheduler.identity(), SCHEDULER_TIMEOUT)
        except OSError:  # it ended meanwhile or does not answer; the client may not have noticed
            raise self._gone() from None
        workers = identity["workers"].items()
        self.present = {address: (str(worker["name"]), int(worker["nthreads"])) for address, worker in workers}
        self.allowed &= self.present.keys()
        self._refused &= self.present.keys()
        for address in self._checks.keys() - self.present.keys():
            self._checks.pop(address).cancel()
        self._checks = {address: check for address, check in self._checks.items() if not check.done()}
        for address in self.present.keys() - self.allowed - self._refused - self._checks.keys():
            self._checks[address] = asyncio.create_task(self._check(address))

    def require_scheduler(self) -> None:
        """Raise ClusterError when the connection to the scheduler is lost."""
        if self._client.status != "running":
            raise self._gone()

    def _gone(self) -> ClusterError:
        return ClusterError(f"{self._address}: the scheduler is gone")

    async def _check(self, address: str) -> None:
        """Ask a worker for its fingerprint. A worker that does not answer is asked again at the next refresh."""
        asked = self._client.run(
            pickle.loads, pickle.dumps(Call(fingerprint, ())), workers=[address], on_error="return"
        )
        with suppress(OSError):
            theirs = (await asked).get(address, OSError())
            if isinstance(theirs, OSError):
                return
            if isinstance(theirs, Exception):
                self._refuse(address, f"it cannot run subnormal: {one_line(theirs)}")
            elif theirs == fingerprint():
                self.allowed |= {address}
            else:
                self.refuse(WrongEnvironment(address, theirs))

    def refuse(self, other: WrongEnvironment) -> None:
        """Exclude a worker from tasks, and warn what differs."""
        self._refuse(other.address, "; ".join(differing(fingerprint(), other.fingerprint)))

    def _refuse(self, address: str, why: str) -> None:
        if address in self._refused:  # several of its tasks may report it
            return
        self.allowed, self._refused = self.allowed - {address}, self._refused | {address}
        name, _ = self.present.get(address, (address, 0))
        named = "" if name == address else f" ({name})"
        self._warn(f"worker {address}{named} is refused: {why}")

    def no_worker_error(self) -> ClusterError:
        """Return the error that says why no worker may take a task."""
        if not self.present:
            return ClusterError(f"{self._address}: the scheduler has no workers")
        if self._refused == self.present.keys():
            return ClusterError(f"{self._address}: all its workers are refused")
        return ClusterError(f"{self._address}: none of its workers answers")


def one_line(error: Exception) -> str:
    """Return the type of an error, and the first line of its message.

    >>> one_line(ValueError("no\\nsuch luck")), one_line(TimeoutError())
    ('ValueError: no', 'TimeoutError')
    """
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
