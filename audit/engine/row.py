"""The three steps of a row: it is begun, its batches are counted, and it is finished.

begin: the worlds and their claim, the event (learned if the attack names none), the laws, the bins;
count: runs of both worlds in batches, on any worker;
finish: the evidence of the counts, and the row.

Each step is a pure function of its arguments for a member whose randomness is seeded, so any worker may take it.
`row_state` hands out the steps; `evidence` computes laws, bins, counts and verdicts.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.events import Event
from subnormal.audit.engine.pairs import Crossing, planned_runs
from subnormal.audit.evidence import batches, event_search, exact, exhaustive, sampled, sequential, timing
from subnormal.audit.evidence.batches import Batch, BatchTotals
from subnormal.audit.evidence.sequential import SequentialTest
from subnormal.audit.model import ExactEvidence, Row, Sketch, Worlds
from subnormal.audit.text import error_text
from subnormal.audit.values.literal import literals
from subnormal.mechanisms.families import package
from subnormal.mechanisms.privacy import Claim

Tally = BatchTotals | SequentialTest


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of one row. runs: of each world in all, those for learning included; 0: no runs. alpha: its share.

    until_decided: stop as soon as the claim is refuted, by an e-process. seconds: the time of a timing row, whose runs
    are measurements of both worlds.
    """

    seed: int
    runs: int
    alpha: float
    until_decided: bool = False
    seconds: float = timing.SECONDS


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """The parts of a row that are fixed before the runs that judge it."""

    event: Event | None
    claim: Claim
    exact: ExactEvidence | None
    exhaustive: ExactEvidence | None
    sketch: Sketch | None  # the bins and the laws' masses in them; None: there is neither a law nor runs
    spent: int  # of the plan's runs: those that the event was learned on, and those that fixed the bins
    note: str | None = None  # why nothing is compared and nothing runs

    @property
    def edges(self) -> NDArray[np.float64]:
        """The edges of the bins; empty if only the event is counted."""
        return np.empty(0) if self.sketch is None else self.sketch.edges


@dataclass(frozen=True, slots=True, eq=False)
class RowStart:
    """A row after its first batches. row: if these were all. seconds: for one run of both worlds."""

    row: Row | None = None
    prepared: Preparation | None = None
    tally: Tally | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SpanCounts:
    """The counts of a span of batches. failed: the number of the next batch and its error, if it failed.

    The error is text, because not every exception can be sent from another process.
    """

    span: Sequence[Batch]
    counted: Any  # in the form that the row's tally adds; empty if the first batch failed
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
    """Return the row of one crossing, examined in this process (see `Plan`). An exception becomes the row's error.

    runs: at most; the member's own limit may be less, and 0 means no sampling.
    """
    try:
        plan = Plan(seed, planned_runs(crossing, runs), alpha, until_decided, seconds)
    except Exception as error:
        return error_row(crossing, error)
    row = begin(crossing, plan, first=plan.runs).row
    assert row is not None  # its first batches are all of them
    return row


def begin(
    crossing: Crossing, plan: Plan, stored: dict[str, Any] | None = None, *, first: int | None = None
) -> RowStart:
    """Prepare a row, and count its first batches or restore stored counts; finish it if these are all.

    stored: the JSON of the row's tally in an interrupted audit. first: about how many runs to count; None: one batch.
    """
    try:
        if crossing.attack.channel == "time":
            return RowStart(_timing_row(crossing, plan))
        prepared = prepare(crossing, plan)
        tally, seconds = _tally(crossing, plan, prepared), 0.0
        if tally is None:
            return RowStart(finish(crossing, plan, prepared, tally), prepared)
        if stored is not None:
            tally.restore(stored)
        for batch in () if stored is not None else tally.todo():
            result = count(crossing, plan, prepared.event, prepared.edges, [batch])
            if result.failed is not None:
                return RowStart(error_row(crossing, result.failed[1]))
            tally.add(result.span, result.counted)
            seconds += result.seconds
            if tally.complete or tally.counted >= (first or batches.BATCH):
                break
        row = finish(crossing, plan, prepared, tally) if tally.complete else None
        return RowStart(row, prepared, tally, seconds / max(1, tally.counted))
    except Exception as error:
        return RowStart(error_row(crossing, error))


