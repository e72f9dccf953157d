"""Rows: one accountant and one kind of claim each, held in any process, and what was found as JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from subnormal.audit.claims.answers import Source, of_package
from subnormal.audit.claims.holding import Answer, Held, Said, hold
from subnormal.audit.claims.kinds import kind
from subnormal.audit.report.form import plain

Answers: TypeAlias = Mapping[tuple[str, str], Answer]


@dataclass(frozen=True, slots=True)
class Row:
    """What one row asks.

    source: the package that is started to answer; None: somebody here answers. ends: the time (s since the epoch) when
    all rows end. share: of the time that is left then. options: of `hold`, besides the time.
    """

    accountant: str
    kind: str
    source: Source | None = None
    ends: float = math.inf
    share: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)


def held(here: Answers, row: Row) -> Held:
    """Return what is found of one row. here: who answers where the row has no source."""
    with nullcontext(here) if row.source is None else of_package(*row.source) as answers:
        answer, seconds = answers[row.accountant, row.kind], row.share * max(0.0, row.ends - time.time())
        return hold(row.accountant, answer, kind(row.kind), seconds=seconds, **row.options)


def as_json(one: Held) -> dict[str, Any]:
    """Return what was found as JSON values; "inf" and "-inf" stand for infinities."""

    def said(answer: Said | None) -> Any:
        return None if answer is None else {**plain(answer), "shortfall": answer.shortfall}

    return {
        "accountant": one.accountant,
        "kind": one.kind,
        "verdict": one.verdict,
        "answered": one.examples,
        "refused": one.refused,
        "reason": one.why,
        "rounded": one.rounded,
        "shortest": said(one.shortest),
        "violated": said(one.violated),
        "loose": plain(one.factor),
        "loosest": said(one.loosest),
    }
