"""A suite as suite.json: what each check came to, for `subnormal compare` and for the next run of the suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subnormal.audit.report import form, load, to_json
from subnormal.audit.report.diff import Difference, Weight
from subnormal.audit.suite.entry import FAILED, Entry, Status
from subnormal.audit.text import printable

SCHEMA = "subnormal/suite/1"
QUESTION = ("function", "claim", "domain", "relation", "grid")  # what was checked


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the document. fingerprint: None where there is none. page: its file. check: as in check.json."""

    name: str
    status: Status
    finding: str
    fingerprint: str | None
    place: tuple[str, int]
    page: str
    text: str
    check: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.status}: {self.finding}" if self.finding else str(self.status)


@dataclass(frozen=True, slots=True)
class Suite:
    """The document."""

    schema: str
    checks: tuple[Check, ...]


def written(entries: Sequence[Entry], pages: Sequence[str], fingerprints: Mapping[str, str | None]) -> str:
    """Return the suite as one JSON document. pages: files of the checks. fingerprints: None where there is none."""
    checks = (
        Check(one.name, one.status, one.finding, fingerprints[one.name], one.place, page, one.text, one.document)
        for one, page in zip(entries, pages, strict=True)
    )
    return to_json.to_json(Suite(SCHEMA, tuple(checks)))


def parse(content: bytes) -> dict[str, Check]:
    """Return the checks of suite.json, by name. Raises ValueError, in one line, where it is none."""
    document = load.decoded(content)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"is not of the schema {SCHEMA!r}")
    suite: Suite = form.read(Suite, document)
    return {one.name: one for one in suite.checks}


def differences(old: Mapping[str, Check], new: Mapping[str, Check]) -> list[Difference]:
    """Return the changes between two suites, new violations first: checks that are new or gone, what is asked of a
    check, its status, and its finding under the same status."""
    changes = []
    for name in dict.fromkeys((*new, *old)):
        function = str((new.get(name) or old[name]).check.get("function", ""))
        for weight, *what in _changes(old.get(name), new.get(name)):
            changes.append(Difference(weight, *map(printable, (name, function, *what))))
    return sorted(changes, key=lambda one: one.weight)


def _changes(before: Check | None, after: Check | None) -> Iterator[tuple[Weight, str, str, str]]:
    """Yield the weight of each change of a check, what changed, and its old and its new text."""
    if before is None or after is None:
        yield Weight.GONE if after is None else _weight(after), "check", str(before or "–"), str(after or "–")
        return
    asked = [(Weight.QUESTION, key) for key in QUESTION]
    if before.status is after.status:
        asked.append((Weight.VERDICT, "severity"))
    else:
        weight = Weight.BETTER if before.status in FAILED and after.status not in FAILED else _weight(after)
        yield weight, "status", str(before), str(after)
    for weight, key in asked:
        if before.check.get(key) != after.check.get(key):
            yield weight, key, str(before.check.get(key)), str(after.check.get(key))


def _weight(after: Check) -> Weight:
    if after.status in FAILED:
        return Weight.VIOLATED
    return Weight.FAILED if after.status is Status.ERROR else Weight.VERDICT
