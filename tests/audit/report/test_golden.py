"""Two small reports in every format, against a file for each: `make golden` writes the files again.

One is of attacks that ran, the other has a row for each kind of evidence and verdict. The files name no version, no
machine and no time, and numbers keep four digits, so that no last bit of a law shows.
"""

import dataclasses
import io
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from subnormal import run
from subnormal.audit.api import Report
from subnormal.audit.report import junit, notebook, table, terminal, to_html, to_json, twins
from tests.audit.report.every_row import every_row

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


def printed(lines: Iterable[Any]) -> str:
    """Return lines, or a table, as a terminal shows them."""
    console = Console(width=terminal.WIDTH, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        for line in lines:
            console.print(line, markup=False, highlight=False)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def sections(report: Report, *names: str) -> str:
    """Return these sections of the page."""
    whole = to_html.to_html(report)
    found = [re.search(rf'<section id="{name}".*?</section>\n', whole, re.DOTALL) for name in names]
    return "".join(section.group() for section in found if section is not None)


def articles(report: Report) -> str:
    """Return the answers of the page, its table and what it says of each row, without pictures."""
    shown = sections(report, "claimed", "found", "sure", "next", "verdicts")
    shown += "".join(re.findall("<article.*?</article>\n", to_html.to_html(report), re.DOTALL))
    return re.sub("<svg.*?</svg>", "", shown, flags=re.DOTALL)


FORMATS: dict[str, tuple[Callable[[], Report], Callable[[Report], str]]] = {
    "overview.txt": (small, lambda report: printed(terminal.overview(report))),
    "page.html": (small, lambda report: sections(report, "comparison", "families", "how-made")),
    "notebook.html": (every_row, notebook.to_html),
    "report.json": (small, to_json.to_json),
    "junit.xml": (small, junit.to_junit),
    "rows.md": (small, lambda report: table.to_markdown(report.rows)),
    "comparison.tex": (small, lambda report: report.to_latex()),
    "every_row.txt": (every_row, lambda report: printed(terminal.lines(report))),
    "every_row.html": (every_row, articles),
    "every_row.xml": (every_row, junit.to_junit),
}


def written(name: str) -> str:
    """Return a format of a report, as its file holds it."""
    of, form = FORMATS[name]
    return LONG.sub(lambda number: f"{float(number.group()):.4g}", form(of())).rstrip("\n") + "\n"


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
