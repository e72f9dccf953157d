"""A report as JUnit XML: of the structure that servers read, and no row prettier than it is.

The golden files have the words of each kind of evidence and verdict.
"""

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
from subnormal.audit.model import Report, Verdict, decisive
from subnormal.audit.report import sentences
from subnormal.audit.report.junit import to_junit
from subnormal.audit.text import printable
from tests.audit.report.every_row import UNRESOLVED, VIOLATED, every_row, exact, row_of, sampled

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


def read(report: Report) -> list[Element]:
    """Return the cases of the document, parsed again, and see that it is of the structure."""
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
    told = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    assert (told["seed"], told["runs"], told["alpha"]) == (str(report.seed), str(report.runs), str(report.alpha))
    return cases


@pytest.mark.parametrize("of", ["ran", "made"])
def test_every_row_is_a_case_and_looks_as_it_must(of: str, report: Report) -> None:
    shown = report if of == "ran" else every_row()
    for row, case in zip(shown.rows, read(shown), strict=True):
        title = row.attack if row.channel is None else f"{row.attack} ({row.channel})"
        assert case.get("classname", "").replace("·", ".") == title
        assert "." not in case.get("classname", "")  # Jenkins would take what is before it for a package
        assert case.get("name") == printable(row.mechanism)
        (told,) = case
        verdicts = {evidence.verdict for kind, evidence in row.evidence.items() if kind != "timing"}
        proved = Verdict.HOLDS in verdicts
        if row.error is not None:
            assert (told.tag, told.get("type")) == ("error", "ValueError")
        elif Verdict.VIOLATED in verdicts:
            assert told.tag == "failure"
            assert all(paragraph in told.get("message", "") for paragraph in sentences.decides(row))
        elif not verdicts or (not proved and verdicts & {Verdict.UNDERPOWERED, Verdict.UNRESOLVED}):
            assert told.tag == "skipped"
        else:
            assert told.tag == "system-out"
        for verdict in verdicts:
            assert f": {verdict}\n" in (told.text or "")
        if row.verdict is Verdict.NOT_REFUTED:
            assert "no evidence of privacy" in (told.text or "")


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


def test_a_message_names_only_the_evidence_that_convicts() -> None:
    one = row_of(exact=exact(UNRESOLVED), sampled=sampled(VIOLATED, 1.5))
    ((told,),) = read(dataclasses.replace(every_row(), rows=(one,)))
    assert told.tag == "failure"
    assert "too far apart" not in told.get("message", "")
    assert "too far apart" in (told.text or "")


def test_every_string_is_valid_xml() -> None:
    hostile = "".join(map(chr, range(0x3000))) + '\ud800\udfff\ufffe\uffff\U0001f600\U0010ffff ]]> <b a="\'"> &amp;'
    odd = row_of(mechanism=hostile, error=f"E: {hostile}", description=hostile)
    ((told,),) = read(dataclasses.replace(every_row(), environment={"processor": hostile}, rows=(odd,)))
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


def test_the_command_line_prints_it_and_nothing_else(tmp_path: Path) -> None:
    asked = ["run", "--attack", "zero-rounding", "--mechanism", "exponential-naive-float64", "--quick", "--jobs", "1"]
    result = CliRunner().invoke(main, [*asked, "--format", "junit", "--fail-on-violation", "--out", str(tmp_path)])
    assert result.exit_code == 1
    suite = ElementTree.fromstring(result.stdout.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert (tmp_path / "report.json").exists()
