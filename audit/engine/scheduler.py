"""All rows of a report: their tasks, handed to an executor in whatever order they are finished.

A row is begun, its batches are counted in spans of about `SPAN` seconds, and it is finished (module `row`). What comes
back is added up, and sums do not depend on their order: the report is the same whoever took which task, however many
there were, and whether some of them died. Claims that are being decided are looked at batch after batch, in order.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from subnormal.attacks import catalogue
from subnormal.audit import interrupts
from subnormal.audit.engine import process_pool
from subnormal.audit.engine import row as engine_row
from subnormal.audit.engine.dask_workers import ClusterError
from subnormal.audit.engine.fingerprint import environment
from subnormal.audit.engine.pairs import Crossing, planned_runs
from subnormal.audit.engine.process_pool import Executor, Here
from subnormal.audit.engine.row import Begun, Found, Plan, Prepared, Tally
from subnormal.audit.evidence import timing
from subnormal.audit.evidence.batches import Batch
from subnormal.audit.model import Report, Row
from subnormal.mechanisms.families import is_member

SPAN = 0.5  # seconds of counting that one task is to take
PATIENCE = 0.1  # seconds after which somebody who watches hears again
SAVED = 1.0  # seconds between checkpoints
DEATHS = 3  # workers that a task may cost before its row is given up

Task = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(slots=True, eq=False)
class Standing:
    """Where a row stands, on its way."""

    crossing: Crossing
    plan: Plan
    portable: bool
    stored: dict[str, Any] | None = None
    kept: int = 0  # runs of an earlier audit that this one goes on from
    begun: bool = False
    finishing: bool = False
    prepared: Prepared | None = None
    tally: Tally | None = None
    seconds: float = 0.0  # for a run of both worlds
    row: Row | None = None
    stumbled: tuple[int, str] | None = None  # the first batch that failed, of those heard of, and why
    _todo: Iterator[Batch] = field(default_factory=lambda: iter(()))

    @property
    def counted(self) -> int:
        """Runs of each world so far."""
        return self.plan.runs if self.row is not None else 0 if self.tally is None else self.tally.counted

    def take_begun(self, begun: Begun) -> None:
        """Note what the first task has found."""
        self.row, self.prepared, self.tally, self.seconds = begun.row, begun.prepared, begun.tally, begun.seconds
        if self.stored is not None:
            self.kept = self.counted
        self._todo = iter(()) if begun.tally is None else begun.tally.todo()

    def take_found(self, found: Found) -> None:
        """Add what was counted. A batch that failed is the row's error, unless the claim is decided before its turn.

        Which of several that is must not depend on who was faster: all batches before it are waited for.
        """
        if self.tally is None:
            return
        if found.counted is not None:
            engine_row.add(self.tally, found.span, found.counted)
            self.seconds = found.seconds / sum(size for _, size in found.span)
        if found.failed is not None:
            self.stumbled = min(found.failed, self.stumbled or found.failed)
        if self.stumbled is not None and not self.tally.complete and self.tally.reached(self.stumbled[0]):
            self.row = engine_row.failed(self.crossing, self.stumbled[1])

    def span(self, parts: int) -> list[Batch]:
        """Return the next batches to count: about `SPAN` seconds of them, and not more than the rest in `parts`."""
        if self.stumbled is not None:
            return []
        left = self.plan.runs - self.counted
        runs = min(SPAN / self.seconds if self.seconds else 1, left / parts)
        if self.plan.until_decided:
            runs = min(runs, self.counted)  # the claim may be decided before
        taken, span = 0, []
        for batch in self._todo:
            span.append(batch)
            taken += batch[1]
            if taken >= runs:
                break
        return span


@dataclass(frozen=True, slots=True)
class Standings:
    """How far an audit is. runs_kept: those that an earlier audit has done; at: the row that was counted last."""

    rows: int
    rows_done: int
    runs: int
    runs_done: int
    runs_kept: int
    at: Standing | None


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where an audit keeps its counts, should it be killed: those of an earlier run by row, and what saves them."""

    stored: Mapping[int, Any]
    save: Callable[[Mapping[int, Any]], None]


