"""A report as JUnit XML: of the structure that servers read, and no row prettier than it is."""

import dataclasses
import itertools
import re
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.model import ExactEvidence, Report, Row, SequentialEvidence, Verdict, decisive
from subnormal.audit.report import sentences
from subnormal.audit.report.junit import to_junit
from subnormal.audit.text import printable

# What Jenkins accepts (its junit-10.xsd): element -> required attributes, other attributes, children.
RESULT = (set[str](), {"type", "message"}, set[str]())
STRUCTURE = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": RESULT,
    "error": RESULT,
    "skipped": RESULT,
    "system-out": (set(), set(), set()),
}
SEQUENTIAL = SequentialEvidence(
    Verdict.VIOLATED, 512, 2_000, 0, 0.05, 7.5, {"kind": "refuses", "portable": True}, 100, 0, ((0, 0.0),)
)


def read(report: Report) -> Element:
    """Return the document parsed again, and see that it is of the structure."""
    root = ElementTree.fromstring(to_junit(report).encode())
    for element in root.iter():
        required, others, children = STRUCTURE[element.tag]
        assert required <= set(element.attrib) <= required | others, element.attrib
        assert {child.tag for child in element} <= children
    (suite,) = root
    cases = suite.findall("testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    assert suite.get("tests") == str(len(cases)) == str(len(report.rows))
    for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(counted) == str(len([case for case in cases if case.find(tag) is not None]))
    return suite


def case_of(report: Report, row: Row) -> Element:
    """Return the case of a report with this row alone, and see that it is one thing only."""
    (case,) = read(dataclasses.replace(report, rows=(row,))).findall("testcase")
    (told,) = case
    return told


@pytest.fixture
def row(report: Report) -> Row:
    """A row with exact and sampled evidence."""
    return report.rows[0]


def test_every_row_is_a_case_and_looks_as_it_must(report: Report) -> None:
    cases = read(report).findall("testcase")
    tags = set()
    for row, case in zip(report.rows, cases, strict=True):
        title = row.attack if row.channel is None else f"{row.attack} ({row.channel})"
        assert case.get("classname", "").replace("·", ".") == title
        assert "." not in case.get("classname", "")  # Jenkins would take what is before it for a package
        assert case.get("name") == row.mechanism
        (told,) = case
        kinds = (row.exact, row.exhaustive, row.sampled, row.sequential)
        verdicts = {evidence.verdict for evidence in kinds if evidence}
        proved = Verdict.HOLDS in verdicts
        if Verdict.VIOLATED in verdicts:
            assert told.tag == "failure"
        elif not proved and (verdicts & {Verdict.UNDERPOWERED, Verdict.UNRESOLVED} or row.timing is not None):
            assert told.tag == "skipped"
        else:
            assert told.tag == "system-out"
        for verdict in verdicts:
            assert f": {verdict}\n" in (told.text or "")
        if row.verdict is Verdict.NOT_REFUTED:
            assert "no evidence of privacy" in (told.text or "")
        tags.add(told.tag)
    assert tags == {"failure", "skipped", "system-out"}


@pytest.mark.parametrize("size", range(1, 6))
def test_what_is_shown_speaks_before_what_is_not(size: int) -> None:
    for verdicts in itertools.permutations(Verdict, size):
        spoken = decisive(verdicts)
        if Verdict.VIOLATED in verdicts:
            assert spoken is Verdict.VIOLATED
        elif spoken is Verdict.NOT_REFUTED:
            assert verdicts == (Verdict.NOT_REFUTED,)
        else:
            assert (spoken is Verdict.HOLDS) == (Verdict.HOLDS in verdicts)
    assert decisive(()) is None


def test_a_failure_says_what_was_claimed_what_was_found_and_how_sure(report: Report, row: Row) -> None:
    told = case_of(report, row)
    assert (told.tag, told.get("type")) == ("failure", "VIOLATED")
    message, body = told.get("message", ""), told.text or ""
    assert message.startswith("claimed ε = 0.5, which allows an advantage of 0.2449; known by exact, sampled at 99.9")
    assert "a loss of ∞, and the claimed ε would need a δ of 0.99" in message
    assert "claim: ε = 0.5, which allows an advantage of 0.2449\n" in body
    assert row.description in body
    assert f"\n{row.sampled.runs:,} runs of each world show the event" in body  # type: ignore[union-attr]
    assert "If the claim were true, runs would show this with a probability of at most 0.000" in body
    assert "Not shown: the loss on other data, which may be larger." in body
    assert all(paragraph in message and paragraph in body for paragraph in sentences.says(row))


def test_a_message_names_only_the_evidence_that_convicts(report: Report) -> None:
    (row,) = (
        one for one in report.rows if (one.attack, one.mechanism) == ("truncated-addition", "exponential-naive-float64")
    )
    told = case_of(report, row)
    assert "too few" not in told.get("message", "")
    assert "sampled: UNDERPOWERED\n" in (told.text or "")
    assert "too few" in (told.text or "")


def test_a_law_that_decides_nothing_is_not_the_reason_of_a_failure(report: Report, row: Row) -> None:
    assert row.exact is not None
    unresolved = dataclasses.replace(row.exact, verdict=Verdict.UNRESOLVED)
    told = case_of(report, dataclasses.replace(row, exact=unresolved))
    assert told.tag == "failure"
    assert "too far apart" not in told.get("message", "")
    assert "runs of each world show the event" in told.get("message", "")
    assert "too far apart" in (told.text or "")


@pytest.mark.parametrize(
    ("verdict", "tag", "said"),
    [
        ("VIOLATED", "failure", "Not shown: the loss on other data, which may be larger."),
        ("HOLDS", "system-out", "Not shown: any other pair of worlds"),
        ("UNRESOLVED", "skipped", "too far apart to decide"),
    ],
)
def test_what_is_not_decided_does_not_pass(verdict: str, tag: str, said: str, report: Report, row: Row) -> None:
    assert isinstance(row.exact, ExactEvidence)
    shown = dataclasses.replace(row, exact=dataclasses.replace(row.exact, verdict=Verdict(verdict)), sampled=None)
    told = case_of(report, shown)
    assert told.tag == tag
    assert f"exact: {verdict}\n" in (told.text or "")
    assert said in (told.text or "").splitlines()[-1]
    assert tag == "system-out" or said in told.get("message", "")


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [("VIOLATED", "failure"), ("NOT REFUTED", "system-out"), ("UNDERPOWERED", "skipped")],
)
def test_a_bet_is_a_case_like_runs_and_a_clock_is_skipped(verdict: str, tag: str, report: Report, row: Row) -> None:
    bet = dataclasses.replace(SEQUENTIAL, verdict=Verdict(verdict))
    told = case_of(report, dataclasses.replace(row, exact=None, sampled=None, sequential=bet))
    assert told.tag == tag
    assert f"sequential: {verdict}\n" in (told.text or "")
    assert "512 runs of each world" in (told.text or "").splitlines()[-1]
    timed = next(one for one in report.rows if one.timing is not None)
    assert timed.timing is not None
    told = case_of(
        report, dataclasses.replace(timed, timing=dataclasses.replace(timed.timing, verdict=Verdict(verdict)))
    )
    assert (told.tag, told.get("type")) == ("skipped", "MEASURED")
    assert f"timing: {verdict}\nFrom {timed.timing.measurements:,} measurements" in (told.text or "")
    assert ("no evidence of privacy" in (told.text or "")) == (verdict == "NOT REFUTED")


