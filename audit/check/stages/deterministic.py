"""Equal outcomes at each call of an input, and different ones on two neighbours: without noise, no finite ε is kept.

No number of calls proves that a function has no noise: it may draw from a source that nobody watches, and seldom show
it. So there is no exact evidence here. Runs judge, at their α.
"""

from __future__ import annotations

import math

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.replay.primitives import drawn_from
from subnormal.audit.check.result import Result
from subnormal.audit.check.runs import certain, runs_needed
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.forked import FirstCalls, FirstCallsOf
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.audit.check.words import pair_words
from subnormal.audit.model import Verdict
from subnormal.mechanisms.core.outcome_identity import identity

SAME = 100  # equal runs of each of two inputs after which a function may be one without noise
REPEATS = (
    "repeats its answers: in a process of its own, the first call of an input draws noise that later calls do not draw "
    "again, so its runs show nothing; pass fresh=, a function of no arguments that returns it without its answers"
)


def differing(check: Check) -> Pair | None:
    """Return two neighbouring inputs with different outcomes, each the same in all runs."""

    def differ(pair: Pair) -> float:
        one, other = (identity(check.function.outcome(data)) for data in pair)
        return 0.0 if one == other else math.inf

    found = check.search("stability", differ, check.runs.left() / 8)
    if found.convicting is None or 2 * SAME * check.function.quickest > SHARE * check.runs.left():
        return None  # the quickest run counts: only first calls may be slow
    try:
        with check.function.within(SHARE * check.runs.left()):
            same = [{identity(check.function.outcome(data)) for _ in range(SAME)} for data in found.convicting]
    except OverTimeError:
        return None
    return found.convicting if all(len(outcomes) == 1 for outcomes in same) and same[0] != same[1] else None


def deterministic(check: Check, pair: Pair, first_calls_of: FirstCallsOf) -> Result | None:
    """Return what runs show of a pair whose inputs have one outcome each; None where they do not refute the claim.

    There is an error in place of a verdict where first calls draw, and later ones repeat their outcomes.
    """
    first = first_calls_of(pair)
    if first is not None and _repeats(check, pair, first):
        return check.made("stability", error=f"{check.function.name} {REPEATS}")
    candidate = certain(check.claimed(*pair), check.function.outcome(pair[0]))
    alpha = check.share_of_alpha()
    runs = None
    if not check.runs.is_too_slow(2 * math.ceil(min(1e12, runs_needed(candidate.point, alpha)))):
        runs = check.judged(pair, candidate, alpha, 0, share=SHARE)
    if runs is None or runs.verdict is not Verdict.VIOLATED:
        check.notes.append(
            f"each of the inputs {pair_words(pair)} had an outcome of its own in all of {SAME} runs: if the "
            "function is deterministic, it keeps no finite epsilon; runs did not show it"
        )
        return None
    if (runs.event_in, runs.event_out) == (runs.runs, 0):
        check.notes.append(
            "every run of the first input had one outcome, which the second one never had: if the function has no "
            "noise, it keeps no finite epsilon"
        )
    if check.function.seeds_generators(pair[0]):
        check.notes.append("the function seeds a global generator of random or numpy: noise from it is no secret")
    return check.made("stability", pair, runs.event, {"sequential": runs}, verdict=runs.verdict, point=candidate.point)


def _repeats(check: Check, pair: Pair, first: FirstCalls) -> bool:
    """Return whether first calls drew, or had other outcomes than now, and calls of the same inputs draw no more."""
    outcomes: list[object] = []
    drawn, is_all = drawn_from(
        check.function.function, lambda: outcomes.extend(identity(check.function.outcome(data)) for data in pair)
    )
    draws_now = bool(drawn) or not is_all
    return not draws_now and (first.draws or tuple(outcomes) != first.outcomes)
