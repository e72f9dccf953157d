"""Reads report.json. It checks only what it reads; docs/report.schema.json describes everything."""

from __future__ import annotations

import json
from typing import Any

from subnormal.audit.model import Verdict
from subnormal.audit.report.to_json import SCHEMA
from subnormal.audit.text import quoted

PROVED = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED)
OF_RUNS = (Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
KINDS = {"exact": PROVED, "exhaustive": PROVED, "sampled": OF_RUNS, "sequential": OF_RUNS, "timing": OF_RUNS}

Json = dict[str, Any]

_NUMBER, _TEXT, _OBJECT = int | float, str | None, dict | None
REPORT: dict[str, Any] = {
    "version": str,
    "seed": int,
    "runs": int,
    "alpha": _NUMBER,
    "alpha_per_row": _NUMBER,
    "environment": dict,
    "rows": list,
}
ROW: dict[str, Any] = {
    "attack": str,
    "channel": _TEXT,
    "family": str,
    "mechanism": str,
    "package": _TEXT,
    "parameters": dict,
    "event": _OBJECT,
    "claim": _OBJECT,
    "reproducible": bool,
    "error": _TEXT,
    "warnings": list,
    **dict.fromkeys(KINDS, _OBJECT),
}


def parsed(content: bytes) -> Json:
    """Return a report's document. Raises ValueError, which says what is wrong with it in one line."""
    try:
        text = content.decode("utf-8")
        document: Any = json.loads(text, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        told = "ends too early: it is empty, or was cut off" if cut else "is not JSON"
        raise ValueError(f"{told} ({error})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is not JSON ({error})") from None
    return _checked(document)


def key(row: Json) -> tuple[str, str, str | None]:
    """Return what names a row: no two of a report have it in common."""
    return row["attack"], row["mechanism"], row["channel"]


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no number of it")


def _checked(document: Any) -> Json:
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError("is no report: it has no schema")
    if document["schema"] != SCHEMA:
        raise ValueError(f"is of the schema {quoted(document['schema'])}, and this version reads {SCHEMA!r}")
    _require(document, REPORT, "")
    names = set()
    for place, row in enumerate(document["rows"]):
        where = f"rows[{place}]"
        if not isinstance(row, dict):
            raise ValueError(f"{where} is {quoted(row)}, not an object")
        _require(row, ROW, f"{where}.")
        for kind, verdicts in KINDS.items():
            if row[kind] is not None and row[kind].get("verdict") not in verdicts:
                told = quoted(row[kind].get("verdict"))
                raise ValueError(f"{where}.{kind}.verdict is {told}, which is none of {', '.join(verdicts)}")
        if key(row) in names:
            raise ValueError(f"{where} is a second row of {quoted(row['attack'])} and {quoted(row['mechanism'])}")
        names.add(key(row))
    return document


def _require(part: Json, forms: dict[str, Any], where: str) -> None:
    for name, form in forms.items():
        if name not in part:
            raise ValueError(f"has no {where}{name}")
        if not isinstance(part[name], form):
            raise ValueError(f"{where}{name} is {quoted(part[name])}, which it cannot be")
