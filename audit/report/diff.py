"""Differences between two saved reports: verdicts first, and numbers if they must be equal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from subnormal.audit.model import KINDS, MEASURED, PROVED, REPEATED, Verdict, decisive
from subnormal.audit.report.load import Json, key
from subnormal.audit.report.table import markdown, titled
from subnormal.audit.text import printable

COLUMNS = {"attack": "row", "mechanism": "mechanism", "what": "what", "old": "old", "new": "new"}  # title: field
CLOSE = 1e-12  # relative difference: larger than errors of printing, smaller than any change of a law
QUESTION = ("family", "parameters", "settings", "worlds", "claim", "event", "reproducible")
CONTEXT = ("version", "seed", "runs", "alpha", "alpha_per_row", "commit", "environment")
SAME_RUNS = ("version", "seed", "runs", "alpha_per_row", "environment")  # α of the report depends on other rows


class Weight(IntEnum):
    """The severity of a difference, the most severe first."""

    VIOLATED = 0
    FAILED = 1
    GONE = 2
    VERDICT = 3
    QUESTION = 4
    NUMBER = 5
    BETTER = 6
    NEW = 7


@dataclass(frozen=True, slots=True)
class Difference:
    """One change in one row, as text; "–" stands for no value."""

    weight: Weight
    row: str  # the attack, with its channel
    mechanism: str
    what: str  # "row", "error", or a path into the row: "exact.verdict", "claim.epsilon"
    old: str
    new: str


def differences(old: Json, new: Json) -> list[Difference]:
    """Return the changes between two documents of `load.parse`, the most severe first. `load.key` matches the rows.

    Changes are new or missing rows and errors, verdicts of any kind of evidence, claims, parameters and
    events. Numbers count if they must be equal: those of laws, in the same version; those of runs, for the same seed,
    runs, α and environment, if both rows are reproducible. Times and what they show never count.
    """
    before, after = ({key(row): row for row in document["rows"]} for document in (old, new))
    same_version = old["version"] == new["version"]
    repeated = all(old[name] == new[name] for name in SAME_RUNS)
    changes: list[Difference] = []
    for one in dict.fromkeys((*after, *before)):
        if one not in before:
            weight = _weight(None, after[one])
            changes.append(_difference(weight, after[one], "row", None, _summary(after[one])))
        elif one not in after:
            changes.append(_difference(Weight.GONE, before[one], "row", _summary(before[one]), None))
        else:
            changes += _of_row(before[one], after[one], same_version, repeated)
    return sorted(changes, key=lambda one: one.weight)  # stable: equal weights stay in the order of the rows


def context(old: Json, new: Json) -> str:
    """Return the differences of seed, runs, version and machine in one line; empty without any."""
    parts = [
        f"{path} {_text(before)} → {_text(after)}"
        for name in CONTEXT
        for path, before, after in _changed(name, old.get(name), new.get(name))  # the first reports have no commit
    ]
    packages = {key(row): row["package"] for row in old["rows"]}
    pairs = dict.fromkeys((packages.get(key(row), row["package"]), row["package"]) for row in new["rows"])
    parts += [f"package {_text(before)} → {_text(after)}" for before, after in pairs if before != after]
    return ", ".join(parts)


def to_markdown(changes: Sequence[Difference]) -> str:
    """Return differences as a Markdown table, for a comment on a change."""
    lines = ([getattr(one, name) for name in COLUMNS.values()] for one in changes)
    escaped = ([re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", " ".join(cell.split())) for cell in line] for line in lines)
    return markdown(tuple(COLUMNS), escaped)


def _of_row(old: Json, new: Json, same_version: bool, repeated: bool) -> Iterator[Difference]:
    if old["error"] != new["error"]:
        yield _difference(_weight(old, new), new, "error", _summary(old), _summary(new))
    if old["error"] is not None or new["error"] is not None:
        return  # a row that failed has nothing else to compare
    if old.get("note") != new.get("note"):  # reports of earlier versions have none
        yield _difference(Weight.VERDICT, new, "note", old.get("note"), new.get("note"))
    both = [name for name in QUESTION if name in old and name in new]  # reports of earlier versions have no worlds
    question = [changed for name in both for changed in _changed(name, old[name], new[name])]
    if same_version and not old["reproducible"] and not new["reproducible"]:
        question = [one for one in question if one[0].partition(".")[0] != "event"]  # learned anew on other runs
    for path, before, after in question:
        yield _difference(Weight.QUESTION, new, path, before, after)
    alike = not question and old["package"] == new["package"]
    for kind in REPEATED:
        if _verdict(old, kind) != _verdict(new, kind):
            weight = _verdict_weight(_verdict(old, kind), _verdict(new, kind))
            yield _difference(weight, new, f"{kind}.verdict", _verdict(old, kind), _verdict(new, kind))
        elif alike and same_version and KINDS[kind] is PROVED:
            for path, before, after in _changed(kind, old[kind], new[kind]):
                yield _difference(Weight.NUMBER, new, path, before, after)
        elif alike and repeated and new["reproducible"]:
            for path, before, after in _changed(kind, old[kind], new[kind])[:1]:  # the other numbers changed with it
                yield _difference(Weight.NUMBER, new, f"{path}: not reproduced", before, after)


def _verdict_weight(old: Verdict | None, new: Verdict | None) -> Weight:
    if new is Verdict.VIOLATED:
        return Weight.VIOLATED
    cleared = old is Verdict.VIOLATED and new in (Verdict.HOLDS, Verdict.NOT_REFUTED)
    return Weight.BETTER if cleared else Weight.VERDICT


def _weight(old: Json | None, new: Json) -> Weight:
    """Return the weight of a row that is new, or whose error changed."""
    if new["error"] is not None:
        return Weight.FAILED
    if _spoken(new) is Verdict.VIOLATED:
        return Weight.VIOLATED
    return Weight.NEW if old is None else Weight.BETTER


def _difference(weight: Weight, row: Json, what: str, old: Any, new: Any) -> Difference:
    title = printable(titled(row["attack"], row["channel"]))
    return Difference(weight, title, printable(row["mechanism"]), printable(what), _text(old), _text(new))


def _changed(path: str, old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """Return (path, old, new) of every part of two values that differs; None stands for a missing value."""
    if (isinstance(old, dict) or isinstance(new, dict)) and all(isinstance(one, dict | None) for one in (old, new)):
        one, other = (value or {} for value in (old, new))
        within = [_changed(f"{path}.{key}", one.get(key), other.get(key)) for key in dict.fromkeys((*one, *other))]
        return [changed for part in within for changed in part]
    return [] if _same(old, new) else [(path, old, new)]


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=CLOSE)
    return bool(old == new)


def _text(value: Any) -> str:
    if value is None or value == []:
        return "–"
    if isinstance(value, str):
        return printable({"inf": "∞", "-inf": "−∞"}.get(value, value))
    return printable(json.dumps(value, ensure_ascii=False))


def _summary(row: Json) -> str:
    if row["error"] is not None:
        return f"ERROR: {row['error']}"
    return str(_spoken(row) or ("no evidence" if row["timing"] is None else MEASURED))


def _spoken(row: Json) -> Verdict | None:
    return decisive(verdict for kind in REPEATED if (verdict := _verdict(row, kind)) is not None)


def _verdict(row: Json, kind: str) -> Verdict | None:
    return None if row[kind] is None else Verdict(row[kind]["verdict"])
