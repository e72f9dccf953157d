"""The life of one row, from top to bottom: it is begun, its batches are counted, and it is finished.

begin: the worlds and their claim, the event (learned where the attack names none), the laws, the cells;
count: runs of both worlds in batches, by any free worker;
finish: what the counts show, and the row.

Each of the three is a pure function of its arguments for a member whose randomness is seeded, so that it does not
matter who takes it. `standing` hands them out; laws, cells, counts and verdicts are made in `evidence`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event
from subnormal.audit.engine.pairs import AnyAttack, Crossing, planned_runs
from subnormal.audit.evidence import batches, event_search, exact, exhaustive, sampled, sequential, timing
from subnormal.audit.evidence.batches import Batch, Sums
from subnormal.audit.evidence.sequential import Looks
from subnormal.audit.literal import literals
from subnormal.audit.model import ExactEvidence, Row, Sketch
from subnormal.audit.text import error_text
from subnormal.mechanisms.families import package
from subnormal.mechanisms.privacy import Claim

Tally = Sums | Looks


@dataclass(frozen=True, slots=True)
class Plan:
    """How a row is examined. runs: of each world in all, judging or not; 0 for none. alpha: the row's own share.

    until_decided: stop as soon as the claim is refuted, by an e-process. seconds: what a row that the clock decides may
    take; then runs are measurements of both worlds.
    """

    seed: int
    runs: int
    alpha: float
    until_decided: bool = False
    seconds: float = timing.SECONDS


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What is known of a row, and fixed, before the runs that judge it."""

    event: Event | None
    claim: Claim
    exact: ExactEvidence | None
    exhaustive: ExactEvidence | None
    sketch: Sketch | None  # the cells, with what the laws say of them; None: there is no law, and nothing to count
    spent: int  # of the plan's runs: those that the event was learned on, and those that fixed the cells

    @property
    def edges(self) -> NDArray[np.float64]:
        """The cells that runs are counted in; none where only the event counts."""
        return np.empty(0) if self.sketch is None else self.sketch.edges


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """A row after its first batches. row: where that was all. seconds: what a run of both worlds took."""

    row: Row | None = None
    prepared: Prepared | None = None
    tally: Tally | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What counting some batches has brought. failed: the number of the batch behind them, and why, where one failed.

    In words, because not every exception finds its way back from another process.
    """

    span: Sequence[Batch]
    counted: Any  # as the row's tally adds it; nothing where the first one failed
    seconds: float
    failed: tuple[int, str] | None = None


def examine(
    crossing: Crossing,
    *,
    seed: int,
    runs: int,
    alpha: float,
    until_decided: bool = False,
    seconds: float = timing.SECONDS,
) -> Row:
    """Return the row of one crossing, all of it made here (see `Plan`). What goes wrong becomes the row's error.

    runs is a wish: the member's own bound may be less, and 0 means that nothing is sampled.
    """
    try:
        plan = Plan(seed, planned_runs(crossing, runs), alpha, until_decided, seconds)
    except Exception as error:
        return failed(crossing, error)
    row = begin(crossing, plan, first=plan.runs).row
    assert row is not None  # all runs are its first
    return row


def begin(crossing: Crossing, plan: Plan, stored: dict[str, Any] | None = None, *, first: int | None = None) -> Begun:
    """Prepare a row, and count its first batches, or take those stored; finish it where that is all.

    stored: the JSON of the row's tally in an earlier run of the same audit. first: about how many runs; None: a batch.
    """
    try:
        if crossing.attack.channel == "time":
            return Begun(_timed(crossing, plan))
        prepared = prepare(crossing, plan)
        tally, seconds = _tally(crossing, plan, prepared), 0.0
        if tally is None:
            return Begun(finish(crossing, plan, prepared, tally), prepared)
        if stored is not None:
            tally.restore(stored)
        for batch in () if stored is not None else tally.todo():
            found = count(crossing, plan, prepared.event, prepared.edges, [batch])
            if found.failed is not None:
                return Begun(failed(crossing, found.failed[1]))
            tally.add(found.span, found.counted)
            seconds += found.seconds
            if tally.complete or tally.counted >= (first or batches.BATCH):
                break
        row = finish(crossing, plan, prepared, tally) if tally.complete else None
        return Begun(row, prepared, tally, seconds / max(1, tally.counted))
    except Exception as error:
        return Begun(failed(crossing, error))


def prepare(crossing: Crossing, plan: Plan) -> Prepared:
    """Fix the event and the cells of a row, and compare its laws.

    Raises ValueError where that leaves none of the runs to judge by.
    """
    mechanism = crossing.seen
    worlds, claim = crossing.claimed()
    attack, learned_on = crossing.attack, _learned_on(crossing, plan)
    if learned_on:
        attack = event_search.with_event(mechanism, attack, seed=plan.seed, runs=learned_on)
    laws = exact.both_laws(mechanism, attack, worlds)
    whole = exact.whole(laws)
    pilot = sampled.pilot(plan.runs) if whole is None and plan.runs and not plan.until_decided else 0
    if plan.runs and learned_on + pilot >= plan.runs:
        raise ValueError(f"runs must leave one to judge by, got {plan.runs:,}")
    proved = None if laws is None else exact.compare(*laws, claim, attack.event)
    walked = None if mechanism.depth is None else exhaustive.both_laws(mechanism, attack, worlds)
    followed = None if walked is None else exact.compare(*walked, claim, attack.event)
    cells = whole is not None or pilot
    sketch = sampled.sketch(mechanism, attack, worlds, claim, whole, plan.seed, pilot) if cells else None
    return Prepared(attack.event, claim, proved, followed, sketch, learned_on + pilot)


def _learned_on(crossing: Crossing, plan: Plan) -> int:
    """Return how many runs of each world the row's event is learned on; none where the attack names one."""
    if crossing.attack.event is not None or not plan.runs:
        return 0
    share, most = event_search.LEARNING_SHARE, event_search.RUNS_MAX
    if plan.until_decided:
        share, most = sequential.LEARNING_SHARE, sequential.LEARNING_MAX
    return min(most, max(2, int(share * plan.runs)))


