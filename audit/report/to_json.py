"""A report, or any other result, as a JSON document."""

from __future__ import annotations

import json
from typing import Any

from subnormal.audit.report.form import plain


def to_json(result: Any) -> str:
    """Return a result as one JSON document, by the fields of its dataclasses. The same result has the same bytes."""
    text = json.dumps(plain(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair, escaped as in JSON
