"""Rows: one accountant and one kind of claim each, held in any process, and what was found as JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from subnormal.audit.claims import TOLERANCE
from subnormal.audit.claims.answers import Source, of_package
from subnormal.audit.claims.holding import Answer, Held, Said, hold
from subnormal.audit.claims.kinds import kind
from subnormal.audit.report.form import plain

Answers: TypeAlias = Mapping[tuple[str, str], Answer]


@dataclass(frozen=True, slots=True)
class Row:
    """What one row asks.

    source: the package that is started to answer; None: somebody here answers. ends: the time (s since the epoch) when
    all rows end. share: of the time that is left then.
    """

    accountant: str
    kind: str
    examples: int
    source: Source | None = None
    seed: int = 1
    tolerance: float = TOLERANCE
    least_delta: float = 0.0
    most_epsilon: float = math.inf
    ends: float = math.inf
    share: float = 1.0


def held(here: Answers, row: Row) -> Held:
    """Return what is found of one row. here: who answers where the row has no source."""
    with nullcontext(here) if row.source is None else of_package(*row.source) as answers:
        return hold(
            row.accountant,
            answers[row.accountant, row.kind],
            kind(row.kind),
            examples=row.examples,
            seconds=row.share * max(0.0, row.ends - time.time()),
            seed=row.seed,
            tolerance=row.tolerance,
            least_delta=row.least_delta,
            most_epsilon=row.most_epsilon,
        )


def as_json(one: Held) -> dict[str, Any]:
    """Return what was found as JSON values; "inf" and "-inf" stand for infinities."""

    def said(answer: Said | None) -> Any:
        return None if answer is None else {**plain(answer), "shortfall": answer.shortfall}

    result: dict[str, Any] = {
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
    return result
