"""A report as report.json."""

from __future__ import annotations

import json

from subnormal.audit.model import Report
from subnormal.audit.report.form import plain


def to_json(report: Report) -> str:
    """Return the report as one JSON document, schema version 1. The same report has the same bytes."""
    text = json.dumps(plain(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair, escaped as in JSON
