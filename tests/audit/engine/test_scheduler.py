"""The same report whoever counts which batch, in whatever order, and whoever dies of it."""

import dataclasses
import os
import pickle
import platform
import random
import resource
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest

from subnormal.attacks import catalogue
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine import process_pool
from subnormal.audit.engine import row as engine_row
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.process_pool import Here
from subnormal.audit.engine.row import Plan
from subnormal.audit.engine.row_state import RowState
from subnormal.audit.engine.scheduler import DEATHS_MAX, AuditProgress, CountStore, examine_all
from subnormal.audit.evidence import batches
from subnormal.audit.evidence.batches import BatchTotals
from subnormal.audit.evidence.sequential import SequentialTest
from subnormal.audit.model import Report, Verdict
from subnormal.audit.report.to_json import to_json
from subnormal.audit.statistics.e_process import PairCounts
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.families import member

NAMES = ("exponential-naive-float64", "exponential-exact", "exponential-exact-base-e")
MET = [Crossing(zero_rounding(outcomes=10), member(name)) for name in NAMES]
UNNAMED = dataclasses.replace(zero_rounding(), name="unnamed", event=None)
BATCHES = 11  # of a row; an odd number, so that spans do not come out even
UNNAMED_BATCHES = 9  # of the row whose event is learned on a quarter of its runs


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH", 200)


def report(executor: process_pool.Executor, *, until_decided: bool = False, **options: Any) -> Report:
    crossings = [*MET, Crossing(UNNAMED, member(NAMES[1]))]
    runs = 200 * BATCHES - 7
    return examine_all(
        crossings, seed=3, runs=runs, alpha=0.05, until_decided=until_decided, executor=executor, **options
    )


class Disorder:
    """Does tasks one after the other, but whichever comes to mind first; `failures` of them die before they begin."""

    worker_errors = (BrokenProcessPool,)

    def __init__(self, window: int, failures: int = 0) -> None:
        self.window = window
        self._random, self._failures = random.Random(window), failures
        self._waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._change = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._change:
            self._waiting.append((future, function, pickle.loads(pickle.dumps(arguments))))
            self._change.notify()
        return future

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting)
            time.sleep(0.001)  # so that there is a choice
            with self._change:
                future, function, arguments = self._waiting.pop(self._random.randrange(len(self._waiting)))
            if self._failures and self._random.random() < 0.3:
                self._failures -= 1
                if self._failures % 2:
                    future.set_exception(BrokenProcessPool("died"))
                else:  # as where the last worker of a cluster has left
                    future.cancel()
                    future.set_running_or_notify_cancel()
            else:
                try:
                    future.set_result(function(*arguments))
                except Exception as error:
                    future.set_exception(error)


