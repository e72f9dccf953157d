"""A report as report.html and as both of its files, and a page of charts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from subnormal.audit.model import Report
from subnormal.audit.report.svg import Panel
from subnormal.audit.report.table import closing
from subnormal.audit.report.to_json import to_json

# Characters that a page cannot show or hold: control characters, direction marks, halves of surrogate pairs.
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def to_html(report: Report) -> str:
    """Return one self-contained page: attacks on both twins, the table of rows, and a section with charts for each."""
    from subnormal.audit.report import page, twins

    parts = page.parts(report)
    return filled(
        "report.html.jinja",
        report=report,
        parts=parts,
        summary=twins.summary(twins.twins(report.rows)),
        comparison=page.comparison(report),
        columns=twins.COLUMNS,
        key=twins.KEY.format(runs=f"{report.runs:,}"),
        families=page.families(report, parts),
        rows=page.table(parts),
        answers=page.answers(report, parts),
        closing=closing(report),
    )


def files(report: Report) -> dict[str, bytes]:
    """Return the content of each file of a report, by name."""
    return {"report.html": to_html(report).encode(), "report.json": to_json(report).encode()}


def charts(title: str, panels: Sequence[Panel]) -> str:
    """Return one self-contained page of charts."""
    return filled("charts.html.jinja", title=title, panels=panels)


def filled(template: str, **values: Any) -> str:
    """Return the page of a template and its values. Characters that cannot be shown are escaped as in Python."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("subnormal.audit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template(template).render(values)
    return UNSHOWN.sub(lambda match: ascii(match.group())[1:-1], text)  # names and errors may hold anything
