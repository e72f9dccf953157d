"""Counts on disk, written every second, from which an interrupted audit resumes. Never samples."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "checkpoint.json"
TEMPORARY = ".checkpoint.json.new"  # written first, then renamed
SCHEMA = "subnormal/checkpoint/1"


class CheckpointError(Exception):
    """A checkpoint that cannot be resumed from. The message is one line."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of one audit. audit: everything that its counts depend on, as JSON; it must be equal to resume."""

    folder: Path
    audit: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """The path of its file."""
        return self.folder / NAME

    def save(self, rows: Mapping[int, Any], seconds: float) -> None:
        """Replace the stored counts by these, which are by the row's place in the audit. The replacement is atomic.

        seconds: of counting so far. Raises OSError, and then keeps the old file.
        """
        written = _written({str(place): row for place, row in rows.items()})
        others = {"schema": SCHEMA, "audit": self.audit, "seconds": seconds, "digest": _digest(written)}
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / TEMPORARY
        try:
            with temporary.open("wb") as stream:
                stream.write(json.dumps(others, allow_nan=False).encode()[:-1] + b', "rows": ' + written + b"}")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, self.path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def load(self) -> tuple[dict[int, Any], float]:
        """Return the counts by row, and the seconds that they took; no counts and 0 without a checkpoint.

        Raises CheckpointError if it is of another audit or environment, or damaged.
        """
        document = self._read()
        if document is None:
            return {}, 0.0
        audit, ours = document["audit"], json.loads(json.dumps(self.audit))
        if audit != ours:
            raise CheckpointError(f"{self.path} is of another audit: {_difference('', audit, ours)}")
        return {int(place): row for place, row in document["rows"].items()}, document["seconds"]

    def seconds(self) -> float:
        """Return the seconds of counting that it holds, of any audit; 0 without a checkpoint."""
        try:
            document = self._read()
        except CheckpointError:
            return 0.0
        return 0.0 if document is None else float(document["seconds"])

    def _read(self) -> dict[str, Any] | None:
        try:
            document = json.loads(self.path.read_bytes())
            schema, *_ = (document[key] for key in ("schema", "audit", "seconds", "rows", "digest"))
            digest = _digest(_written(document["rows"]))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"{self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CheckpointError(f"{self.path} is no checkpoint, or a damaged one") from None
        if schema != SCHEMA:
            raise CheckpointError(f"{self.path} has the schema {schema!r}, and this version reads {SCHEMA!r}")
        if document["digest"] != digest:
            raise CheckpointError(f"{self.path} is damaged: its counts are not those that were written")
        checked: dict[str, Any] = document
        return checked


def _written(rows: Any) -> bytes:
    return json.dumps(rows, sort_keys=True, allow_nan=False).encode()


def _digest(written: bytes) -> str:
    return hashlib.blake2b(written, digest_size=16).hexdigest()


def _difference(name: str, theirs: Any, ours: Any) -> str:
    """Return in words how two values differ; for mappings and lists, the first difference."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        key = next(key for key in (*ours, *theirs) if theirs.get(key) != ours.get(key))
        return _difference(f"{name} {key}".strip(), theirs.get(key), ours.get(key))
    if isinstance(theirs, list) and isinstance(ours, list):
        place = next((at for at, pair in enumerate(zip(theirs, ours, strict=False)) if pair[0] != pair[1]), None)
        if place is not None:
            return _difference(f"{name} {place + 1}", theirs[place], ours[place])
        theirs, ours = len(theirs), len(ours)
    return f"{name} {theirs} there, {ours} here"
