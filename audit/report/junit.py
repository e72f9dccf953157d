"""A report as JUnit XML: continuous integration servers show its rows as tests.

One suite, as in pytest: attacks are the classes, mechanisms the cases. Jenkins, GitLab and the usual GitHub actions
group them so. GitLab shows only the body of a failure, so the body has everything.

VIOLATED is a failure, and an error of a row is an error. A row without a decision is skipped, so it does not pass.
So is a row that only a clock has judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from subnormal.audit.model import Report, Row, Verdict
from subnormal.audit.report import sentences
from subnormal.audit.report.finding import finding
from subnormal.audit.report.table import sections
from subnormal.audit.text import printable, short

SKIPPED = (Verdict.UNRESOLVED, Verdict.UNDERPOWERED, None)


def to_junit(report: Report) -> str:
    """Return the report as one XML document, in ASCII. The same report has the same bytes."""
    cases = [_case(section.title, row) for section in sections(report.rows) for row in section.rows]
    return document(cases, _properties(report))


def document(cases: Sequence[Element], named: Mapping[str, str], seconds: float = 0.0) -> str:
    """Return test cases and properties as one XML document, in ASCII. seconds: 0 for a report, which has no time."""
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name="subnormal")
    properties = SubElement(suite, "properties")
    for name, value in named.items():
        SubElement(properties, "property", name=printable(name), value=printable(value))
    suite.extend(cases)
    counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.set("tests", str(len(cases)))
    for name, tag in counted.items():
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", str(round(seconds, 3) or 0))
    indent(root, " ")
    encoded: bytes = tostring(root, encoding="us-ascii", xml_declaration=True)
    return encoded.decode() + "\n"


def case(named: tuple[str, str, str], body: str, tag: str | None, kind: str, message: str) -> Element:
    """Return a test case that failed, had an error or was skipped, as its tag says, or passed, without a tag.

    named: its class, its name and its time. kind: of the result, such as a verdict.
    """
    of, name, seconds = map(printable, named)
    one = Element("testcase", classname=of, name=name, time=seconds)
    said = {"type": printable(kind), "message": printable(" ".join(message.split()))} if tag else dict[str, str]()
    SubElement(one, tag or "system-out", said).text = printable(body)
    return one


def _properties(report: Report) -> dict[str, str]:
    properties = {name: str(getattr(report, name)) for name in ("version", "seed", "runs", "alpha", "alpha_per_row")}
    within = report.environment.keys()
    return properties | {
        f"environment.{name}" if name in within else name: value for name, value in report.made_with.items()
    }


def _case(title: str, row: Row) -> Element:
    """Return one row as a test case. A dot in a class name would end its package, so ε = 0.5 becomes 0·5 there."""
    tag, kind, message = None, sentences.verdict(row), " ".join(sentences.decides(row))
    if row.error is not None:
        tag, kind, message = "error", row.error.partition(":")[0], row.error
    elif row.violated:
        message = f"claimed {_claimed(row)}; known by {sentences.known(row)}. {finding(row)}. {message}"
        tag = "failure"
    elif row.verdict in SKIPPED:
        tag, kind = "skipped", kind if row.evidence else "no evidence"
    return case((title.replace(".", "·"), row.mechanism, "0"), "\n".join(_body(row)), tag, kind, message)


def _body(row: Row) -> list[str]:
    """Return the lines of a case: the claim, the result, its certainty, and its limits."""
    lines = [f"attack: {row.description} ({row.source})", f"claim: {_claimed(row)}"]
    lines += [f"package: {row.package}"] if row.package else []
    lines += [str(finding(row))] if row.error is None else []
    lines += [f"{kind}: {evidence.verdict}" for kind, evidence in row.evidence.items()]
    return lines + (sentences.says(row) if row.error is None else [f"error: {row.error}"])


def _claimed(row: Row) -> str:
    if row.claim is None:
        return "none was made"
    return f"{sentences.claim(row)}, which allows an advantage of {short(row.advantage_allowed)}"