def _tally(crossing: Crossing, plan: Plan, prepared: Prepared) -> Tally | None:
    if not plan.runs:
        return None
    if plan.until_decided:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        return Looks(prepared.claim, attack, plan.alpha, (plan.runs, prepared.spent, batches.BATCH))
    return None if prepared.sketch is None else Sums(plan.runs - prepared.spent, len(prepared.sketch.edges))


def count(
    crossing: Crossing, plan: Plan, event: Event | None, edges: NDArray[np.float64], span: Sequence[Batch]
) -> Found:
    """Return the counts of these batches, up to the first that fails. edges: of the cells."""
    mechanism, attack = crossing.seen, dataclasses.replace(crossing.attack, event=event)
    counted: list[Any] = []
    started, failed_at = time.perf_counter(), None
    for batch in span:
        try:
            if plan.until_decided:
                counted.append(sequential.count_pairs(mechanism, attack, plan.seed, *batch))
            else:
                counted.append(batches.count_worlds(mechanism, attack, edges, plan.seed, *batch))
        except Exception as error:
            failed_at = batch[0], error_text(error)
            break
    found = counted if plan.until_decided else batches.total(counted)
    return Found(span[: len(counted)], found, time.perf_counter() - started, failed_at)


def finish(crossing: Crossing, plan: Plan, prepared: Prepared, tally: Tally | None) -> Row:
    """Return the row: what is known from its laws, and what its counts show."""
    try:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        found: dict[str, Any] = {"exact": prepared.exact, "exhaustive": prepared.exhaustive, "sketch": prepared.sketch}
        if isinstance(tally, Looks):
            found["sequential"] = tally.evidence
        elif tally is not None and prepared.sketch is not None:
            seed = sampled.row_seed(plan.seed, attack, crossing.seen)
            found["sampled"] = sampled.judge(tally.counts, prepared.claim, plan.alpha, prepared.sketch.law, seed)
            found["sketch"] = sampled.sketched(prepared.sketch, tally.counts, prepared.claim, plan.alpha)
        return _row(crossing, attack, prepared.claim, **found)
    except Exception as error:
        return failed(crossing, error)


def _timed(crossing: Crossing, plan: Plan) -> Row:
    attack, (_, claim) = crossing.attack, crossing.claimed()
    runs = max(plan.runs, timing.LEAST)
    times = timing.observe(crossing.seen, attack, seed=plan.seed, measurements=runs, seconds=plan.seconds)
    shown = timing.judge(times, claim, plan.alpha, plan.seed)
    return _row(crossing, attack, claim, timing=shown, sketch=timing.sketch(times))


def failed(crossing: Crossing, error: BaseException | str) -> Row:
    """Return the row of a crossing in which something went wrong; the other rows do not notice."""
    return _row(crossing, crossing.attack, None, error=error if isinstance(error, str) else error_text(error))


def _row(crossing: Crossing, attack: AnyAttack, claim: Claim | None, **evidence: Any) -> Row:
    mechanism = crossing.mechanism
    return Row(
        attack=attack.name,
        description=attack.description,
        source=attack.source,
        family=attack.family,
        mechanism=mechanism.name,
        package=package(mechanism),
        parameters={} if attack.parameters is None else dataclasses.asdict(attack.parameters),
        event=None if attack.event is None else attack.event.to_json(),
        claim=claim,
        advantage_allowed=None if claim is None else claim.advantage_allowed,
        reproducible=mechanism.seeded and attack.channel != "time",
        channel=attack.channel,
        worlds=literals(attack.worlds),
        **evidence,
    )
