"""What a terminal shows: errors and violations first, a pair of numbers a row, a conclusion; 80 columns at most.

The golden files show it of each kind of evidence and verdict, in short and wide.
"""

import dataclasses
import re

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from subnormal.audit.__main__ import main
from subnormal.audit.model import Report, Row
from subnormal.audit.report import proofs, sentences, terminal
from subnormal.audit.report.finding import finding
from subnormal.audit.text import printable
from tests.audit.report.every_row import every_row, row_of
from tests.audit.report.test_golden import printed


def whole(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(params=["ran", "made"])
def shown(request: pytest.FixtureRequest, report: Report) -> Report:
    return report if request.param == "ran" else every_row()


@pytest.fixture
def text(shown: Report) -> str:
    return printed(terminal.lines(shown))


def shown_alone(report: Report) -> list[Row]:
    """The rows that are no exact member that resists beside others."""
    others = {(row.attack, row.channel) for row in report.rows if not _resists(row)}
    return [row for row in report.rows if not _resists(row) or (row.attack, row.channel) not in others]


def _resists(row: Row) -> bool:
    return sentences.is_exact(row) and sentences.verdict(row) in ("HOLDS", "NOT REFUTED")


def test_every_row_has_its_verdict_and_what_was_claimed_and_found(text: str, shown: Report) -> None:
    assert max(map(cell_len, text.splitlines())) <= terminal.WIDTH
    assert "…" not in text
    told = whole(text)
    for row in shown_alone(shown):
        pair = finding(row)
        named = f"{printable(row.mechanism)} {sentences.verdict(row)}"
        columns = f"{named} {pair.claimed} {pair.found} {pair.by} "
        silent = f"{named} {pair.claimed} – {pair.by} " + whole(printable(row.error or row.note or "–"))
        assert any(whole(line) in told for line in (columns, f"{named} {pair} ({pair.by}) ", silent))
    assert all(row.attack in told for row in shown.rows)


def test_exact_members_that_resist_share_a_line(text: str, shown: Report) -> None:
    counted = sum(
        int(found[1]) + int(found[4] or 0)
        for found in (re.match(r"  and (\d+) exact members? (\w+)[^,]*(, (\d+))?", line) for line in text.splitlines())
        if found
    )
    named = sum(bool(re.match(r"  and \S+ \(exact\) (holds|is NOT REFUTED)", line)) for line in text.splitlines())
    assert counted + named + len(shown_alone(shown)) == len(shown.rows)


def test_attacks_that_succeed_come_first_and_in_each_the_rows_that_are_broken(report: Report) -> None:
    sections: list[list[bool]] = []
    for line in printed(terminal.lines(report)).split("\n\n")[0].splitlines()[1:]:
        if not line.startswith(" "):
            sections.append([])
        elif found := re.search(r"  (VIOLATED|HOLDS|NOT REFUTED|UNRESOLVED|UNDERPOWERED)(  |$)", line):
            sections[-1].append(found[1] == "VIOLATED")
    broken = [any(one) for one in sections if one]
    assert broken == sorted(broken, reverse=True)
    assert any(broken)
    assert all(one == sorted(one, reverse=True) for one in sections)


def test_the_conclusion_counts_rows_and_mechanisms(report: Report) -> None:
    end = whole(printed(terminal.lines(report)).split("\n\n", 1)[1])
    violated = [row for row in report.rows if row.violated]
    assert f"{len(report.rows)} rows: {len(violated)} VIOLATED, " in end
    broken = {row.mechanism for row in violated if row.channel is None}
    beside = {row.mechanism for row in violated} - broken
    mechanisms = {row.mechanism for row in report.rows}
    assert f"{len(broken)} of {len(mechanisms)} mechanisms break a claim, none of the " in end
    assert f"; {len(beside)} more by a side channel alone. " in end
    assert " violations are proved, in integers; " in end
    assert end.endswith("No verdict says that a mechanism is private.")


def test_no_conclusion_acquits() -> None:
    sound = tuple(row for row in every_row().rows if not row.violated)
    for rows, told in (
        (sound, "No claim was refuted. That is no evidence of privacy."),
        ((row_of(error="ValueError: no"),), "1 row: 1 ERROR. No row has a verdict on its claim."),
        ((), "no verdict"),
    ):
        assert told in whole(printed(terminal.lines(dataclasses.replace(every_row(), rows=rows))))


def test_a_name_that_is_too_long_has_a_line_of_its_own_and_its_numbers_stay(report: Report) -> None:
    name = "cmd: ./a_mechanism/of/somebody --with=many --flags=日本語 " * 3
    rows = (dataclasses.replace(report.rows[0], mechanism=name),)
    text = printed(terminal.lines(dataclasses.replace(report, rows=rows)))
    assert max(map(cell_len, text.splitlines())) <= terminal.WIDTH
    assert re.search(r"^ +VIOLATED +ε 0.5 +ε ∞ +exact$", text, re.MULTILINE)


@pytest.mark.parametrize("wide", [False, True])
def test_the_command_ends_with_the_conclusion_and_where_to_look(wide: bool, tmp_path: object) -> None:
    named = ["--attack", "zero-rounding", "--mechanism", "exponential-naive-float64"]
    arguments = ["run", *named, "--quick", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, [*arguments, *(["--wide"] if wide else [])])
    lines = result.stdout.splitlines()
    assert lines[-1] == f"report: {tmp_path}/report.html"
    assert "No verdict says that a mechanism is private." in whole(" ".join(lines[-8:]))
    assert ("KS ± margin" in result.stdout) == wide
    assert (max(map(cell_len, lines[:-1])) > terminal.WIDTH) == wide


def test_the_domains_of_exact_members_are_shown(report: Report) -> None:
    told = whole(printed(terminal.lines(report)))
    for name in ("exponential-exact", "laplace-exact", "threshold-exact"):
        decided = proofs.of(name)
        assert decided is not None
        assert f"{name}: {proofs.pairs(decided)} pairs of {decided.domain.partition(',')[0]}" in told
