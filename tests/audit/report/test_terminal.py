"""What a terminal shows: errors and violations first, a pair of numbers a row, a conclusion; 80 columns at most."""

import dataclasses
import io
import re

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console

from subnormal.audit.__main__ import main
from subnormal.audit.model import Report, Row, Verdict
from subnormal.audit.report import proofs, sentences, terminal
from subnormal.audit.report.finding import finding


def printed(report: Report) -> list[str]:
    console = Console(width=terminal.WIDTH, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        for line in terminal.lines(report):
            console.print(line)
    return capture.get().splitlines()


def whole(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.fixture
def text(report: Report) -> list[str]:
    return printed(report)


def test_no_line_is_longer_than_80_columns_and_no_number_is_cut_off(text: list[str], report: Report) -> None:
    assert max(map(cell_len, text)) == terminal.WIDTH
    assert "…" not in whole(text)


def shown_alone(report: Report) -> list[Row]:
    """The rows that are no exact member that resists beside others."""
    others = {(row.attack, row.channel) for row in report.rows if not _resists(row)}
    return [row for row in report.rows if not _resists(row) or (row.attack, row.channel) not in others]


def _resists(row: Row) -> bool:
    return sentences.is_exact(row) and sentences.verdict(row) in ("HOLDS", "NOT REFUTED")


def test_every_row_has_its_verdict_and_what_was_claimed_and_found(text: list[str], report: Report) -> None:
    told = whole(text)
    for row in shown_alone(report):
        pair = finding(row)
        columns = f"{row.mechanism} {sentences.verdict(row)} {pair.claimed} {pair.found} {pair.by} "
        line = f"{row.mechanism} {sentences.verdict(row)} {pair} ({pair.by}) "
        assert columns in told or line in told
    assert sum(told.count(f" {row.attack} ") >= 1 for row in report.rows) == len(report.rows)


def test_exact_members_that_resist_share_a_line(text: list[str], report: Report) -> None:
    counted = sum(
        int(found[1]) + int(found[3] or 0)
        for found in (re.match(r"  and (\d+) exact members? (\w+)[^,]*(, (\d+))?", line) for line in text)
        if found
    )
    named = sum(bool(re.match(r"  and \S+ \(exact\) (holds|is NOT REFUTED)", line)) for line in text)
    assert counted + named + len(shown_alone(report)) == len(report.rows)
    assert counted > 50


def test_attacks_that_succeed_come_first_and_in_each_the_rows_that_are_broken(text: list[str], report: Report) -> None:
    verdicts = [
        re.search(r"  (VIOLATED|HOLDS|NOT REFUTED|UNRESOLVED|UNDERPOWERED)  ", line)
        for line in text
        if not line.startswith("attack")
    ]
    sections: list[list[str]] = []
    for line, verdict in zip(text[1:], verdicts, strict=True):
        if line[:1] not in ("", " "):
            sections.append([])
        if verdict:
            sections[-1].append(verdict[1])
    broken = ["VIOLATED" in one for one in sections if one]
    assert broken == sorted(broken, reverse=True)
    assert any(broken)
    for one in sections:
        assert [verdict == "VIOLATED" for verdict in one] == sorted(
            (verdict == "VIOLATED" for verdict in one), reverse=True
        )


def test_an_error_comes_first_with_its_message(report: Report) -> None:
    told = "ValueError: [red] & \x1b[31m " + "a long story " * 20
    failed = dataclasses.replace(report.rows[-1], mechanism="failing", error=told, timing=None)
    text = printed(dataclasses.replace(report, rows=(*report.rows[:-1], failed)))
    assert text[1].startswith(failed.attack)
    assert "failing" in text[2]
    assert "ERROR" in text[2]
    assert "ValueError: [red] & \\x1b[31m a long story" in text[3]
    assert all(line.startswith("    ") for line in text[3:6])
    assert "1 ERROR" in whole(text[text.index("") :])


def test_singleton_keys_show_the_delta_that_convicts(report: Report) -> None:
    """A loss of ∞ and an advantage within what is allowed, in both rows: only δ tells them apart."""
    some = tuple(row for row in report.rows if row.attack == "singleton-key")
    line = next(one for one in printed(dataclasses.replace(report, rows=some)) if "VIOLATED" in one)
    assert re.search(r"VIOLATED +δ 2.8e-09 +δ 3e-08 +exact", line)


def test_the_conclusion_counts_rows_and_mechanisms(text: list[str], report: Report) -> None:
    end = whole(text[text.index("") :])
    violated = [row for row in report.rows if row.violated]
    assert f"{len(report.rows)} rows: {len(violated)} VIOLATED, " in end
    broken = {row.mechanism for row in violated if row.channel is None}
    beside = {row.mechanism for row in violated} - broken
    mechanisms = {row.mechanism for row in report.rows}
    assert f"{len(broken)} of {len(mechanisms)} mechanisms break a claim, none of the " in end
    assert f"; {len(beside)} more by a side channel alone. " in end
    assert " violations are proved, in integers; " in end
    assert end.endswith("No verdict says that a mechanism is private.")


def test_no_conclusion_acquits(report: Report) -> None:
    sound = tuple(row for row in report.rows if not row.violated and row.channel is None)
    end = whole(printed(dataclasses.replace(report, rows=sound)))
    assert "No claim was refuted. That is no evidence of privacy." in end
    failed = dataclasses.replace(report.rows[0], error="ValueError: no")
    end = whole(printed(dataclasses.replace(report, rows=(failed,))))
    assert "1 row: 1 ERROR. No row has a verdict on its claim." in end
    assert "no verdict" in whole(printed(dataclasses.replace(report, rows=())))


def test_a_name_that_is_too_long_has_a_line_of_its_own_and_its_numbers_stay(report: Report) -> None:
    name = "cmd: ./a_mechanism/of/somebody --with=many --flags=日本語 " * 3
    text = printed(dataclasses.replace(report, rows=(dataclasses.replace(report.rows[0], mechanism=name),)))
    assert max(map(cell_len, text)) <= terminal.WIDTH
    assert re.search(r"^ +VIOLATED +ε 0.5 +ε ∞ +exact$", "\n".join(text), re.MULTILINE)


def test_one_long_pair_does_not_narrow_the_names_of_all(report: Report) -> None:
    distance = next(row for row in report.rows if row.sampled is not None and row.violated)
    assert distance.sampled is not None
    by = dataclasses.replace(distance.sampled, verdict=Verdict.VIOLATED, convicted_by="distance")
    shown = dataclasses.replace(distance, mechanism="other", exact=None, exhaustive=None, sampled=by)
    alone, both = (printed(dataclasses.replace(report, rows=rows)) for rows in ((distance,), (distance, shown)))
    at = next(place for place, line in enumerate(both) if line.startswith("  other"))
    assert both[at].endswith(" VIOLATED")
    assert re.fullmatch(r"    claims distance \S+ · found distance ≥ \S+ \(sampled\)", both[at + 1])
    assert alone[2].split() == both[2].split()


@pytest.mark.parametrize("wide", [False, True])
def test_the_command_ends_with_the_conclusion_and_where_to_look(wide: bool, tmp_path: object) -> None:
    named = ["--attack", "zero-rounding", "--mechanism", "exponential-naive-float64"]
    arguments = ["run", *named, "--quick", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, [*arguments, *(["--wide"] if wide else [])])
    lines = result.stdout.splitlines()
    assert lines[-1] == f"report: {tmp_path}/report.html"
    assert "No verdict says that a mechanism is private." in whole(lines[-8:])
    assert ("KS ± margin" in result.stdout) == wide
    assert (max(map(cell_len, lines[:-1])) > terminal.WIDTH) == wide


def test_the_domains_of_exact_members_are_shown(report: Report, text: list[str]) -> None:
    shown = whole(text)
    names = {row.mechanism for row in report.rows}
    assert {"exponential-exact", "laplace-exact", "threshold-exact"} <= names
    for name in ("exponential-exact", "laplace-exact", "threshold-exact"):
        decided = proofs.of(name)
        assert decided is not None
        assert f"{name}: {proofs.pairs(decided)} pairs of {decided.domain.partition(',')[0]}" in shown
    assert all(len(line) <= 80 for line in text)
