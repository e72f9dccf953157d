"""The comparison as LaTeX: a golden file has its table, in characters that every LaTeX reads."""

import pytest

from subnormal import run
from subnormal.audit.report import twins


def test_without_runs_there_is_nothing_to_compare() -> None:
    report = run(["zero-rounding"], ["exponential-naive-float64", "exponential-base2"], runs=0, jobs=1)
    with pytest.raises(ValueError, match="no row to compare: it takes zero-rounding, truncated-addition, "):
        report.to_latex()


def test_a_name_with_an_underscore_is_text() -> None:
    assert twins.in_latex("naive float8_e5m2") == r"naive float8\_e5m2"
