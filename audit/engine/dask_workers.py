"""The workers of a Dask scheduler, and which of them may take tasks: those in this environment, by their fingerprint.

A worker is asked for its fingerprint before it is given anything, and shows it again with every task: another process
may have taken its address meanwhile.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from subnormal.audit.engine.fingerprint import differing, digest, fingerprint

SILENCE = 30.0  # seconds without a word from the scheduler after which it is gone

Told = Callable[[str], None]


class ClusterError(Exception):
    """The cluster cannot do the work: why, in one line that names its address."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is made when it is unpickled, so that a scheduler need not import what its workers run."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


@dataclass(frozen=True, slots=True)
class Stranger:
    """A worker's answer to a task that is meant for another environment."""

    address: str
    fingerprint: dict[str, str]


def done_here(wanted: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """On a worker: return the function's result if the environment has the digest that is wanted, else a Stranger."""
    if digest() != wanted:
        from distributed import get_worker

        return Stranger(get_worker().address, fingerprint())
    return function(*arguments)


class Crew:
    """Who is there and who may take tasks, as of the last look. Attributes are replaced, never changed."""

    def __init__(self, client: Any, address: str, told: Told) -> None:
        self._client, self._address, self._told = client, address, told
        self.present: dict[str, tuple[str, int]] = {}  # name and threads of each worker, by its address
        self.allowed: frozenset[str] = frozenset()
        self._refused: frozenset[str] = frozenset()
        self._checks: dict[str, asyncio.Task[None]] = {}

    @property
    def threads(self) -> int:
        """The threads of the workers that may take tasks."""
        present = self.present
        return sum(present[address][1] for address in self.allowed if address in present)

    async def gather(self, patience: float) -> None:
        """Wait for the first workers, and until they have been asked. Raises ClusterError when none may take tasks."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.look()
                while not self.present:
                    await asyncio.sleep(0.1)
                    await self.look()
                await asyncio.wait(self._checks.values())
        if not self.allowed:
            raise self.nobody()

    async def look(self) -> None:
        """See who has come and who has gone, and ask the new ones. Raises ClusterError when the scheduler is gone."""
        self.require_scheduler()
        try:
            identity = await asyncio.wait_for(self._client.scheduler.identity(), SILENCE)
        except OSError:  # it ends while it is asked, or is silent; the client need not have noticed
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
        """Ask a worker for its fingerprint, whatever it is doing. Who cannot answer is asked again at the next look."""
        asked = self._client.run(
            pickle.loads, pickle.dumps(Call(fingerprint, ())), workers=[address], on_error="return"
        )
        with suppress(OSError):
            theirs = (await asked).get(address, OSError())
            if isinstance(theirs, OSError):
                return
            if isinstance(theirs, Exception):
                self._refuse(address, f"it cannot run subnormal: {in_a_line(theirs)}")
            elif theirs == fingerprint():
                self.allowed |= {address}
            else:
                self.refuse(Stranger(address, theirs))

    def refuse(self, stranger: Stranger) -> None:
        """Give a worker no more tasks, and say what differs."""
        self._refuse(stranger.address, "; ".join(differing(fingerprint(), stranger.fingerprint)))

    def _refuse(self, address: str, why: str) -> None:
        if address in self._refused:  # it had more than one task
            return
        self.allowed, self._refused = self.allowed - {address}, self._refused | {address}
        name, _ = self.present.get(address, (address, 0))
        named = "" if name == address else f" ({name})"
        self._told(f"worker {address}{named} is refused: {why}")

    def nobody(self) -> ClusterError:
        """Return why nobody may take a task."""
        if not self.present:
            return ClusterError(f"{self._address}: the scheduler has no workers")
        if self._refused == self.present.keys():
            return ClusterError(f"{self._address}: all its workers are refused")
        return ClusterError(f"{self._address}: none of its workers answers")


def in_a_line(error: Exception) -> str:
    """Return the kind of an error, and the first line of what it says.

    >>> in_a_line(ValueError("no\\nsuch luck")), in_a_line(TimeoutError())
    ('ValueError: no', 'TimeoutError')
    """
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
