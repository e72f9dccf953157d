"""Pairs that Hypothesis is given: those that convicted before, which a folder keeps, and variations of others.

What is kept are the choices from which the strategies draw a pair. So a pair is tried only where the domain and the
relation still allow it. Of a pair that no longer convicts, the check goes on as it does without.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

UNSHRUNK, OTHER = b".secondary", b".pareto"  # ends of the keys of examples that are not as small as they can be


class GivenPairs(ExampleDatabase):
    """The choices of pairs, which Hypothesis tries first and does not change. It shrinks what convicts, unless they are
    said to be shrunk already."""

    def __init__(self, pairs: Iterable[bytes], *, are_shrunk: bool) -> None:
        super().__init__()
        self._pairs, self._are_shrunk = pairs, are_shrunk

    def fetch(self, key: bytes) -> Iterator[bytes]:
        """Yield the choices of each pair, whatever test Hypothesis asks for."""
        is_asked = not key.endswith((UNSHRUNK, OTHER)) if self._are_shrunk else key.endswith(UNSHRUNK)
        yield from self._pairs if is_asked else ()

    def save(self, key: bytes, value: bytes) -> None:
        """Keep nothing that Hypothesis has drawn."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Keep what Hypothesis finds to be of no use: a pair that convicts in another stage, or will do so again."""


class KeptPairs:
    """The pairs of one function in a folder."""

    def __init__(self, folder: str | os.PathLike[str], *names: object) -> None:
        """names: of the function and of what was checked, which other checks do not have.

        Raises ValueError where the folder is a file.
        """
        if Path(folder).is_file():
            raise ValueError(f"database must be a folder, got the file {os.fspath(folder)!r}")
        self._folder = DirectoryBasedExampleDatabase(folder)
        self._key = repr(names).encode()

    def choices(self) -> list[bytes]:
        """Return the choices of each pair."""
        return list(self._folder.fetch(self._key))

    def keep(self, choices: bytes) -> None:
        """Add a pair, which may be there already."""
        self._folder.save(self._key, choices)
