"""Reads report.json."""

from __future__ import annotations

import json
from typing import Any

from subnormal.audit.model import SCHEMA, Report
from subnormal.audit.report import form
from subnormal.audit.text import quoted
from subnormal.mechanisms.core.options import unique

Json = dict[str, Any]


def parse(content: bytes) -> Json:
    """Return a report's document. Raises ValueError with an error of one line."""
    document = decoded(content)
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError("is no report: it has no schema")
    if document["schema"] != SCHEMA:
        raise ValueError(f"is of the schema {quoted(document['schema'])}, and this version reads {SCHEMA!r}")
    form.read(Report, document)
    names = set()
    for place, row in enumerate(document["rows"]):
        if key(row) in names:
            raise ValueError(f"rows[{place}] is a second row of {quoted(row['attack'])} and {quoted(row['mechanism'])}")
        names.add(key(row))
    return dict(document)


def report(content: bytes) -> Report:
    """Return a report from the bytes of its document.

    report.json holds no charts: `sketch` is None. Parameters and events are as in the file.
    Raises ValueError with an error of one line.
    """
    loaded: Report = form.read(Report, parse(content))
    return loaded


def key(row: Json) -> tuple[str, str, str | None]:
    """Return the key of a row, which is unique in a report."""
    return row["attack"], row["mechanism"], row["channel"]


def decoded(content: bytes) -> Any:
    """Return the value of a JSON document. Raises ValueError with an error of one line."""
    try:
        text = content.decode("utf-8")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=unique)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        message = "ends too early: it is empty, or was cut off" if cut else "is not JSON"
        raise ValueError(f"{message} ({error})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is not JSON ({error})") from None


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number in JSON")
