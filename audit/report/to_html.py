"""A report as report.html, a page for people."""

from __future__ import annotations

import re

from subnormal.audit.model import Report
from subnormal.audit.report.table import closing

# What a page cannot show, or cannot be written with: control characters, marks of direction, halves of surrogate pairs.
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def to_html(report: Report) -> str:
    """Return one self-contained page: four answers, the table of verdicts, and a section with pictures for each row."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from subnormal.audit.report import page

    environment = Environment(
        loader=PackageLoader("subnormal.audit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    parts = page.parts(report)
    text = environment.get_template("report.html.jinja").render(
        report=report,
        parts=parts,
        rows=page.table(parts),
        answers=page.answers(report, parts),
        closing=closing(report),
    )
    return UNSHOWN.sub(lambda found: ascii(found.group())[1:-1], text)  # names and errors may hold anything