def examine_all(
    met: Sequence[Crossing],
    *,
    seed: int,
    runs: int,
    alpha: float,
    until_decided: bool = False,
    executor: Executor | None = None,
    keeping: Keeping | None = None,
    told: Callable[[Standings], None] = lambda standings: None,
) -> Report:
    """Return the report of these crossings, α shared equally by the rows that are sampled.

    executor: who does the tasks; where none is given, a process for each core. What cannot be sent to another process
    is done in this one. Rows that the clock decides come last, alone, here. told hears how far the audit is, about ten
    times a second. The report does not depend on the executor, nor on what was kept of an earlier run.
    """
    standing = planned(met, seed=seed, runs=runs, alpha=alpha, until_decided=until_decided)
    for place, stored in ({} if keeping is None else keeping.stored).items():
        standing[place].stored = stored
    counted = [one for one in standing if one.crossing.attack.channel != "time"]
    if executor is not None or len(counted) < 2:
        _count_all(counted, standing, executor or Here(), keeping, told)
    else:
        with process_pool.local() as processes:
            _count_all(counted, standing, processes, keeping, told)
    clocked = [one for one in standing if one.crossing.attack.channel == "time"]
    seconds = timing.SECONDS / max(1, sum(_parts(one.crossing) for one in clocked))
    for one in clocked:  # now, with nothing beside them
        interrupts.check()
        plan = one.plan
        shown = seconds * _parts(one.crossing)
        one.row = engine_row.examine(one.crossing, seed=plan.seed, runs=plan.runs, alpha=plan.alpha, seconds=shown)
        told(_standings(standing, one))
    share = standing[0].plan.alpha if standing else alpha
    made = tuple(one.row for one in standing if one.row is not None)
    return Report(version("subnormal"), seed, runs, alpha, share, environment(), made)


def planned(met: Sequence[Crossing], *, seed: int, runs: int, alpha: float, until_decided: bool) -> list[Standing]:
    """Return the rows to be examined, each with its runs and its share of α."""
    wanted = [_wanted(crossing, runs) for crossing in met]
    share = alpha / max(1, sum(runs > 0 for runs in wanted))
    return [
        Standing(crossing, Plan(seed, runs, share, until_decided), _portable(crossing))
        for crossing, runs in zip(met, wanted, strict=True)
    ]


def identity(met: Sequence[Crossing], **options: Any) -> dict[str, Any]:
    """Return all that an audit's counts depend on, as JSON, but for the environment."""
    told = [
        {"attack": one.attack.name, "mechanism": one.mechanism.name, "parameters": repr(one.attack.parameters)}
        for one in met
    ]
    return {"version": version("subnormal"), **options, "row": told}


def _wanted(crossing: Crossing, runs: int) -> int:
    try:
        return planned_runs(crossing, runs)
    except Exception:  # worlds that cannot be built: their row will say so
        return 0


def _parts(crossing: Crossing) -> int:
    """Return how many parts of the seconds a timing row takes: more where there is something to be seen."""
    return 2 if crossing.mechanism.name in crossing.attack.breaks else 1


