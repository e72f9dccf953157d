"""A small report in every format, against a file for each: `make golden` writes the files again.

The files name no version, no machine and no time, and numbers keep four digits, so that no last bit of a law shows.
"""

import dataclasses
import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from subnormal import run
from subnormal.audit.api import Report
from subnormal.audit.report import junit, notebook, table, terminal, to_html, to_json, twins

GOLDEN = Path(__file__).with_name("golden")
ATTACKS = (
    "zero-rounding",
    "truncated-addition@epsilon=1.0,outcomes=4096,float_type=float16",
    "certain-response",
    "rejection-tries",
)
MECHANISMS = (
    "exponential-naive-float64",
    "exponential-naive-float16",
    "exponential-base2",
    "randomized-response-naive-float64",
    "randomized-response-exact",
)
LONG = re.compile(r"\d+\.\d{5,}(?:e[+-]?\d+)?")


@cache
def small() -> Report:
    """Return a report of a few attacks on both twins, with one side channel."""
    report = run(ATTACKS, MECHANISMS, runs=20_000, seed=1, jobs=1)
    assert not [row.error for row in report.rows if row.error]
    return dataclasses.replace(
        report, version="0", environment={"python": "3"}, commit="0" * 40, command="subnormal run"
    )


def text(report: Report) -> str:
    """Return what `subnormal run` prints."""
    console = Console(width=terminal.WIDTH, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        for line in terminal.overview(report):
            console.print(line, markup=False, highlight=False)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def page(report: Report) -> str:
    """Return the comparison and the families of the page, and how it was made."""
    whole = to_html.to_html(report)
    names = ("comparison", "families", "how-made")
    found = [re.search(rf'<section id="{name}".*?</section>\n', whole, re.DOTALL) for name in names]
    return "".join(section.group() for section in found if section is not None)


FORMATS: dict[str, Callable[[Report], str]] = {
    "overview.txt": text,
    "page.html": page,
    "notebook.html": notebook.to_html,
    "report.json": to_json.to_json,
    "junit.xml": junit.to_junit,
    "rows.md": lambda report: table.to_markdown(report.rows),
    "comparison.tex": lambda report: report.to_latex(),
}


def written(name: str) -> str:
    """Return a format of the report, as its file holds it."""
    return LONG.sub(lambda number: f"{float(number.group()):.4g}", FORMATS[name](small())).rstrip("\n") + "\n"


@pytest.mark.parametrize("name", FORMATS)
def test_a_small_report_is_written_as_before(name: str) -> None:
    assert written(name) == (GOLDEN / name).read_text(encoding="utf-8"), (
        "make golden writes it again; look at the difference"
    )


def test_the_comparison_and_a_side_channel_are_in_it() -> None:
    assert len(twins.compared(small().rows)) == 2
    assert {row.channel for row in small().rows} == {None, "tries"}
    assert {path.name for path in GOLDEN.iterdir()} == set(FORMATS)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for path in FORMATS:
        (GOLDEN / path).write_text(written(path), encoding="utf-8")
