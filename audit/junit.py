"""A report as JUnit XML, so that any continuous integration shows its rows as tests.

One suite, as pytest writes it: attacks are the classes, mechanisms the cases. That is how Jenkins, GitLab and the usual
actions on GitHub group them; GitLab shows nothing of a failure but its body, so the body has all there is to say.

VIOLATED is a failure, and a row's error an error. What decides nothing is skipped, since it must not pass for a pass.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from audit.render import interval, printable, sections, short
from audit.report import Evidence, ExactEvidence, Report, Row, SampledEvidence, SequentialEvidence, Verdict

MEANINGS = {
    Verdict.VIOLATED: "these worlds differ by more than the claim allows. The mechanism needs mending, or its claim.",
    Verdict.HOLDS: "proved for these worlds, and for no others. That does not make a mechanism private.",
    Verdict.UNRESOLVED: "certified bounds lie on both sides of the claim, so that nothing is decided.",
    Verdict.NOT_REFUTED: "the runs do not convict. That is no acquittal: other attacks, or more runs, may.",
    Verdict.UNDERPOWERED: "so few runs would not convict even worlds without a common outcome. More --runs may.",
}
NO_EVIDENCE = "nothing was examined: no law, and no runs."
SKIPPED = (Verdict.UNRESOLVED, Verdict.UNDERPOWERED, None)


def to_junit(report: Report) -> str:
    """Return the report as one XML document. The same report gives the same bytes, in ASCII whatever the locale."""
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name="subnormal")
    properties = SubElement(suite, "properties")
    for name, value in _properties(report).items():
        SubElement(properties, "property", name=printable(name), value=printable(value))
    for section in sections(report.rows):
        for row in section.rows:
            suite.append(_case(section.title, row))
    counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.set("tests", str(len(report.rows)))
    for name, tag in counted.items():
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", "0")  # readers want a number, and a report has none
    indent(root, " ")
    document: bytes = tostring(root, encoding="us-ascii", xml_declaration=True)
    return document.decode() + "\n"


def _properties(report: Report) -> dict[str, str]:
    told = {name: str(getattr(report, name)) for name in ("version", "seed", "runs", "alpha", "alpha_per_row")}
    return told | {f"environment.{name}": value for name, value in report.environment.items()}


def _case(title: str, row: Row) -> Element:
    """Return one row as a test case. A dot in a class's name would end its package: ε = 0.5 is written 0·5 there."""
    case = Element("testcase", classname=printable(title.replace(".", "·")), name=printable(row.mechanism), time="0")
    verdict, body = row.verdict, printable("\n".join(_told(row)))
    if row.error is not None:
        kind, told = "error", row.error
    elif verdict is Verdict.VIOLATED:
        kind, told = "failure", f"claimed {_claimed(row)}; {'; '.join(_found(row, Verdict.VIOLATED))}"
    elif verdict in SKIPPED:
        kind, told = "skipped", _meaning(verdict)
    else:
        SubElement(case, "system-out").text = body
        return case
    kept = SubElement(case, kind, type=_type(row), message=printable(" ".join(told.split())))
    kept.text = body
    return case


def _type(row: Row) -> str:
    """Return the verdict, or the name of the exception."""
    if row.error is not None:
        return printable(row.error.partition(":")[0])
    return str(row.verdict or "no evidence")


def _meaning(verdict: Verdict | None) -> str:
    return NO_EVIDENCE if verdict is None else f"{verdict}: {MEANINGS[verdict]}"


def _told(row: Row) -> list[str]:
    """Return what is claimed, what was found, how sure that is, and what it means: a line each."""
    lines = [f"attack: {row.description} ({row.source})", f"claim: {_claimed(row)}"]
    lines += [f"package: {row.package}"] if row.package else []
    lines += [f"found: {found}" for found in _found(row)]
    lines += [f"warning: {told}" for told in row.warnings]
    return [*lines, f"error: {row.error}" if row.error is not None else _meaning(row.verdict)]


def _claimed(row: Row) -> str:
    if row.claim is None:
        return "none was made"
    return (
        f"ε = {short(row.claim.epsilon)}, δ = {short(row.claim.delta)}, "
        f"which allows an advantage of {short(row.advantage_allowed)}"
    )


def _found(row: Row, verdict: Verdict | None = None) -> list[str]:
    """Return a line for each kind of evidence, or for those alone that say so."""
    return [
        f"{kind} evidence: {evidence.verdict}, {_numbers(evidence)}"
        for kind, evidence in row.evidence.items()
        if verdict in (None, evidence.verdict)
    ]


def _numbers(evidence: Evidence) -> str:
    if isinstance(evidence, ExactEvidence):
        return (
            f"certified; loss ε = {short(evidence.epsilon)}, δ = {short(evidence.delta)} at the claimed ε, "
            f"advantage {short(evidence.advantage)}"
        )
    if isinstance(evidence, SampledEvidence):
        return (
            f"{evidence.runs:,} runs of each world, at confidence {short(evidence.confidence)}; "
            f"loss ε ≥ {short(evidence.epsilon_lower)}, advantage {interval(evidence.advantage)}"
        )
    if isinstance(evidence, SequentialEvidence):
        return (
            f"{evidence.runs:,} runs of each world, of at most {evidence.runs_max:,}; ln(e-value) = "
            f"{short(evidence.log_e_value)}, and {short(-math.log(evidence.alpha))} convicts"
        )
    seen = "tells the worlds apart" if evidence.detected else "was not seen to tell the worlds apart"
    return (
        f"{evidence.measurements:,} measurements, at confidence {short(evidence.confidence)}; "
        f"the clock {seen}, p = {short(evidence.sign_p)}, time in/out {interval(evidence.ratio)}"
    )