def _count_all(
    counted: Sequence[Standing],
    standing: Sequence[Standing],
    executor: Executor,
    keeping: Keeping | None,
    told: Callable[[Standings], None],
) -> None:
    """Bring the rows to their ends, by whoever does the tasks."""
    here, outstanding = Here(), dict[Future[Any], tuple[Standing, Task, int]]()
    again: list[tuple[Standing, Task, int]] = []  # tasks whose workers died
    begun = spoke = saved = time.monotonic()
    at = None
    try:
        while any(one.row is None for one in counted):
            interrupts.check()
            while len(outstanding) < executor.window:
                given = again.pop() if again else _next_task(counted, 2 * executor.window)
                if given is None:
                    break
                one, (function, arguments), _ = given
                where = executor if one.portable else here
                outstanding[where.submit(function, *arguments)] = given
            for future in wait(outstanding, PATIENCE, FIRST_COMPLETED).done:
                given = outstanding.pop(future)
                if _taken(*given, future):
                    again.append((*given[:2], given[2] + 1))
                at = given[0]
            now = time.monotonic()
            if now - spoke >= PATIENCE:
                spoke = now
                told(_standings(standing, at))
            if keeping is not None and now - saved >= SAVED:
                keeping.save(_kept(standing))
                saved = time.monotonic()
        told(_standings(standing, at))
        if keeping is not None and time.monotonic() - begun >= SAVED:
            keeping.save(_kept(standing))  # the clock's rows and the page are still to come
    except BaseException:
        if keeping is not None:
            keeping.save(_kept(standing))
        raise


def _next_task(counted: Sequence[Standing], parts: int) -> tuple[Standing, Task, int] | None:
    """Return what is to be done next: finish a row, begin one, or count the next batches of the first that has some."""
    open_rows = [one for one in counted if one.row is None and not one.finishing]
    for one in open_rows:
        if one.tally is not None and one.tally.complete:
            one.finishing = True
            return one, (engine_row.finish, (one.crossing, one.plan, one.prepared, one.tally)), 0
    for one in open_rows:
        if not one.begun:
            one.begun = True
            return one, (engine_row.begin, (one.crossing, one.plan, one.stored)), 0
    for one in open_rows:
        if one.prepared is not None and one.tally is not None and (span := one.span(parts)):
            cells = engine_row.cells_of(one.prepared, one.tally)
            return one, (engine_row.count, (one.crossing, one.plan, one.prepared.event, cells, span)), 0
    return None


def _taken(one: Standing, task: Task, deaths: int, future: Future[Any]) -> bool:
    """Take what a task has brought; return whether it has to be done again, because its worker died."""
    function, _ = task
    error = future.exception()
    if isinstance(error, ClusterError):  # nobody is there to do any task
        raise error
    if isinstance(error, BrokenExecutor):
        if deaths + 1 < DEATHS:
            return True
        error = RuntimeError(f"{DEATHS} worker processes died of this row, one after the other")
        one.row = one.row or engine_row.failed(one.crossing, error)
        return False
    if one.row is not None:
        return False
    if error is not None and one.portable:
        one.portable = False  # tasks raise nothing: it did not get there, or back
        return True
    if error is not None:
        one.row = engine_row.failed(one.crossing, error)
    elif function is engine_row.finish:
        one.row = future.result()
    elif function is engine_row.begin:
        one.take_begun(future.result())
    else:
        one.take_found(future.result())
    return False


def _kept(standing: Sequence[Standing]) -> dict[int, Any]:
    """Return the counts of reproducible rows as JSON, by their place."""
    return {
        place: one.stored if one.tally is None else one.tally.to_json()
        for place, one in enumerate(standing)
        if one.crossing.mechanism.seeded and (one.tally is not None or one.stored is not None)
    }


def _standings(standing: Sequence[Standing], at: Standing | None) -> Standings:
    done = sum(one.row is not None for one in standing)
    runs, runs_done = sum(one.plan.runs for one in standing), sum(one.counted for one in standing)
    kept = sum(one.kept for one in standing)
    return Standings(len(standing), done, runs, runs_done, kept, at)


def _portable(crossing: Crossing) -> bool:
    """Return whether another process can be given the crossing: by its names, or because it can be pickled."""
    if catalogue.shows(crossing.attack) and is_member(crossing.mechanism):
        return True
    try:
        pickle.dumps(crossing)
    except Exception:  # whatever its parts raise
        return False
    return True
