"""A report as files in a folder."""

from __future__ import annotations

from pathlib import Path

from subnormal.audit.model import Report
from subnormal.audit.report import atomic_write, to_html, to_json


def files(report: Report) -> dict[str, bytes]:
    """Return the content of each file of a report, by name."""
    return {"report.html": to_html.to_html(report).encode(), "report.json": to_json.to_json(report).encode()}


def save(report: Report, folder: Path) -> None:
    """Write the files of a report into a folder, which is created if necessary. Raises OSError."""
    atomic_write.prepare(folder)
    atomic_write.write(folder, files(report))
