"""What a terminal shows: errors and violations first, a pair of numbers a row, a conclusion; 80 columns at most.

The golden files show it of each kind of evidence and verdict.
"""

import dataclasses
import re

from click.testing import CliRunner
from rich.cells import cell_len

from subnormal.audit.__main__ import main
from subnormal.audit.model import Report
from subnormal.audit.report import terminal
from tests.audit.report.every_row import every_row, row_of
from tests.audit.report.test_golden import printed


def whole(text: str) -> str:
    return " ".join(text.split())


def test_every_line_of_a_real_report_has_80_columns_and_nothing_is_cut_off(report: Report) -> None:
    text = printed(terminal.lines(report))
    assert max(map(cell_len, text.splitlines())) <= terminal.WIDTH
    assert "…" not in text
    assert all(row.attack in whole(text) for row in report.rows)


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


def test_the_command_ends_with_the_conclusion_and_where_to_look(tmp_path: object) -> None:
    named = ["--attack", "zero-rounding", "--mechanism", "exponential-naive-float64"]
    arguments = ["run", *named, "--quick", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, arguments)
    lines = result.stdout.splitlines()
    assert lines[-1] == f"report: {tmp_path}/report.html"
    assert "No verdict says that a mechanism is private." in whole(" ".join(lines[-8:]))
    assert max(map(cell_len, lines[:-1])) <= terminal.WIDTH
