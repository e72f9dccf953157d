"""The comparison as LaTeX says what the terminal says, in characters that every LaTeX reads."""

import pytest

from subnormal import run
from subnormal.audit.report import twins

MECHANISMS = ["exponential-naive-float64", "exponential-base2"]


def test_a_paper_s_table_has_the_cells_of_the_comparison() -> None:
    report = run(["zero-rounding", "truncated-addition"], MECHANISMS, runs=2_000, jobs=1)
    written = report.to_latex()
    assert written.isascii()
    lines = written.splitlines()
    assert (lines[0].partition("  ")[0], lines[-1]) == (r"\begin{tabular}{llllll}", r"\end{tabular}")
    assert [line for line in lines if line.startswith(r"\multicolumn")] == [
        r"\multicolumn{6}{l}{zero-rounding, $\varepsilon$ = 0.5} \\",
        r"\multicolumn{6}{l}{truncated-addition, $\varepsilon$ = 37} \\",
    ]
    table = [line for line in lines if " & " in line]
    assert all(line.endswith(r" \\") for line in table)
    read = [tuple(_read(line.removesuffix(r" \\")).split(" & ")) for line in table]
    assert read == [twins.COLUMNS, *(twins.cells(row) for row in report.rows)]
    assert r"naive float64 & VIOLATED $\infty$ & " in written
    assert r"] $\times$ & " in written


def _read(line: str) -> str:
    for sign, command in twins.LATEX.items():
        line = line.replace(command, sign)
    return line


def test_without_runs_there_is_nothing_to_compare() -> None:
    report = run(["zero-rounding"], MECHANISMS, runs=0, jobs=1)
    with pytest.raises(ValueError, match="no row to compare: it takes zero-rounding, truncated-addition, "):
        report.to_latex()


def test_a_name_with_an_underscore_is_text() -> None:
    assert twins.in_latex("naive float8_e5m2") == r"naive float8\_e5m2"
