"""Where a pair is judged: an event is learned on it, and a sequential test of fresh runs decides at α.

Searching, learning and judging use different runs. α is spent on judged pairs alone, which share it, by an e-process,
which may be looked at after any run: so judging stops when it is decided, or when the time is over. It assumes that the
outcomes of a run keep the claim given all earlier runs: a function whose runs share their noise breaks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from subnormal.attacks.core.events import Event, OneOf
from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.score import BATCH, EVERY_MAX, LEARN, Candidate, Runs
from subnormal.audit.check.search import Pair
from subnormal.audit.check.state import SHARE, Check, Finding
from subnormal.audit.check.words import judging_words, pair_words
from subnormal.audit.evidence.sequential import FIRST, SLACK, evidence_of, pair_counts
from subnormal.audit.model import SequentialEvidence, Verdict
from subnormal.audit.randomness.repetition import Watch
from subnormal.audit.statistics import e_process
from subnormal.audit.statistics.e_process import State
from subnormal.audit.targets.outcome_notes import event_notes, outcome_notes
from subnormal.mechanisms.curves import AnyClaim, points

NOTED = 64  # runs of each input for notes about their outcomes
SEEDS = 1 << 64  # numbers that people write as seeds are smaller; the system's entropy has 128 bits
LOOK = 4  # wealth is looked at whenever runs have grown by a quarter: what decided a while ago is not run for
LEADING = 2.0  # nats of wealth with which runs may go on beyond their share of the time
ENOUGH = 3.0  # times the nats needed that an event has to promise for the time that is left


def judge_by_runs(check: Check, pair: Pair, alpha: float | None = None, *, share: float = 1.0) -> Finding:
    """Return what runs of a pair show. alpha: what is spent on it; None: all that is left. share: of the time
    that is left."""
    spent = check.alpha if alpha is None else alpha
    check.stage = "runs"
    try:
        candidate, training = learn_event(check.runs, pair, spent)
    except OverTimeError:
        return check.too_slow(pair)

    def on_progress(log_wealth: float, runs: int) -> None:
        check.tell(lambda: f"runs: judging, {judging_words(log_wealth, runs, spent)}: {pair_words(pair)}")

    noted = 0 if check.function.is_too_slow(2 * NOTED) else NOTED
    outcomes: list[Hashable] = []
    watch = Watch()
    with suppress(OverTimeError), check.function.within(SHARE * check.function.left()):
        outcomes = [one for data in pair for one in check.function.outcomes(data, noted)]
    watch.before()
    check.notes += seed_notes(watch.unnamed)
    # the global generators only go on between searches, and `search` seeds them for each pair and restores them
    evidence = judge(check.runs, pair, candidate, spent, training, on_progress, check.runs_max, share=share)
    if evidence.runs == 0:  # learning took all the time
        return check.too_slow(pair)
    differ = 0 < evidence.event_in + evidence.event_out < 2 * evidence.runs
    if evidence.verdict is Verdict.VIOLATED:
        check.notes += event_notes(evidence.event, outcomes)
    else:
        check.notes += outcome_notes(outcomes, others_differ=differ)
    if evidence.verdict is Verdict.UNDERPOWERED:
        check.note_more_seconds(pair)
    return check.finding(
        "runs", pair, evidence.event, {"sequential": evidence}, verdict=evidence.verdict, point=candidate.point
    )


def learn_event(sampler: Runs, pair: Pair, alpha: float) -> tuple[Candidate, int]:
    """Return an event to judge by, and the runs of each world that it was learned on.

    More runs are spent on learning until the event promises to be decided in the time that is left, or until
    learning has taken half of that time.
    """
    clock = sampler.function.clock
    started, share, needed = clock.now(), sampler.function.left() / 2, -math.log(alpha)
    event: Event | None = None
    for place, runs in enumerate(LEARN):
        before, spent, called = clock.now(), sampler.function.seconds, sampler.function.runs
        candidate = sampler.candidate(pair, runs, before=event)
        event = candidate.event
        a_run = (sampler.function.seconds - spent) / (sampler.function.runs - called)  # of this pair
        affordable = sampler.function.left() / max(1e-9, a_run) / 2
        now = clock.now()
        ahead = (2 if runs == EVERY_MAX else 4) * (now - before)  # of the next step
        late = now - started + ahead > share
        enough = candidate.growth * affordable > ENOUGH * needed and candidate.growth * runs > needed
        if enough or late or place == len(LEARN) - 1:
            break
    return candidate, runs


def judge(
    sampler: Runs,
    pair: Pair,
    candidate: Candidate,
    alpha: float,
    training: int,
    on_progress: Callable[[float, int], None] = lambda log_wealth, runs: None,
    most: int | None = None,
    *,
    share: float = 1.0,
) -> SequentialEvidence:
    """Return the evidence of fresh runs, at confidence 1 − α: until the claim is refuted or the time is over.

    most: runs of each world, at most. share: of the time that is left; all of it where the wealth that grew in its
    share promises that the rest will decide.

    A call for a batch that raises does not say which of its runs did: its runs are drawn again one by one, and so
    are all later ones. The wealth of the batches before counts as lost, which makes it no more likely to be large. So a
    batch function has two e-processes, and each of them has half of the wealth at the start.
    """
    start = -math.log(2) if sampler.function.batch else 0.0
    state = State(candidate.point, log_wealth=(start, start, start, start))
    looks, size, singly, needed = [(0, start)], FIRST, False, -math.log(alpha) + SLACK
    idle = FIRST  # runs that have won nothing, whatever their outcomes
    before = sampler.function.left()
    until = before * (1 - share) if share < 1 else 0.0
    while state.log_e_value < needed and (most is None or state.seen.runs < most):
        left = sampler.function.left()
        until = 0.0 if left <= until and _decides_in_time(state, needed, before - left, left) else until
        if left <= until:
            break
        size = size if most is None else min(size, most - state.seen.runs)
        raised = sampler.function.raised
        with sampler.function.within(left):
            drawn = sampler.draw(pair, size, singly=singly, reserve=until)
            if sampler.function.raised > raised:
                singly, drawn = True, sampler.draw(pair, size, singly=True, reserve=until)
                state, idle = replace(state, log_wealth=(start, start, start, start)), max(FIRST, state.seen.runs)
        if not len(drawn[0]):
            break
        state = e_process.update(state, pair_counts(candidate.event, drawn))
        looks.append((state.seen.runs, state.log_e_value))
        on_progress(state.log_e_value, state.seen.runs)
        size = min(BATCH, max(FIRST, state.seen.runs // LOOK))
        while size > 1 and sampler.function.is_too_slow(2 * size):
            size //= 2
    return evidence_of(
        state,
        looks,
        needed=needed,
        betting=max(0, state.seen.runs - idle),
        alpha=alpha,
        runs_max=state.seen.runs if most is None else most,
        training=training,
        event=candidate.event.to_json(),
    )


def _decides_in_time(state: State, needed: float, spent: float, left: float) -> bool:
    """Return whether the wealth that has grown in the seconds spent will decide in half of those that are left."""
    return state.log_e_value >= LEADING and needed - state.log_e_value <= state.log_e_value / spent * left / 2


def certain(pair_claim: AnyClaim, outcome: Hashable) -> Candidate:
    """Return the event of one outcome, and the point that a pair refutes soonest of which one world always has it."""
    point = max(points(pair_claim), key=lambda one: e_process.reachable(1 << 20, one))
    return Candidate(point, OneOf((outcome,), by_type=True), 0.0)


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
