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
from subnormal.audit.report.junit import to_junit
from subnormal.audit.text import printable
from tests.audit.report.every_row import every_row, row_of

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


def test_every_row_is_a_case_of_the_structure(report: Report) -> None:
    for shown in (report, every_row()):
        for row, case in zip(shown.rows, read(shown), strict=True):
            assert "." not in case.get("classname", "")  # Jenkins would take what is before it for a package
            assert case.get("name") == printable(row.mechanism)
            assert row.violated == (case.find("failure") is not None)


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


def test_the_command_line_prints_it_and_nothing_else(tmp_path: Path) -> None:
    asked = ["run", "--attack", "zero-rounding", "--mechanism", "exponential-naive-float64", "--quick", "--jobs", "1"]
    result = CliRunner().invoke(main, [*asked, "--format", "junit", "--fail-on-violation", "--out", str(tmp_path)])
    assert result.exit_code == 1
    suite = ElementTree.fromstring(result.stdout.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert (tmp_path / "report.json").exists()
