"""Pairs that convicted before: a folder keeps them, and the next check of the same function tries them first.

What is kept are the choices from which the strategies draw a pair. So a pair is tried again only where the domain and
the relation still allow it. Of a pair that no longer convicts, the check goes on as it does without.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

OTHER_KINDS = (b".secondary", b".pareto")  # of examples that Hypothesis would keep


class KeptPairs(ExampleDatabase):
    """The pairs of one function in a folder, which Hypothesis reads and does not change."""

    def __init__(self, folder: str | os.PathLike[str], *names: object) -> None:
        """names: of the function and of what was checked, which other checks do not have.

        Raises ValueError where the folder is a file.
        """
        super().__init__()
        if Path(folder).is_file():
            raise ValueError(f"database must be a folder, got the file {os.fspath(folder)!r}")
        self._folder = DirectoryBasedExampleDatabase(folder)
        self._key = repr(names).encode()

    def fetch(self, key: bytes) -> Iterator[bytes]:
        """Yield the choices of each pair, whatever test Hypothesis asks for."""
        kept: Iterable[bytes] = () if key.endswith(OTHER_KINDS) else self._folder.fetch(self._key)
        yield from kept

    def keep(self, choices: bytes) -> None:
        """Add a pair, which may be there already."""
        self._folder.save(self._key, choices)

    def save(self, key: bytes, value: bytes) -> None:
        """Keep nothing that Hypothesis has drawn."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Keep what Hypothesis finds to be of no use: a pair that convicts in another stage, or will do so again."""
