"""A suite as suite.json: what each check came to, for `subnormal compare` and for the next run of the suite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from subnormal.audit.report.diff import Difference, Weight
from subnormal.audit.suite.entry import FAILED, Entry, Status
from subnormal.audit.text import printable

SCHEMA = "subnormal/suite/1"
KEYS = ("name", "status", "finding", "fingerprint", "place", "page", "text", "check")
QUESTION = ("function", "claim", "domain", "relation", "grid")  # what was checked

Json = dict[str, Any]


def to_json(entries: Sequence[Entry], pages: Sequence[str], fingerprints: Mapping[str, str | None]) -> str:
    """Return the suite as one JSON document. pages: files of the checks. fingerprints: None where there is none."""
    checks = [
        {
            "name": one.name,
            "status": str(one.status),
            "finding": one.finding,
            "fingerprint": fingerprints[one.name],
            "place": list(one.place),
            "page": page,
            "text": one.text,
            "check": dict(one.document),
        }
        for one, page in zip(entries, pages, strict=True)
    ]
    return json.dumps({"schema": SCHEMA, "checks": checks}, indent=1, ensure_ascii=False) + "\n"


def parse(content: bytes) -> dict[str, Json]:
    """Return the checks of suite.json, by name. Raises ValueError, in one line, where it is none."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"is not of the schema {SCHEMA!r}")
    checks = document.get("checks")
    if not isinstance(checks, list) or not all(map(_is_check, checks)):
        raise ValueError(f"must have checks with {', '.join(KEYS)}")
    return {one["name"]: one for one in checks}


def _is_check(one: Any) -> bool:
    if not isinstance(one, dict) or not one.keys() >= set(KEYS):
        return False
    texts = (one[name] for name in ("name", "status", "finding", "page", "text"))
    return all(isinstance(text, str) for text in texts) and isinstance(one["check"], dict)


def differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[Difference]:
    """Return the changes between two suites, new violations first: checks that are new or gone, what is asked of a
    check, its status, and its finding under the same status."""
    return sorted(_changes(old, new), key=lambda one: one.weight)


def _changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[Difference]:
    for name in dict.fromkeys((*new, *old)):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            weight = Weight.GONE if after is None else _weight(after)
            yield _difference(weight, name, before, after, "check", _status(before), _status(after))
            continue
        for key in QUESTION:
            if before["check"].get(key) != after["check"].get(key):
                parts = (str(one["check"].get(key)) for one in (before, after))
                yield _difference(Weight.QUESTION, name, before, after, key, *parts)
        if before["status"] != after["status"]:
            weight = Weight.BETTER if before["status"] in FAILED and after["status"] not in FAILED else _weight(after)
            yield _difference(weight, name, before, after, "status", _status(before), _status(after))
        elif before["check"].get("severity") != after["check"].get("severity"):
            parts = (str(one["check"].get("severity")) for one in (before, after))
            yield _difference(Weight.VERDICT, name, before, after, "severity", *parts)


def _weight(after: Json) -> Weight:
    if after["status"] in FAILED:
        return Weight.VIOLATED
    return Weight.FAILED if after["status"] == Status.ERROR else Weight.VERDICT


def _status(check: Json | None) -> str:
    if check is None:
        return "–"
    return f"{check['status']}: {check['finding']}" if check["finding"] else str(check["status"])


def _difference(weight: Weight, name: str, old: Json | None, new: Json | None, what: str, *parts: str) -> Difference:
    function = ((new or old) or {"check": {}})["check"].get("function", "")
    return Difference(weight, printable(name), printable(str(function)), what, *map(printable, parts))
