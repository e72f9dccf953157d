"""Counts on disk, every few seconds: what a killed audit goes on from. Never samples."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "checkpoint.json"
BESIDE = ".checkpoint.json.new"  # until it is whole
SCHEMA = "subnormal/checkpoint/1"


class CheckpointError(Exception):
    """A checkpoint that cannot be gone on from; the message is one line."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of one audit. audit: all that has to be the same for its counts to be those of another run."""

    folder: Path
    audit: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / NAME

    def save(self, rows: Mapping[int, Any], seconds: float) -> None:
        """Put the rows' counts, by their place in the audit, in the place of those before; whole or not at all.

        seconds: what they have taken. Raises OSError, and then leaves what was there.
        """
        by_place = {str(place): row for place, row in rows.items()}
        document = {"schema": SCHEMA, "audit": self.audit, "seconds": seconds, "rows": by_place}
        document["digest"] = _digest(by_place)
        self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.folder / BESIDE
        try:
            with beside.open("wb") as stream:
                stream.write(json.dumps(document, allow_nan=False).encode())
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, self.path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def load(self) -> tuple[dict[int, Any], float]:
        """Return the counts by row, and the seconds that they took; none where there is no checkpoint.

        Raises CheckpointError where it is not of this audit, in this environment, or damaged.
        """
        document = self._read()
        if document is None:
            return {}, 0.0
        audit, ours = document["audit"], json.loads(json.dumps(self.audit))
        if audit != ours:
            raise CheckpointError(f"{self.path} is of another audit: {_difference('', audit, ours)}")
        return {int(place): row for place, row in document["rows"].items()}, document["seconds"]

    def seconds(self) -> float:
        """Return how long its counts have taken, whatever audit's they are; 0 where it holds none."""
        try:
            document = self._read()
        except CheckpointError:
            return 0.0
        return 0.0 if document is None else float(document["seconds"])

    def _read(self) -> dict[str, Any] | None:
        try:
            document = json.loads(self.path.read_bytes())
            schema, *_ = (document[key] for key in ("schema", "audit", "seconds", "rows", "digest"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"{self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(f"{self.path} is no checkpoint, or a damaged one") from None
        if schema != SCHEMA:
            raise CheckpointError(f"{self.path} has the schema {schema!r}, and this version reads {SCHEMA!r}")
        if document["digest"] != _digest(document["rows"]):
            raise CheckpointError(f"{self.path} is damaged: its counts are not those that were written")
        found: dict[str, Any] = document
        return found


def _digest(rows: Any) -> str:
    return hashlib.blake2b(json.dumps(rows, sort_keys=True).encode(), digest_size=16).hexdigest()


def _difference(name: str, theirs: Any, ours: Any) -> str:
    """Return in words how two values differ: of mappings and lists, the first place where they do."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        key = next(key for key in (*ours, *theirs) if theirs.get(key) != ours.get(key))
        return _difference(f"{name} {key}".strip(), theirs.get(key), ours.get(key))
    if isinstance(theirs, list) and isinstance(ours, list):
        place = next((at for at, pair in enumerate(zip(theirs, ours, strict=False)) if pair[0] != pair[1]), None)
        if place is not None:
            return _difference(f"{name} {place + 1}", theirs[place], ours[place])
        theirs, ours = len(theirs), len(ours)
    return f"{name} {theirs} there, {ours} here"
