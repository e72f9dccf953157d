"""How much a silence is worth: the least loss on the judged pair that as many runs would have shown.

A test that refuted nothing is compared with the same test of another function, whose event has the loss ε′ > ε. The
best bet would grow by m nats in the mean, with a standard deviation of about √(2m). The test learns its bet meanwhile,
which costs it about a nat each time that its runs double. So nearly all tests show a loss for which
m − 2·√(2m) exceeds what refutes and what learning costs; the least such loss is what is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subnormal.audit.evidence.sequential import FIRST, SLACK
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.statistics import e_process
from subnormal.audit.text import short

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result

EPSILON_MAX = 64.0  # nats beyond the claim: a loss that is larger counts as infinite
STEPS = 40  # of the bisection
LUCK = 2.0  # standard deviations of the growth of wealth


@dataclass(frozen=True, slots=True)
class Detectable:
    """The least losses, in nats, that the runs would have shown: by the event that was judged, where it is as likely in
    the world where it is likelier, and by the event of a pair with that loss that tells its worlds apart best."""

    by_event: float
    by_best_event: float

    def __str__(self) -> str:
        if self.by_best_event == math.inf:
            return "no loss at all, because they are too few"
        best = f"a loss of {short(self.by_best_event, 3)} or more by the best event"
        by_this = f"and of {short(self.by_event, 3)} or more by this one"
        return f"{best}, {'but none by this one' if self.by_event == math.inf else by_this}"


def detectable(result: Result) -> Detectable | None:
    """Return the losses that would have been shown; None where runs have not judged, or have refuted the claim."""
    evidence = result.evidence.get("sequential")
    if not isinstance(evidence, SequentialEvidence) or result.point is None or evidence.verdict is Verdict.VIOLATED:
        return None
    betting = max(0, evidence.runs - FIRST)
    refutes = -math.log(evidence.alpha) + SLACK - evidence.looks[0][1]
    needed = _mean_needed(refutes + math.log(4), betting)  # one of four bets has all wealth
    share = max(evidence.event_in, evidence.event_out) / evidence.runs
    point = result.point

    def by_event(loss: float) -> float:
        # the least share in the other world that leaves both the event and its complement a loss of so much
        other = max(0.0, (share - point.delta) * math.exp(-loss), 1 - (1 - share + point.delta) * math.exp(loss))
        return e_process.mean_growth(point, share, other)

    def by_best(loss: float) -> float:
        return e_process.mean_growth(point, 1 / (1 + math.exp(-loss)), 1 / (1 + math.exp(loss)))

    def least(growth: Callable[[float], float]) -> float:
        low, high = point.epsilon, point.epsilon + EPSILON_MAX
        if betting * growth(high) < needed:
            return math.inf
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if betting * growth(middle) >= needed else (middle, high)
        return high

    return Detectable(least(by_event), min(least(by_event), least(by_best)))


def _mean_needed(nats: float, betting: int) -> float:
    """Return the m with m − LUCK·√(2m) = so many nats and what the learning of bets costs on so many runs."""
    enough = nats + math.log2(1 + betting / FIRST)
    return ((LUCK * math.sqrt(2) + math.sqrt(2 * LUCK**2 + 4 * enough)) / 2) ** 2