def test_a_row_without_evidence_is_skipped_and_says_so(report: Report, row: Row) -> None:
    told = case_of(report, dataclasses.replace(row, exact=None, sampled=None))
    assert (told.tag, told.get("message")) == (
        "skipped",
        "There are no runs and no law, so there is no verdict on this claim.",
    )


def test_an_error_comes_before_everything_else(report: Report, row: Row) -> None:
    told = case_of(report, dataclasses.replace(row, error="TargetError: was ended\nby signal 6", claim=None))
    assert (told.tag, told.get("type"), told.get("message")) == (
        "error",
        "TargetError",
        "TargetError: was ended by signal 6",
    )
    assert "claim: none was made" in (told.text or "")


def test_every_string_is_valid_xml(report: Report, row: Row) -> None:
    hostile = "".join(map(chr, range(0x3000))) + '\ud800\udfff\ufffe\uffff\U0001f600\U0010ffff ]]> <b a="\'"> &amp;'
    odd = dataclasses.replace(row, mechanism=hostile, error=f"E: {hostile}", description=hostile)
    told = case_of(dataclasses.replace(report, environment={"processor": hostile}), odd)
    assert f"error: E: {printable(hostile)}" in (told.text or "")
    assert "\\x1b" in (told.text or "")


def test_what_is_printable_is_what_xml_allows() -> None:
    shown = printable("".join(map(chr, range(sys.maxunicode + 1))))
    assert re.fullmatch("[\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*", shown)  # XML 1.0, production 2
    assert not re.search("[\x7f-\x9f\u200e\u202e\ufeff]", shown)  # nor does it turn a terminal upside down


def test_bytes_are_the_same_and_know_no_time(report: Report) -> None:
    text = to_junit(report)
    assert text == to_junit(report)
    assert text.isascii()
    assert "timestamp" not in text
    assert {element.get("time") for element in ElementTree.fromstring(text).iter()} == {None, "0"}


def test_the_run_can_be_made_again_from_its_properties(report: Report) -> None:
    told = {one.get("name"): one.get("value") for one in read(report).findall("properties/property")}
    assert (told["seed"], told["runs"], told["alpha"]) == (str(report.seed), str(report.runs), str(report.alpha))
    assert told["version"] == report.version
    assert all(told[f"environment.{name}"] == value for name, value in report.environment.items())


def test_the_command_line_prints_it_and_nothing_else(tmp_path: Path) -> None:
    asked = ["run", "--attack", "zero-rounding", "--mechanism", "exponential-naive-float64", "--quick"]
    result = CliRunner().invoke(main, [*asked, "--format", "junit", "--fail-on-violation", "--out", str(tmp_path)])
    assert result.exit_code == 1
    suite = ElementTree.fromstring(result.stdout.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert (tmp_path / "report.json").exists()
