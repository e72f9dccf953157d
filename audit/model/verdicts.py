"""Verdicts, and the types of numbers that a report has."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated

from subnormal.mechanisms.privacy import Range

Interval = tuple[float, float]
Probability = Annotated[float, Range(0, 1)]
Probabilities = tuple[Probability, Probability]
Chance = Annotated[float, Range(0, 1, open=True)]
Nonnegative = Annotated[float, Range(0, math.inf)]


class Verdict(StrEnum):
    """The result of one kind of evidence for one claim on one pair of worlds. No verdict says "private"."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS"
    UNRESOLVED = "UNRESOLVED"
    NOT_REFUTED = "NOT REFUTED"
    UNDERPOWERED = "UNDERPOWERED"


PROVED = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED)
OF_RUNS = (Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
KINDS = dict.fromkeys(("exact", "exhaustive"), PROVED) | dict.fromkeys(("sampled", "sequential", "timing"), OF_RUNS)
DECIDING = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.UNRESOLVED, Verdict.UNDERPOWERED, Verdict.NOT_REFUTED)


class DomainVerdict(StrEnum):
    """The result for one claim on all pairs of neighbours of a finite domain."""

    VIOLATED = "VIOLATED"
    HOLDS = "HOLDS ON THE DOMAIN"
    UNRESOLVED = "UNRESOLVED"
