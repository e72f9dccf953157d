"""What a suite writes of its checks: their status, JUnit, SARIF and the index. No check is run."""

import datetime
import json
from typing import Any
from xml.etree import ElementTree

import pytest

from subnormal.audit.check.severity import Severity
from subnormal.audit.suite.entry import Accepted, Entry, Status
from subnormal.audit.suite.formats import to_html, to_junit, to_sarif

TODAY = datetime.date(2030, 6, 30)


def entry(verdict: str | None, *, until: datetime.date | None = None, error: str | None = None, **more: Any) -> Entry:
    document = {
        "verdict": verdict,
        "error": error,
        "severity": "large loss" if verdict == "VIOLATED" else None,
        "claim": "epsilon = 1",
        "event": {"words": "the outcome is <0>"},
        "worlds": {"in": "[1]", "out": "[]"},
        "pairs": 12,
        "runs": 3_456,
        "seconds": 7.5,
    } | more
    accepted = None if until is None else Accepted("a:f", "large loss", "known", until)
    return Entry("a:f", document, "the text", "<p>the page</p>", ("src/a b.py", 64), accepted, TODAY)


@pytest.mark.parametrize(
    ("one", "status", "tag", "level"),
    [
        (entry("VIOLATED"), Status.VIOLATED, "failure", "error"),
        (entry("VIOLATED", until=TODAY), Status.ACCEPTED, "skipped", "error"),
        (entry("VIOLATED", until=TODAY - datetime.timedelta(1)), Status.EXPIRED, "failure", "error"),
        (entry("VIOLATED", severity="last bits"), Status.VIOLATED, "failure", "warning"),
        (entry(None, error="it crashed"), Status.ERROR, "error", None),
        (entry("UNDERPOWERED"), Status.UNDERPOWERED, "skipped", None),
        (entry("NOT REFUTED"), Status.NOT_REFUTED, "system-out", None),
        (entry("NOT REFUTED", until=TODAY), Status.NOT_REFUTED, "system-out", None),
    ],
)
def test_each_status_in_each_format(one: Entry, status: Status, tag: str, level: str | None) -> None:
    assert one.status is status
    (case,) = ElementTree.fromstring(to_junit([one], 1e-6)).iter("testcase")
    (child,) = case
    assert child.tag == tag
    assert (child.text or "").startswith("src/a b.py:64\nthe text")
    (run,) = json.loads(to_sarif([one], "1.2.3"))["runs"]
    assert [result["level"] for result in run["results"]] == ([] if level is None else [level])
    assert [("suppressions" in result) for result in run["results"]] == [status is Status.ACCEPTED] * bool(level)
    assert run["invocations"][0]["executionSuccessful"] is (status is not Status.ERROR)
    assert len(run["invocations"][0]["toolExecutionNotifications"]) == (status is Status.ERROR)
    page = to_html([one], ["check-a-f.html"], 1e-6)
    assert f">{status}</b>" in page
    assert '<a href="check-a-f.html">a:f</a>' in page
    assert "at least 99.9999" in page


def test_a_finding_of_sarif_has_its_rule_its_file_and_its_line() -> None:
    (run,) = json.loads(to_sarif([entry("VIOLATED"), entry("NOT REFUTED")], "1.2.3"))["runs"]
    (result,) = run["results"]
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) == len(Severity)
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "privacy/large-loss"
    (location,) = result["locations"]
    artifact = {"uri": "src/a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert location["physicalLocation"] == {"artifactLocation": artifact, "region": {"startLine": 64}}
    assert "epsilon = 1; the outcome is <0>. The inputs are [1] and []." in result["message"]["text"]


def test_a_suite_counts_its_cases_for_junit() -> None:
    entries = [entry("VIOLATED"), entry("NOT REFUTED"), entry(None, error="no"), entry("VIOLATED", until=TODAY)]
    (suite,) = ElementTree.fromstring(to_junit(entries, 1e-6))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "30.0"}