def prepare(crossing: Crossing, plan: Plan) -> Preparation:
    """Fix the event and the bins of a row, and compare its laws. Raises ValueError if no runs are left to judge."""
    mechanism = crossing.seen
    worlds, claim = crossing.claimed()
    attack, learned_on = crossing.attack, _learned_on(crossing, plan)
    laws = exact.both_laws(mechanism, attack, worlds)
    if (note := exact.nothing_tried(laws)) is not None:
        return Preparation(attack.event, claim, None, None, None, 0, note)
    if learned_on:
        attack = event_search.with_event(mechanism, attack, seed=plan.seed, runs=learned_on)
    whole = exact.whole(laws)
    pilot = sampled.pilot(plan.runs) if whole is None and plan.runs and not plan.until_decided else 0
    if plan.runs and learned_on + pilot >= plan.runs:
        raise ValueError(f"runs must leave one to judge by, got {plan.runs:,}")
    proved = None if laws is None else exact.compare(*laws, claim, attack.event)
    walked = None if mechanism.depth is None else exhaustive.both_laws(mechanism, attack, worlds)
    followed = None if walked is None else exact.compare(*walked, claim, attack.event)
    has_bins = whole is not None or pilot
    sketch = sampled.sketch(mechanism, attack, worlds, claim, whole, plan.seed, pilot) if has_bins else None
    return Preparation(attack.event, claim, proved, followed, sketch, learned_on + pilot)


def _learned_on(crossing: Crossing, plan: Plan) -> int:
    """Return the number of runs of each world to learn the event on; 0 if the attack names an event."""
    if crossing.attack.event is not None or not plan.runs:
        return 0
    share, most = event_search.LEARNING_SHARE, event_search.RUNS_MAX
    if plan.until_decided:
        share, most = sequential.LEARNING_SHARE, sequential.LEARNING_MAX
    return min(most, max(2, int(share * plan.runs)))


def _tally(crossing: Crossing, plan: Plan, prepared: Preparation) -> Tally | None:
    if not plan.runs or prepared.note is not None:
        return None
    if plan.until_decided:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        return SequentialTest(prepared.claim, attack, plan.alpha, (plan.runs, prepared.spent, batches.BATCH))
    return None if prepared.sketch is None else BatchTotals(plan.runs - prepared.spent, len(prepared.sketch.edges))


def count(
    crossing: Crossing, plan: Plan, event: Event | None, edges: NDArray[np.float64], span: Sequence[Batch]
) -> SpanCounts:
    """Return the counts of these batches, up to the first that fails. edges: of the bins."""
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
    total = counted if plan.until_decided else batches.total(counted)
    return SpanCounts(span[: len(counted)], total, time.perf_counter() - started, failed_at)


def finish(crossing: Crossing, plan: Plan, prepared: Preparation, tally: Tally | None) -> Row:
    """Return the row, with the evidence of its laws and of its counts."""
    try:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        found: dict[str, Any] = {"exact": prepared.exact, "exhaustive": prepared.exhaustive, "sketch": prepared.sketch}
        if isinstance(tally, SequentialTest):
            found["sequential"] = tally.evidence
        elif tally is not None and prepared.sketch is not None:
            seed = sampled.row_seed(plan.seed, attack, crossing.seen)
            found["sampled"] = sampled.judge(tally.counts, prepared.claim, plan.alpha, prepared.sketch.law, seed)
            found["sketch"] = sampled.add_counts(prepared.sketch, tally.counts, prepared.claim, plan.alpha)
        return _row(crossing, attack, prepared.claim, note=prepared.note, **found)
    except Exception as error:
        return error_row(crossing, error)


def _timing_row(crossing: Crossing, plan: Plan) -> Row:
    attack, (_, claim) = crossing.attack, crossing.claimed()
    if not plan.runs:
        return _row(crossing, attack, claim)
    runs = max(plan.runs, timing.LEAST)
    times = timing.observe(crossing.seen, attack, seed=plan.seed, measurements=runs, seconds=plan.seconds)
    shown = timing.judge(times, claim, plan.alpha, plan.seed)
    return _row(crossing, attack, claim, timing=shown, sketch=timing.sketch(times))


def error_row(crossing: Crossing, error: BaseException | str) -> Row:
    """Return the row of a crossing with an error and no evidence."""
    return _row(crossing, crossing.attack, None, error=error if isinstance(error, str) else error_text(error))


def _row(crossing: Crossing, attack: AnyAttack, claim: Claim | None, **evidence: Any) -> Row:
    mechanism, worlds = crossing.mechanism, literals(attack.worlds)
    return Row(
        attack=attack.name,
        description=attack.description,
        source=attack.source,
        family=attack.family,
        mechanism=mechanism.name,
        package=package(mechanism),
        parameters={} if attack.parameters is None else dataclasses.asdict(attack.parameters),
        settings=_settings(crossing) if "error" not in evidence else {},
        event=None if attack.event is None else attack.event.to_json(),
        claim=claim,
        advantage_allowed=None if claim is None else claim.advantage_allowed,
        reproducible=mechanism.seeded and attack.channel != "time",
        channel=attack.channel,
        worlds=None if worlds is None else Worlds(*worlds),
        **evidence,
    )


def _settings(crossing: Crossing) -> dict[str, str | int]:
    settings = crossing.mechanism.settings
    return {} if settings is None else dict(settings(crossing.attack.parameters))
