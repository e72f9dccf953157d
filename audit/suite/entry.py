"""A check of a suite: what it came to, and whether that was accepted before."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """VIOLATED: a finding that nobody has accepted. EXPIRED: one that was accepted until a day that is over."""

    VIOLATED = "VIOLATED"
    EXPIRED = "EXPIRED"
    ACCEPTED = "ACCEPTED"
    ERROR = "ERROR"
    UNDERPOWERED = "UNDERPOWERED"
    NOT_REFUTED = "NOT REFUTED"


EVENT = 400  # characters of an event in words
FAILED = (Status.VIOLATED, Status.EXPIRED)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that is known: violations of this severity, in this check, up to and with a day."""

    check: str
    severity: str
    reason: str
    until: datetime.date


@dataclass(frozen=True, slots=True)
class Entry:
    """A check of a suite.

    name: of the check. document: check.json. text: the result as the command prints it. page: check.html. place: the
    file and the line of the noise's call, or else of the function; the file is relative to the working directory where
    it lies below it. accepted: what was accepted of this check and severity, if anything. today: for its expiry.
    """

    name: str
    document: Mapping[str, Any]
    text: str
    page: str
    place: tuple[str, int]
    accepted: Accepted | None
    today: datetime.date

    @property
    def status(self) -> Status:
        """What the check came to."""
        if self.document["error"] is not None:
            return Status.ERROR
        verdict = Status(self.document["verdict"])
        if verdict is not Status.VIOLATED or self.accepted is None:
            return verdict
        return Status.EXPIRED if self.today > self.accepted.until else Status.ACCEPTED

    @property
    def finding(self) -> str:
        """The finding in a sentence: the severity and the event, or the error. Empty where nothing was refuted."""
        if self.document["error"] is not None:
            return str(self.document["error"])
        if self.document["verdict"] != Status.VIOLATED:
            return ""
        event = self.document["event"]
        words = "" if event is None else f"; {event['words']}"
        told = words if len(words) <= EVENT else f"{words[: EVENT - 1]}…"
        accepted = self.accepted
        known = "" if accepted is None else f"; {self.status.lower()}, until {accepted.until}: {accepted.reason}"
        return f"{self.document['severity']} against {self.document['claim']}{told}{known}"
