"""The life of one row, from top to bottom: it is begun, its batches are counted, and it is finished.

begin: the worlds and their claim, the event (learned where the attack names none), the laws, the cells;
count: runs of both worlds in batches, by any free worker;
finish: what the counts show, and the row.

Each of the three is a pure function of its arguments for a member whose randomness is seeded, so that it does not
matter who takes it. `row_state` hands them out; laws, cells, counts and verdicts are made in `evidence`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Event
from subnormal.audit.engine.pairs import AnyAttack, Crossing, planned_runs
from subnormal.audit.evidence import batches, event_search, exact, exhaustive, sampled, sequential, timing, two_laws
from subnormal.audit.evidence.batches import Batch, Counts, Sums
from subnormal.audit.evidence.sequential import Looks
from subnormal.audit.evidence.worlds import claimed
from subnormal.audit.literal import literal
from subnormal.audit.model import ExactEvidence, Pair, Row, Sketch
from subnormal.audit.statistics import curve_band
from subnormal.audit.statistics.e_process import PairCounts
from subnormal.mechanisms.families import package
from subnormal.mechanisms.privacy import Claim

CURVE_POINTS = 33  # of the picture of δ(ε)
LEARNING_SHARE = 1 / 4  # of a row's runs, to learn an event on

Counted = tuple[Counts, Counts] | list[PairCounts]  # of some batches: their sums, or one by one in their order
Tally = Sums | Looks


@dataclass(frozen=True, slots=True)
class Plan:
    """How a row is examined. runs: of each world in all, judging or not; 0 for none. alpha: the row's own share."""

    seed: int
    runs: int
    alpha: float
    until_decided: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What is known of a row, and fixed, before the runs that judge it."""

    event: Event | None
    claim: Claim
    exact: ExactEvidence | None
    exhaustive: ExactEvidence | None
    edges: NDArray[np.float64] | None  # the cells; None: nothing falls into any, and there is no law
    masses: Pair | None  # of the laws, in the cells
    curve: Pair | None  # δ(ε) of the laws
    spent: int  # of the plan's runs: those that the event was learned on, and those that fixed the cells


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
    counted: Counted | None  # None: the first one failed
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
    """Return the row of one crossing. What goes wrong becomes the row's error.

    alpha is this row's own share. runs is a wish: the member's own bound may be less, and 0 means that nothing is
    sampled. until_decided: stop as soon as the claim is refuted, by an e-process.
    seconds: what a row that the clock decides may take; then runs are measurements of both worlds.
    """
    try:
        plan = Plan(seed, planned_runs(crossing, runs), alpha, until_decided)
        if crossing.attack.channel == "time":
            return _timed(crossing, plan, seconds)
        prepared = prepare(crossing, plan)
        tally = _tally(crossing, plan, prepared)
        while tally is not None and not tally.complete:
            _count_some(crossing, plan, prepared, tally, batches.BATCH)
        return finish(crossing, plan, prepared, tally)
    except Exception as error:
        return failed(crossing, error)


def begin(crossing: Crossing, plan: Plan, stored: dict[str, Any] | None = None) -> Begun:
    """Prepare a row, and count its first batches, or take those stored; finish it where that is all.

    stored: the JSON of the row's tally in an earlier run of the same audit.
    """
    try:
        prepared = prepare(crossing, plan)
        tally, seconds = _tally(crossing, plan, prepared), 0.0
        if tally is not None and stored is not None:
            tally.restore(stored)
        elif tally is not None:
            seconds = _count_some(crossing, plan, prepared, tally, batches.BATCH) / tally.counted
        if tally is None or tally.complete:
            return Begun(finish(crossing, plan, prepared, tally), prepared, tally, seconds)
        return Begun(None, prepared, tally, seconds)
    except Exception as error:
        return Begun(failed(crossing, error))


def prepare(crossing: Crossing, plan: Plan) -> Prepared:
    """Fix the event and the cells of a row, and compare its laws.

    Raises ValueError where that leaves none of the runs to judge by.
    """
    mechanism = crossing.seen
    worlds, claim = claimed(crossing.attack, mechanism)
    attack, learned_on = _with_event(crossing, plan)
    laws = two_laws.both_laws(mechanism, attack, worlds)
    whole = two_laws.whole(laws)
    pilot = sampled.pilot(plan.runs) if whole is None and plan.runs and not plan.until_decided else 0
    if plan.runs and learned_on + pilot >= plan.runs:
        raise ValueError(f"runs must leave one to judge by, got {plan.runs:,}")
    proved = None if laws is None else exact.compare(*laws, claim, attack.event)
    walked = exhaustive.both_laws(mechanism, attack, worlds)
    followed = None if walked is None else exact.compare(*walked, claim, attack.event)
    edges = masses = curve = None
    if whole is not None or pilot:
        edges = sampled.cell_edges(mechanism, attack, worlds, whole, plan.seed, pilot)
    if whole is not None and edges is not None:
        masses = sampled.cell_masses(whole[0], attack, edges), sampled.cell_masses(whole[1], attack, edges)
        curve = _epsilons(claim), exact.curve(*whole, _epsilons(claim).tolist())[0]
    return Prepared(attack.event, claim, proved, followed, edges, masses, curve, learned_on + pilot)


def _with_event(crossing: Crossing, plan: Plan) -> tuple[AnyAttack, int]:
    """Return the attack with an event, and the runs that it was learned on."""
    attack, mechanism = crossing.attack, crossing.seen
    if attack.event is not None or not plan.runs:
        return attack, 0
    if plan.until_decided:
        return sequential.with_event(mechanism, attack, seed=plan.seed, runs_max=plan.runs)
    learned_on = min(event_search.RUNS_MAX, max(2, int(LEARNING_SHARE * plan.runs)))
    return event_search.with_event(mechanism, attack, seed=plan.seed, runs=learned_on), learned_on


def _epsilons(claim: Claim) -> NDArray[np.float64]:
    """Return where curves δ(ε) are drawn, shape (CURVE_POINTS,)."""
    return np.linspace(0, 2 * claim.epsilon or 1.0, CURVE_POINTS)


def _tally(crossing: Crossing, plan: Plan, prepared: Prepared) -> Tally | None:
    if not plan.runs:
        return None
    if plan.until_decided:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        return Looks(prepared.claim, attack, plan.alpha, (plan.runs, prepared.spent, batches.BATCH))
    return None if prepared.edges is None else Sums(plan.runs - prepared.spent, len(prepared.edges))


def _count_some(crossing: Crossing, plan: Plan, prepared: Prepared, tally: Tally, runs: int) -> float:
    """Count the next batches of about so many runs, one at a time; return the seconds that it took."""
    taken, before = 0.0, tally.counted
    for batch in takewhile(lambda _: tally.counted - before < runs and not tally.complete, tally.todo()):
        started = time.perf_counter()
        counted = _counted(crossing, plan, prepared.event, cells_of(prepared, tally), [batch])
        taken += time.perf_counter() - started
        add(tally, [batch], counted)
    return taken


def count(
    crossing: Crossing, plan: Plan, event: Event | None, edges: NDArray[np.float64] | None, span: Sequence[Batch]
) -> Found:
    """Return the counts of these batches, up to the first that fails. edges: None while a claim is decided."""
    counted: Counted | None = None
    started, failed_at = time.perf_counter(), None
    for place, (number, _) in enumerate(span):
        try:
            one = _counted(crossing, plan, event, edges, span[place : place + 1])
        except Exception as error:
            span, failed_at = span[:place], (number, in_words(error))
            break
        if counted is None:
            counted = one
        elif isinstance(counted, list) and isinstance(one, list):
            counted += one
        elif isinstance(counted, tuple) and isinstance(one, tuple):
            counted = counted[0] + one[0], counted[1] + one[1]
    return Found(span, counted, time.perf_counter() - started, failed_at)


def _counted(
    crossing: Crossing, plan: Plan, event: Event | None, edges: NDArray[np.float64] | None, span: Sequence[Batch]
) -> Counted:
    mechanism, attack = crossing.seen, dataclasses.replace(crossing.attack, event=event)
    if edges is None:
        return [sequential.count_pairs(mechanism, attack, plan.seed, number, size) for number, size in span]
    return batches.count_batches(mechanism, attack, attack.worlds(), edges, plan.seed, span)


def finish(crossing: Crossing, plan: Plan, prepared: Prepared, tally: Tally | None) -> Row:
    """Return the row: what is known from its laws, and what its counts show."""
    try:
        attack = dataclasses.replace(crossing.attack, event=prepared.event)
        counts = tally.counts if isinstance(tally, Sums) else None
        evidence = None
        if counts is not None:
            seed = sampled.row_seed(plan.seed, attack, crossing.seen)
            evidence = sampled.judge(counts, prepared.claim, plan.alpha, prepared.masses, seed)
        return _row(
            crossing,
            attack,
            prepared.claim,
            exact=prepared.exact,
            exhaustive=prepared.exhaustive,
            sampled=evidence,
            sequential=tally.evidence if isinstance(tally, Looks) else None,
            sketch=_sketch(attack, prepared, counts, plan.alpha),
        )
    except Exception as error:
        return failed(crossing, error)


def _sketch(attack: AnyAttack, prepared: Prepared, counts: tuple[Counts, Counts] | None, alpha: float) -> Sketch | None:
    axis, edges, masses = attack.axis or attack.channel or "outcome", prepared.edges, prepared.masses
    if counts is None:
        return None if edges is None or masses is None else Sketch(edges, None, masses, prepared.curve, axis)
    if edges is None:
        raise TypeError("what has been counted has cells")
    shares = counts[0].cells / counts[0].runs, counts[1].cells / counts[1].runs
    points = _epsilons(prepared.claim).tolist()
    band = curve_band.drawn((counts[0].cells, counts[1].cells), prepared.claim, points, alpha, masses)
    return Sketch(edges, shares, masses, prepared.curve, axis, band)


def _timed(crossing: Crossing, plan: Plan, seconds: float) -> Row:
    attack, mechanism = crossing.attack, crossing.seen
    _, claim = claimed(attack, mechanism)
    measurements = max(plan.runs, timing.LEAST)
    times = timing.observe(mechanism, attack, seed=plan.seed, measurements=measurements, seconds=seconds)
    shown = timing.judge(times, claim, plan.alpha, plan.seed)
    return _row(crossing, attack, claim, timing=shown, sketch=timing.sketch(times))


def add(tally: Tally, span: Sequence[Batch], counted: Counted) -> None:
    """Add the counts of some batches, which are of the tally's kind."""
    tally.add(span, counted)  # type: ignore[arg-type]  # the two kinds come in pairs


def cells_of(prepared: Prepared, tally: Tally) -> NDArray[np.float64] | None:
    """Return the cells that runs are counted in; None while a claim is decided, where only the event counts."""
    return prepared.edges if isinstance(tally, Sums) else None


def failed(crossing: Crossing, error: BaseException | str) -> Row:
    """Return the row of a crossing in which something went wrong; the other rows do not notice."""
    return _row(crossing, crossing.attack, None, error=error if isinstance(error, str) else in_words(error))


def in_words(error: BaseException) -> str:
    """Return an error as a row shows it."""
    return f"{type(error).__name__}: {error}"


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
        worlds=_written(attack),
        **evidence,
    )


def _written(attack: AnyAttack) -> tuple[str, str] | None:
    """Return the worlds as Python expressions; None where they cannot be built, or be written shortly."""
    try:
        data_in, data_out = map(literal, attack.worlds())
    except Exception:  # the row's error says what went wrong
        return None
    return None if data_in is None or data_out is None else (data_in, data_out)
