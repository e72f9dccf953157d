"""All rows of a report: their tasks, handed to an executor in whatever order they are finished.

The module `standing` says what a row needs done next and what it makes of the result. Counts are added up, and sums do
not depend on their order: the report is the same for any assignment of tasks to workers, however many
there were, and whether some of them died. Claims that are being decided are looked at batch after batch, in order.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from subnormal.attacks import catalogue
from subnormal.audit import interrupts
from subnormal.audit.engine import process_pool
from subnormal.audit.engine.dask_workers import ClusterError
from subnormal.audit.engine.fingerprint import environment
from subnormal.audit.engine.pairs import Crossing, planned_runs
from subnormal.audit.engine.process_pool import Executor, Here
from subnormal.audit.engine.row import Plan
from subnormal.audit.engine.standing import KINDS, Standing, Task
from subnormal.audit.evidence import timing
from subnormal.audit.model import Report
from subnormal.mechanisms.families import is_member

PATIENCE = 0.1  # seconds after which somebody who watches hears again
SAVED = 1.0  # seconds between checkpoints
DEATHS = 3  # workers that a task may cost before its row is given up


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
        one.examine_here(seconds * _parts(one.crossing))
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
    """Return everything that an audit's counts depend on, except for the environment, as JSON."""
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
    """Finish the rows; the executor does the tasks."""
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
                if _taken(given[0], given[2], future):
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
    for kind in KINDS:
        for one in counted:
            if (task := one.next_task(kind, parts)) is not None:
                return one, task, 0
    return None


def _taken(one: Standing, deaths: int, future: Future[Any]) -> bool:
    """Take what a task has brought; return whether it has to be done again, because its worker died."""
    error = future.exception()
    if isinstance(error, ClusterError):  # nobody is there to do any task
        raise error
    if isinstance(error, BrokenExecutor):
        if deaths + 1 < DEATHS:
            return True
        error = RuntimeError(f"{DEATHS} worker processes died of this row, one after the other")
        if one.row is None:
            one.fail(error)
        return False
    if one.row is not None:
        return False
    if error is not None and one.portable:
        one.portable = False  # tasks raise nothing: it did not get there, or back
        return True
    if error is not None:
        one.fail(error)
    else:
        one.take(future.result())
    return False


def _kept(standing: Sequence[Standing]) -> dict[int, Any]:
    """Return the counts of reproducible rows as JSON, by their place."""
    counts = ((place, one.to_json()) for place, one in enumerate(standing))
    return {place: found for place, found in counts if found is not None}


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
