"""Schedules the tasks of all rows of a report on an executor.

The module `row_state` says which task a row needs next, and adds the result to the row. Counts are sums, and sums do
not depend on their order: the report is the same for any assignment of tasks to workers, for any number of workers, and
if some of them die. A sequential test looks at its batches in their order.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from subnormal.attacks import catalogue
from subnormal.audit import interrupts
from subnormal.audit.engine import process_pool, provenance
from subnormal.audit.engine.fingerprint import environment
from subnormal.audit.engine.pairs import Crossing, planned_runs
from subnormal.audit.engine.process_pool import Executor, Here
from subnormal.audit.engine.row import Plan
from subnormal.audit.engine.row_state import KINDS, RowState, Task
from subnormal.audit.evidence import timing
from subnormal.audit.model import Report
from subnormal.audit.values.reference import constant
from subnormal.mechanisms.families import is_member

REPORT_INTERVAL = 0.1  # seconds between two reports of progress
SAVE_INTERVAL = 1.0  # seconds between two checkpoints
DEATHS_MAX = 3  # a task is an error of its row if its worker died this many times; all but the first time it was alone

Given: TypeAlias = tuple[RowState, Task, int]  # a task of a row, and how often its worker died


@dataclass(frozen=True, slots=True)
class AuditProgress:
    """The progress of an audit. runs_kept: runs restored from a checkpoint; at: the row that was counted last."""

    rows: int
    rows_done: int
    runs: int
    runs_done: int
    runs_restored: int
    at: RowState | None


@dataclass(frozen=True, slots=True)
class CountStore:
    """The store of an audit's counts. stored: those of an interrupted audit, by row; save: writes the current ones."""

    stored: Mapping[int, Any]
    save: Callable[[Mapping[int, Any]], None]


def examine_all(
    crossings: Sequence[Crossing],
    *,
    seed: int,
    runs: int,
    alpha: float,
    until_decided: bool = False,
    executor: Executor | None = None,
    store: CountStore | None = None,
    report_progress: Callable[[AuditProgress], None] = lambda progress: None,
) -> Report:
    """Return the report of these crossings, α shared equally by the rows that are sampled.

    executor: runs the tasks; None: one process for each core. Tasks that cannot be pickled run in this process. Timing
    rows come last, one at a time, in this process. report_progress is called about ten times a second. The report
    depends neither on the executor nor on the counts restored from the store.
    """
    states = row_states(crossings, seed=seed, runs=runs, alpha=alpha, until_decided=until_decided)
    for place, stored in ({} if store is None else store.stored).items():
        states[place].stored = stored
    counted_rows = [one for one in states if one.crossing.attack.channel != "time"]
    if executor is not None or len(counted_rows) < 2:
        _count_all(counted_rows, states, executor or Here(), store, report_progress)
    else:
        with process_pool.local() as processes:
            _count_all(counted_rows, states, processes, store, report_progress)
    timing_rows = [one for one in states if one.crossing.attack.channel == "time"]
    seconds = timing.SECONDS / max(1, sum(_parts(one.crossing) for one in timing_rows))
    for one in timing_rows:  # last, while nothing else runs
        interrupts.check()
        one.examine_here(seconds * _parts(one.crossing))
        report_progress(_progress(states, one))
    share = states[0].plan.alpha if states else alpha
    made = tuple(one.row for one in states if one.row is not None)
    made_with = environment()
    return Report(version("subnormal"), seed, runs, alpha, share, made_with, made, commit=provenance.commit())


def row_states(
    crossings: Sequence[Crossing], *, seed: int, runs: int, alpha: float, until_decided: bool
) -> list[RowState]:
    """Return the state of each row before it begins, with its runs and its share of α."""
    runs_by_row = [_planned_runs(crossing, runs) for crossing in crossings]
    share = alpha / max(1, sum(runs > 0 for runs in runs_by_row))
    return [
        RowState(crossing, Plan(seed, runs, share, until_decided), _portable(crossing))
        for crossing, runs in zip(crossings, runs_by_row, strict=True)
    ]


def identity(crossings: Sequence[Crossing], **options: Any) -> dict[str, Any]:
    """Return as JSON everything that an audit's counts depend on, except for the environment."""
    rows = [
        {"attack": one.attack.name, "mechanism": one.mechanism.name, "parameters": repr(one.attack.parameters)}
        | _sources(one)
        for one in crossings
    ]
    return {"version": version("subnormal"), **options, "row": rows}


