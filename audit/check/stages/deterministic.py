"""A function that seems to be deterministic, and has different outcomes on two neighbours: it keeps no finite ε."""

from __future__ import annotations

import math

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.replay.primitives import SEEDED, drawn_from
from subnormal.audit.check.result import CheckEvidence, Result, Stage
from subnormal.audit.check.runs import certain, runs_needed
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.audit.check.words import pair_words
from subnormal.audit.model import ExactEvidence, Verdict
from subnormal.mechanisms.core.outcome_identity import identity

SAME = 100  # equal runs of each of two inputs after which a function is judged as one that is deterministic


def differing(check: Check) -> Pair | None:
    """Return two neighbouring inputs with different outcomes, each the same in all runs."""

    def differ(pair: Pair) -> float:
        one, other = (identity(check.function.outcome(data)) for data in pair)
        return 0.0 if one == other else math.inf

    found = check.search("stability", differ, check.runs.left() / 8)
    if found.convicting is None or check.runs.is_too_slow(2 * SAME):
        return None
    try:
        with check.function.within(SHARE * check.runs.left()):
            same = [{identity(check.function.outcome(data)) for _ in range(SAME)} for data in found.convicting]
    except OverTimeError:
        return None
    return found.convicting if all(len(outcomes) == 1 for outcomes in same) and same[0] != same[1] else None


def deterministic(check: Check, pair: Pair) -> Result | None:
    """Return that a function is taken as deterministic; None where runs do not refute the claim.

    "exact" is said only where no known primitive was called, no generator moved, and no run had another outcome.
    """
    suspicion = certain(check.claimed(*pair), check.function.outcome(pair[0]))
    alpha = check.share_of_alpha()
    runs = None
    if not check.runs.is_too_slow(2 * math.ceil(min(1e12, runs_needed(suspicion.point, alpha)))):
        runs = check.judged(pair, suspicion, alpha, 0, share=SHARE)
    if runs is None or runs.verdict is not Verdict.VIOLATED:
        check.notes.append(
            f"each of the inputs {pair_words(pair)} had an outcome of its own in all of {SAME} runs: if the "
            "function is deterministic, it keeps no finite epsilon; runs did not show it"
        )
        return None
    evidence: dict[str, CheckEvidence] = {"sequential": runs}
    drawn, is_all = drawn_from(check.function.function, lambda: [check.function.outcome(data) for data in pair])
    is_seeded = check.function.seeds_generators(pair[0])
    is_certain = not drawn or (is_seeded and all(one.holder in SEEDED for one in drawn))
    if is_certain and is_all and (runs.event_in, runs.event_out) == (runs.runs, 0):
        why = "it seeds the generators that it uses" if is_seeded else "it called no known source of randomness"
        check.notes.append(
            f"the function is taken as deterministic: {why}, and each of the two inputs had one outcome in all of "
            f"{SAME + runs.runs:,} runs"
        )
        certainly = (1.0, 1.0), (0.0, 0.0)
        exact = ExactEvidence(Verdict.VIOLATED, math.inf, 1.0, None, 1.0, 1.0, *certainly, Verdict.VIOLATED)
        evidence = {"exact": exact, **evidence}
    if is_seeded:
        check.notes.append("the function seeds a global generator of random or numpy: its noise is no secret")
    stage: Stage = "stability" if "exact" in evidence else "runs"
    return check.made(stage, pair, runs.event, evidence, verdict=Verdict.VIOLATED, point=suspicion.point)
