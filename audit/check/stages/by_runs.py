"""What runs of a pair show."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.audit.check.words import judging_words, pair_words
from subnormal.audit.model import Verdict
from subnormal.audit.targets.outcome_notes import event_notes, outcome_notes

NOTED = 64  # runs of each input for notes about their outcomes


def by_runs(check: Check, pair: Pair, alpha: float | None = None, *, share: float = 1.0) -> Result:
    """Return what runs of a pair show. alpha: what is spent on it; None: all that is left. share: of that time."""
    spent = check.alpha if alpha is None else alpha
    check.stage = "runs"
    try:
        suspicion, training = check.runs.learned(pair, spent)
    except OverTimeError:
        return check.too_slow(pair)

    def told(log_wealth: float, runs: int) -> None:
        check.tell(lambda: f"runs: judging, {judging_words(log_wealth, runs, spent)}: {pair_words(pair)}")

    noted = 0 if check.runs.is_too_slow(2 * NOTED) else NOTED
    outcomes: list[Hashable] = []
    with suppress(OverTimeError), check.function.within(SHARE * check.runs.left()):
        outcomes = [one for data in pair for one in check.function.outcomes(data, noted)]
    evidence = check.judged(pair, suspicion, spent, training, told=told, share=share)
    if evidence.runs == 0:  # learning took all the time
        return check.too_slow(pair)
    differ = 0 < evidence.event_in + evidence.event_out < 2 * evidence.runs
    if evidence.verdict is Verdict.VIOLATED:
        check.notes += event_notes(evidence.event, outcomes)
    else:
        check.notes += outcome_notes(outcomes, others_differ=differ)
    return check.made(
        "runs", pair, evidence.event, {"sequential": evidence}, verdict=evidence.verdict, point=suspicion.point
    )
