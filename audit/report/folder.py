"""A report as files in a folder."""

from __future__ import annotations

from pathlib import Path

from subnormal.audit.model import Report
from subnormal.audit.report import atomic_write, to_html, to_json


def files(report: Report, page: str) -> dict[str, bytes]:
    """Return the content of each file of a report, by name. page: the text of report.html."""
    return {"report.html": page.encode(), "report.json": to_json.to_json(report).encode()}


def save(report: Report, folder: Path) -> None:
    """Write the files of a report into a folder, which is created if necessary. Raises OSError."""
    atomic_write.prepare(folder)
    atomic_write.write(folder, files(report, to_html.to_html(report)))
