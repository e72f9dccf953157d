"""A suite as other programs and people read it: a page, an index of its checks' pages; JUnit XML, see `report.junit`;
and SARIF 2.1.0, by which code hosts show each finding at its line. A rule of SARIF is a severity of findings.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element

from subnormal.audit.check.severity import Severity
from subnormal.audit.report.junit import case, document
from subnormal.audit.report.to_html import filled
from subnormal.audit.suite.entry import FAILED, Entry, Status
from subnormal.audit.text import percent, short, thousandths

# An accepted finding is skipped in JUnit, and so is a check without a decision.
TAGS = dict.fromkeys(FAILED, "failure") | {Status.ERROR: "error"}
TAGS |= dict.fromkeys((Status.ACCEPTED, Status.UNDERPOWERED), "skipped")
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {  # what a rule says, the level of its findings, and how bad they are from 0 to 10, as GitHub reads it
    Severity.DETERMINISTIC: ("In all runs, the outcome tells two neighbouring inputs apart", "error", "9.0"),
    Severity.LARGE_LOSS: ("The loss is at least twice the claimed epsilon", "error", "8.0"),
    Severity.NEAR_THE_CLAIM: ("The loss exceeds the claimed epsilon", "error", "6.0"),
    Severity.LAST_BITS: ("Only the last bits of floats tell two neighbouring inputs apart", "warning", "4.0"),
}


def to_html(entries: Sequence[Entry], pages: Sequence[str], alpha: float) -> str:
    """Return the page. pages: the names of the checks' pages, in the same order. alpha: of the whole suite."""
    counted = Counter(one.status for one in entries)
    return filled(
        "suite.html.jinja",
        entries=list(zip(entries, pages, strict=True)),
        counts={str(status): counted[status] for status in Status if counted[status]},
        confidence=percent(1 - alpha),
    )


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


def to_sarif(entries: Sequence[Entry], version: str) -> str:
    """Return the suite as one JSON document: a result for each violation, a notification for each error."""
    failed = [one for one in entries if one.status is Status.ERROR]
    run = {
        "tool": {"driver": {"name": "Subnormal", "semanticVersion": version, "rules": _rules()}},
        "results": [_result(one) for one in entries if one.document["verdict"] == Status.VIOLATED],
        "invocations": [
            {
                "executionSuccessful": not failed,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": f"{one.name}: {one.finding}"}, "locations": _locations(one)}
                    for one in failed
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=True) + "\n"


def _rules() -> list[dict[str, Any]]:
    return [
        {
            "id": _rule(severity),
            "name": severity.title().replace(" ", ""),
            "shortDescription": {"text": f"{text}."},
            "defaultConfiguration": {"level": level},
            "properties": {"security-severity": score, "tags": ["security", "privacy"]},
        }
        for severity, (text, level, score) in RULES.items()
    ]


def _rule(severity: str) -> str:
    return f"privacy/{severity.replace(' ', '-')}"


def _result(entry: Entry) -> dict[str, Any]:
    severity = Severity(entry.document["severity"])
    worlds = entry.document["worlds"]
    inputs = "" if worlds is None else f" The inputs are {worlds['in']} and {worlds['out']}."
    result = {
        "ruleId": _rule(severity),
        "ruleIndex": list(RULES).index(severity),
        "level": RULES[severity][1],
        "message": {"text": f"{entry.name} breaks its claim: {entry.finding}.{inputs}"},
        "locations": _locations(entry),
        "partialFingerprints": {"check/v1": f"{entry.name}, {severity}"},
    }
    if entry.status is Status.ACCEPTED and entry.accepted is not None:
        known = {"kind": "external", "justification": entry.accepted.reason}
        return result | {"suppressions": [known]}
    return result


def _locations(entry: Entry) -> list[dict[str, Any]]:
    file, line = entry.place
    is_inside = not Path(file).is_absolute()
    artifact = {"uri": quote(file), "uriBaseId": "%SRCROOT%"} if is_inside else {"uri": Path(file).as_uri()}
    return [{"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}]