@pytest.fixture(scope="module", params=[False, True], ids=["fixed", "until decided"])
def in_turn(request: pytest.FixtureRequest) -> tuple[bool, Report]:
    """Whether rows run until they are decided, and the report of tasks that are done in turn."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "BATCH", 200)
        return request.param, report(Here(), until_decided=request.param)


@pytest.mark.parametrize(("window", "failures"), [(2, 0), (9, 0), (4, 2)])
def test_the_order_of_tasks_does_not_matter(window: int, failures: int, in_turn: tuple[bool, Report]) -> None:
    until_decided, expected = in_turn
    assert [row.error for row in expected.rows] == [None] * 4
    assert to_json(report(Disorder(window, failures), until_decided=until_decided)) == to_json(expected)
    kinds = [(row.sampled is None, row.sequential is None) for row in expected.rows]
    assert kinds == [(until_decided, not until_decided)] * 4


def test_decided_rows_stop_although_others_go_on() -> None:
    made = report(Disorder(5), until_decided=True).rows
    spent = [row.sequential.runs for row in made if row.sequential is not None]
    assert spent[0] < 300 < 200 * BATCHES - 7 == spent[1] == spent[2]
    verdicts = [row.sequential.verdict for row in made if row.sequential is not None]
    assert verdicts[:3] == [Verdict.VIOLATED, Verdict.NOT_REFUTED, Verdict.NOT_REFUTED]


class Stopping(Here):
    """Does so many tasks, and is then interrupted."""

    def __init__(self, tasks: int) -> None:
        self._left, self.spans = tasks, list[list[tuple[int, int]]]()

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        if function.__name__ == "count":
            self.spans.append(arguments[-1])
        return super().submit(function, *arguments)


@pytest.mark.parametrize("tasks", [0, 1, 3, 7, 11])
def test_an_interrupted_audit_goes_on_from_what_was_kept(tasks: int, in_turn: tuple[bool, Report]) -> None:
    until_decided, expected = in_turn
    kept: list[Any] = [{}]
    with pytest.raises(KeyboardInterrupt):
        report(Stopping(tasks), until_decided=until_decided, store=CountStore({}, kept.append))
    assert bool(kept[-1]) == (tasks > 0)
    again = report(Here(), until_decided=until_decided, store=CountStore(kept[-1], kept.append))
    assert to_json(again) == to_json(expected)


def test_what_was_kept_is_not_counted_again() -> None:
    whole: list[Any] = []
    report(Stopping(10_000), store=CountStore({}, whole.append))
    with pytest.raises(KeyboardInterrupt):
        report(Stopping(9), store=CountStore({}, whole.append))
    kept = whole[-1]
    done = {
        place: {number for first, last in row["batches"] for number in range(first, last + 1)}
        for place, row in kept.items()
    }
    going_on, heard = Stopping(10_000), list[AuditProgress]()
    report(going_on, store=CountStore(kept, whole.append), report_progress=heard.append)
    assert sum(map(len, done.values())) + sum(map(len, going_on.spans)) == 3 * BATCHES + UNNAMED_BATCHES
    sizes = [200] * (BATCHES - 1) + [193]
    assert heard[-1].runs_restored == sum(sizes[number] for numbers in done.values() for number in numbers)


def test_what_was_kept_stays_kept_until_its_row_begins_again() -> None:
    stored = {place: {"batches": [[0, 0]], "place": place} for place in range(4)}
    kept: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        report(Stopping(0), store=CountStore(stored, kept.append))
    assert kept == [stored]


def test_counts_of_another_row_are_refused() -> None:
    sums = BatchTotals(1_000, 3)
    sums.add([(1, 200)], (batches.Counts(5, np.array([100, 50, 50])), batches.Counts(6, np.array([0, 0, 200]))))
    again = BatchTotals(1_000, 3)
    again.restore(sums.to_json())
    assert (again.to_json(), again.counted, list(again.todo())) == (
        sums.to_json(),
        200,
        [(0, 200), (2, 200), (3, 200), (4, 200)],
    )
    for other in (BatchTotals(1_000, 4), BatchTotals(300, 3)):
        with pytest.raises(ValueError, match=r"not of this row|broadcast"):
            other.restore(sums.to_json())
    claim = member(NAMES[1]).claim(zero_rounding().parameters, None, None)
    looks = SequentialTest(claim, zero_rounding(), 0.05, (500, 0, 200))
    with pytest.raises(ValueError, match="not of this row"):
        looks.restore({"pairs": [[1, 2, 3, 4]]})


def test_members_whose_randomness_is_their_own_are_not_kept() -> None:
    unseeded = dataclasses.replace(member(NAMES[1]), seeded=False)
    kept: list[Any] = [{}]
    options: dict[str, Any] = {"seed": 1, "runs": 1_000, "alpha": 0.05, "store": CountStore({}, kept.append)}
    examine_all([Crossing(zero_rounding(), unseeded)], **options, executor=Here())
    with pytest.raises(KeyboardInterrupt):
        examine_all([Crossing(zero_rounding(), unseeded), MET[1]], **options, executor=Stopping(3))
    assert list(kept[-1]) == [1]


def test_somebody_who_watches_sees_the_runs_grow() -> None:
    told: list[AuditProgress] = []
    report(Disorder(3), report_progress=told.append)
    assert told[-1].runs_done == told[-1].runs == 4 * (200 * BATCHES - 7)
    assert told[-1].rows_done == told[-1].rows == 4
    done = [one.runs_done for one in told]
    assert done == sorted(done)


def lethal(data: Any, parameters: Any, bits: BitSource, n: int) -> Any:
    os._exit(1)


def promise(parameters: Any, data_in: Any, data_out: Any) -> Any:
    return member(NAMES[1]).claim(parameters, data_in, data_out)


class OddError(Exception):
    """Comes back from no other process: what it is made of is not what it is made from."""

    def __init__(self, one: str, other: int) -> None:
        super().__init__(f"{one} {other}")


def moody(data: Any, parameters: Any, bits: BitSource, n: int) -> Any:
    outcomes = member(NAMES[1]).sample(data, parameters, bits, n)
    if (told := int(np.sum(outcomes[:50]))) % 5 == 0:
        raise OddError("no luck with", told)
    return outcomes


@pytest.mark.parametrize("until_decided", [False, True])
@pytest.mark.parametrize("runs", [200, 201, 200 * 40])
def test_of_batches_that_fail_the_first_is_the_error_whoever_comes_first(runs: int, until_decided: bool) -> None:
    mechanism: Mechanism[Any, Any, Any] = Mechanism("moody", "exponential", moody, promise)
    crossings = [Crossing(zero_rounding(), mechanism), MET[0]]
    for seed in range(2):
        options: dict[str, Any] = {"seed": seed, "runs": runs, "alpha": 0.05, "until_decided": until_decided}
        made = [examine_all(crossings, **options, executor=executor) for executor in (Here(), Disorder(2), Disorder(9))]
        alone = engine_row.examine(crossings[0], **(options | {"alpha": made[0].alpha_per_row}))
        assert made[0].rows[0].error == alone.error
        assert {to_json(one) for one in made} == {to_json(made[0])}
        assert runs < 8_000 or "no luck with" in str(alone.error)
        assert made[0].rows[1].error is None


def test_a_failure_behind_the_decision_is_none() -> None:
    """Batches are handed out before it is known whether they are needed."""
    crossing, plan = MET[0], Plan(3, 2_193, 0.05, True)
    one: Any = RowState(crossing, plan, True)
    one.add_start(engine_row.begin(Crossing(MET[1].attack, MET[1].mechanism), plan))
    assert isinstance(one.tally, SequentialTest)
    (first, size), (second, _), (third, _) = list(one.tally.todo())[:3]
    one.add_counts(engine_row.SpanCounts([], None, 0.0, (third, "late")))
    one.add_counts(engine_row.SpanCounts([], None, 0.0, (second, "early")))
    assert (one.row, one.span(1)) == (None, [])
    one.add_counts(engine_row.SpanCounts([], None, 0.0, (third, "late again")))
    one.add_counts(engine_row.SpanCounts([(first, size)], [PairCounts(size, 0, 0, 0)], 0.1))
    assert one.row.error == "early"


def test_what_a_process_cannot_import_is_done_here(two_processes: process_pool.Executor) -> None:
    """A class of a notebook can be pickled, and is found nowhere else."""
    there = types.ModuleType("nowhere_else")
    exec(
        "from subnormal.mechanisms.families import member\n"
        "def sample(*given):\n    return member('exponential-exact').sample(*given)",
        there.__dict__,
    )
    sys.modules[there.__name__] = there
    try:
        mechanism: Mechanism[Any, Any, Any] = Mechanism("homely", "exponential", vars(there)["sample"], promise)
        crossings = [Crossing(zero_rounding(), mechanism), *MET[:1]]
        assert b"nowhere_else" in pickle.dumps(crossings[0])
        found = examine_all(crossings, seed=1, runs=500, alpha=0.05, executor=two_processes).rows
    finally:
        del sys.modules[there.__name__]
    assert [row.error for row in found] == [None, None]


@pytest.fixture(scope="module")
def two_processes() -> Iterator[process_pool.Executor]:
    with process_pool.local(2) as processes:
        yield processes


def test_a_row_that_kills_its_workers_is_an_error_and_no_other_row_notices(
    two_processes: process_pool.Executor,
) -> None:
    deadly: Mechanism[Any, Any, Any] = Mechanism("deadly", "exponential", lethal, promise)
    crossings = [Crossing(zero_rounding(), deadly), *MET[:2]]
    made = examine_all(crossings, seed=1, runs=500, alpha=0.05, executor=two_processes).rows
    assert made[0].error == f"RuntimeError: {DEATHS_MAX} worker processes died of this row, one after the other"
    assert [row.error for row in made[1:]] == [None, None]


class Together:
    """Does the tasks of a moment at once: of a deadly one all of them die."""

    window, worker_errors = 3, (BrokenProcessPool,)

    def __init__(self) -> None:
        self._waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._timer = threading.Timer(0, print)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        self._timer.cancel()
        self._waiting.append((Future(), function, arguments))
        self._timer = threading.Timer(0.05, self._work)
        self._timer.start()
        return self._waiting[-1][0]

    def _work(self) -> None:
        tasks, self._waiting = self._waiting, []
        deadly = any(arguments[0].mechanism.name == "deadly" for _, _, arguments in tasks)
        for future, function, arguments in tasks:
            if deadly:
                future.set_exception(BrokenProcessPool("died"))
            else:
                future.set_result(function(*arguments))


def test_rows_that_die_with_another_one_are_tried_alone() -> None:
    deadly: Mechanism[Any, Any, Any] = Mechanism("deadly", "exponential", lethal, promise)
    crossings = [MET[0], Crossing(zero_rounding(), deadly), *MET[1:]]
    made = examine_all(crossings, seed=1, runs=500, alpha=0.05, executor=Together()).rows
    assert [row.error is None for row in made] == [True, False, True, True]


def test_processes_make_the_same_report_as_this_one(
    two_processes: process_pool.Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the processes have batches of the usual size
    options: dict[str, Any] = {"seed": 2, "runs": 270_000, "alpha": 0.05}
    made = [examine_all(MET, **options, executor=executor) for executor in (Here(), two_processes)]
    assert to_json(made[0]) == to_json(made[1])
    assert made[0].rows[1].sampled is not None


def test_a_crossing_of_the_house_goes_to_another_process_by_its_names() -> None:
    crossing = Crossing(zero_rounding(), member(NAMES[0]))
    there = pickle.loads(pickle.dumps(crossing))
    assert there.mechanism is crossing.mechanism
    assert (there.attack.name, there.attack.parameters) == (crossing.attack.name, crossing.attack.parameters)
    assert len(pickle.dumps(Crossing(catalogue.attacks()[0], member(NAMES[0])))) < 200


SIX_BITS: Any = seeded_bits(1).words(20_000, 6).astype(np.int64)


@pytest.mark.parametrize(
    "drawn",
    [
        *((SIX_BITS + least).astype(kind) for kind in (np.int64, np.int8, np.int16) for least in (0, -100, 5)),
        np.repeat(np.array([-128, 0, 127], dtype=np.int8), 10_000),  # whose range overflows its type
    ],
)
def test_counting_first_and_asking_then_tells_the_same(drawn: Any) -> None:
    values, times = batches.distinct_counts(drawn)
    assert times is not None
    assert isinstance(values, np.ndarray)
    assert values.dtype == drawn.dtype
    assert (np.sort(np.repeat(values, times)) == np.sort(drawn)).all()
    assert len(values) == len(set(drawn.tolist()))


@pytest.mark.parametrize(
    "outcomes",
    [
        np.array([0, batches.SMALL_RANGE] * 10_000),
        np.array([-(2**63), 2**63 - 1] * 10_000),
        np.array([0.0, 1.0] * 10_000),
        np.array([0, 1] * 10_000, dtype=np.uint64),
        [float(at // 2) for at in range(20_000)],
        np.zeros((0,), dtype=np.int64),
        np.zeros((20_000, 2), dtype=np.int64),
    ],
    ids=["wide", "extreme", "floats", "unsigned", "list", "empty", "tuples"],
)
def test_outcomes_that_cannot_be_counted_first_stay_as_they_are(outcomes: Any) -> None:
    seen, times = batches.distinct_counts(outcomes)
    assert seen is outcomes
    assert times is None


def test_objects_that_recur_are_counted_first_and_told_apart_by_what_they_are() -> None:
    kinds: list[Any] = [1, 1.0, True, 0.0, -0.0, (1,), (1.0,), Refused("no")]
    drawn = [kinds[word] for word in seeded_bits(1).words(20_000, 3).tolist()]
    seen, times = batches.distinct_counts(drawn)
    assert times is not None
    counted = {id(kind): count for kind, count in zip(seen, times.tolist(), strict=True)}
    assert counted == Counter(map(id, drawn))


def faults_of_an_array(megabytes: int) -> int:
    """For a worker to run: the pages that the kernel maps for an array like one that has gone."""
    ones = [np.ones(megabytes << 20, dtype=np.int8)]
    ones.clear()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert np.ones(megabytes << 20, dtype=np.int8).all()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library is asked to")
def test_workers_keep_the_memory_of_arrays_that_are_gone(two_processes: process_pool.Executor) -> None:
    assert two_processes.submit(faults_of_an_array, 256).result(60) < 64  # of 65,536 pages, or 128 huge ones
