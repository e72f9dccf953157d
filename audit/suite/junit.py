"""A suite as JUnit XML, see `report.junit`. An accepted finding is skipped, and so is a check without a decision."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from subnormal.audit.report.junit import document
from subnormal.audit.suite.entry import FAILED, Entry, Status
from subnormal.audit.text import printable, short, thousandths

SKIPPED = (Status.ACCEPTED, Status.UNDERPOWERED)


def to_junit(entries: Sequence[Entry], alpha: float) -> str:
    """Return the suite as one XML document, in ASCII. alpha: of the whole suite."""
    seconds = sum(float(one.document["seconds"]) for one in entries)
    return document(list(map(_case, entries)), {"alpha": short(alpha)}, seconds)


def _case(entry: Entry) -> Element:
    case = Element(
        "testcase", classname="subnormal", name=printable(entry.name), time=thousandths(entry.document["seconds"])
    )
    status, text = entry.status, printable(f"{':'.join(map(str, entry.place))}\n{entry.text}")
    tag = "failure" if status in FAILED else "error" if status is Status.ERROR else "skipped"
    if status not in (*FAILED, *SKIPPED, Status.ERROR):
        SubElement(case, "system-out").text = text
        return case
    message = entry.finding or "so few runs could not have shown a violation"
    SubElement(case, tag, type=str(status), message=printable(" ".join(message.split()))).text = text
    return case
