"""A suite as JUnit XML, see `report.junit`. An accepted finding is skipped, and so is a check without a decision."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from subnormal.audit.report.junit import case, document
from subnormal.audit.suite.entry import FAILED, Entry, Status
from subnormal.audit.text import short, thousandths

TAGS = dict.fromkeys(FAILED, "failure") | {Status.ERROR: "error"}
TAGS |= dict.fromkeys((Status.ACCEPTED, Status.UNDERPOWERED), "skipped")


def to_junit(entries: Sequence[Entry], alpha: float) -> str:
    """Return the suite as one XML document, in ASCII. alpha: of the whole suite."""
    seconds = sum(float(one.document["seconds"]) for one in entries)
    return document(list(map(_case, entries)), {"alpha": short(alpha)}, seconds)


def _case(entry: Entry) -> Element:
    message = entry.finding or "so few runs could not have shown a violation"
    return case(
        ("subnormal", entry.name, thousandths(entry.document["seconds"])),
        f"{':'.join(map(str, entry.place))}\n{entry.text}",
        TAGS.get(entry.status),
        str(entry.status),
        message,
    )
