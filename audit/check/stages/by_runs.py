"""What runs of a pair show."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress

import numpy as np

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.replay.unrecorded import Watch
from subnormal.audit.check.result import Result
from subnormal.audit.check.search import Pair
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.audit.check.words import judging_words, pair_words
from subnormal.audit.model import Verdict
from subnormal.audit.targets.outcome_notes import event_notes, outcome_notes

NOTED = 64  # runs of each input for notes about their outcomes
SEEDS = 1 << 64  # numbers that people write as seeds are smaller; the system's entropy has 128 bits


def by_runs(check: Check, pair: Pair, alpha: float | None = None, *, share: float = 1.0) -> Result:
    """Return what runs of a pair show. alpha: what is spent on it; None: all that is left. share: of that time."""
    spent = check.alpha if alpha is None else alpha
    check.stage = "runs"
    try:
        candidate, training = check.runs.learned(pair, spent)
    except OverTimeError:
        return check.too_slow(pair)

    def on_progress(log_wealth: float, runs: int) -> None:
        check.tell(lambda: f"runs: judging, {judging_words(log_wealth, runs, spent)}: {pair_words(pair)}")

    noted = 0 if check.runs.is_too_slow(2 * NOTED) else NOTED
    outcomes: list[Hashable] = []
    watch = Watch()
    with suppress(OverTimeError), check.function.within(SHARE * check.runs.left()):
        outcomes = [one for data in pair for one in check.function.outcomes(data, noted)]
    watch.before()
    check.notes += seed_notes(watch.unnamed)
    evidence = check.judged(pair, candidate, spent, training, on_progress=on_progress, share=share)
    if evidence.runs == 0:  # learning took all the time
        return check.too_slow(pair)
    differ = 0 < evidence.event_in + evidence.event_out < 2 * evidence.runs
    if evidence.verdict is Verdict.VIOLATED:
        check.notes += event_notes(evidence.event, outcomes)
    else:
        check.notes += outcome_notes(outcomes, others_differ=differ)
    if evidence.verdict is Verdict.UNDERPOWERED and check.runs_max is None:
        check.note_more_seconds(pair)
    return check.made(
        "runs", pair, evidence.event, {"sequential": evidence}, verdict=evidence.verdict, point=candidate.point
    )


def seed_notes(moved: Iterable[object]) -> list[str]:
    """Return a note for each generator of numpy that was made from a seed before the runs in which it moved.

    `isolated` seeds the global generator. Of the generators of `random`, nobody can tell what they were made from.
    """
    found: dict[str, None] = {}
    for one in moved:
        if not isinstance(one, np.random.BitGenerator) or one is np.random.mtrand._rand._bit_generator:
            continue
        entropy = getattr(one.seed_seq, "entropy", None)
        if isinstance(entropy, int) and entropy >= SEEDS:
            continue
        seed = "a seed" if entropy is None else f"the seed {entropy}"
        made = f"the function draws from a generator of numpy ({type(one).__name__}) that was made from {seed}"
        found[f"{made}: where that is fixed, the noise is the same in every process, and no secret"] = None
    return list(found)