def _sources(crossing: Crossing) -> dict[str, str]:
    """Return digests of the modules that hold an attack and a mechanism of the user."""
    own = {"attack": crossing.attack, "mechanism": crossing.mechanism}
    if catalogue.shows(crossing.attack):
        del own["attack"]
    if is_member(crossing.mechanism):
        del own["mechanism"]
    places = {kind: place for kind, one in own.items() if (place := constant(one)) is not None}
    files = {kind: getattr(sys.modules[place.partition(":")[0]], "__file__", None) for kind, place in places.items()}
    return {
        f"source of the {kind}": blake2b(Path(file).read_bytes(), digest_size=8).hexdigest()
        for kind, file in files.items()
        if file is not None
    }


def _planned_runs(crossing: Crossing, runs: int) -> int:
    try:
        return planned_runs(crossing, runs)
    except Exception:  # the worlds cannot be built; the row reports the error
        return 0


def _parts(crossing: Crossing) -> int:
    """Return the weight of a timing row's share of the seconds: more where the attack should break the member."""
    return 6 if crossing.mechanism.name in crossing.attack.breaks else 1


def _count_all(
    counted_rows: Sequence[RowState],
    states: Sequence[RowState],
    executor: Executor,
    store: CountStore | None,
    report_progress: Callable[[AuditProgress], None],
) -> None:
    """Finish the rows, with their tasks on the executor."""
    here, outstanding = Here(), dict[Future[Any], Given]()
    again: list[Given] = []  # tasks whose workers died or left
    begun = spoke = saved = time.monotonic()
    at = None
    try:
        while any(one.row is None for one in counted_rows):
            interrupts.check()
            window = executor.window
            while len(outstanding) < (1 if any(deaths for *_, deaths in (*again, *outstanding.values())) else window):
                given = again.pop() if again else _next_task(counted_rows, 2 * window)
                if given is None:
                    break
                one, (function, arguments), _ = given
                where = executor if one.portable else here
                outstanding[where.submit(function, *arguments)] = given
            for future in wait(outstanding, REPORT_INTERVAL, FIRST_COMPLETED).done:
                given = outstanding.pop(future)
                again += _add_result(*given, future, executor.worker_errors)
                at = given[0]
            now = time.monotonic()
            if now - spoke >= REPORT_INTERVAL:
                spoke = now
                report_progress(_progress(states, at))
            if store is not None and now - saved >= SAVE_INTERVAL:
                store.save(_stored_counts(states))
                saved = time.monotonic()
        report_progress(_progress(states, at))
        if store is not None and time.monotonic() - begun >= SAVE_INTERVAL:
            store.save(_stored_counts(states))  # the timing rows and the page still take time
    except BaseException:
        if store is not None:
            store.save(_stored_counts(states))
        raise


def _next_task(counted_rows: Sequence[RowState], parts: int) -> Given | None:
    """Return the next task: finish a row, begin one, or count batches of the first row that has some left."""
    for kind in KINDS:
        for one in counted_rows:
            if (task := one.next_task(kind, parts)) is not None:
                return one, task, 0
    return None


def _add_result(
    one: RowState, task: Task, deaths: int, future: Future[Any], worker_errors: tuple[type[Exception], ...]
) -> list[Given]:
    """Add the result of a task to its row. Return the task if it must be repeated."""
    if one.row is not None:
        return []
    error = None if future.cancelled() else future.exception()
    if future.cancelled() or isinstance(error, worker_errors):  # its workers left, or died
        if deaths + 1 < DEATHS_MAX:
            return [(one, task, deaths + 1)]
        one.fail(RuntimeError(f"{DEATHS_MAX} worker processes died of this row, one after the other"))
    elif error is not None and one.portable:
        one.portable = False  # tasks do not raise: the task or its result could not be sent
        return [(one, task, deaths)]
    elif error is not None:
        one.fail(error)
    else:
        one.add_result(future.result())
    return []


def _stored_counts(states: Sequence[RowState]) -> dict[int, Any]:
    """Return the counts of reproducible rows as JSON, by their place."""
    counts = ((place, one.to_json()) for place, one in enumerate(states))
    return {place: found for place, found in counts if found is not None}


def _progress(states: Sequence[RowState], at: RowState | None) -> AuditProgress:
    done = sum(one.row is not None for one in states)
    runs, runs_done = sum(one.plan.runs for one in states), sum(one.counted for one in states)
    runs_restored = sum(one.runs_restored for one in states)
    return AuditProgress(len(states), done, runs, runs_done, runs_restored, at)


def _portable(crossing: Crossing) -> bool:
    """Return whether the crossing can be sent to another process: by its names, or pickled."""
    if catalogue.shows(crossing.attack) and is_member(crossing.mechanism):
        return True
    try:
        pickle.dumps(crossing)
    except Exception:  # whatever its parts raise
        return False
    return True
