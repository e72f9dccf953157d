"""The index of a suite as a page: a line for each check, which links its own page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from subnormal.audit.report.to_html import filled
from subnormal.audit.suite.entry import Entry, Status
from subnormal.audit.text import percent


def to_html(entries: Sequence[Entry], pages: Sequence[str], alpha: float) -> str:
    """Return the page. pages: the names of the checks' pages, in the same order. alpha: of the whole suite."""
    counted = Counter(one.status for one in entries)
    return filled(
        "suite.html.jinja",
        entries=list(zip(entries, pages, strict=True)),
        counts={str(status): counted[status] for status in Status if counted[status]},
        confidence=percent(1 - alpha),
    )
