"""Where a row stands on its way, what it needs done next, and what it makes of the result: all that scheduling, pools,
clusters and checkpoints see of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from subnormal.audit.engine import row as engine_row
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import Begun, Found, Plan, Prepared, Tally
from subnormal.audit.evidence.batches import Batch
from subnormal.audit.model import Row

SPAN = 0.5  # seconds of counting that one task is to take
KINDS = (engine_row.finish, engine_row.begin, engine_row.count)  # of tasks, the most urgent first

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
        if found.span:
            self.tally.add(found.span, found.counted)
            self.seconds = found.seconds / sum(size for _, size in found.span)
        if found.failed is not None:
            self.stumbled = min(found.failed, self.stumbled or found.failed)
        if self.stumbled is not None and not self.tally.complete and self.tally.reached(self.stumbled[0]):
            self.fail(self.stumbled[1])

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

    def next_task(self, kind: Callable[..., Any], parts: int) -> Task | None:
        """Return the row's task of a kind, one of `KINDS`, where it has one to be done."""
        prepared, tally = self.prepared, self.tally
        if self.row is not None or self.finishing:
            return None
        if kind is engine_row.begin and not self.begun:
            self.begun = True
            return engine_row.begin, (self.crossing, self.plan, self.stored)
        if prepared is None or tally is None:
            return None
        if kind is engine_row.finish and tally.complete:
            self.finishing = True
            return engine_row.finish, (self.crossing, self.plan, prepared, tally)
        if kind is engine_row.count and not tally.complete and (span := self.span(parts)):
            return engine_row.count, (self.crossing, self.plan, prepared.event, prepared.edges, span)
        return None

    def take(self, result: Begun | Found | Row) -> None:
        """Take what a task has returned."""
        if isinstance(result, Begun):
            self.take_begun(result)
        elif isinstance(result, Found):
            self.take_found(result)
        else:
            self.row = result

    def examine_here(self, seconds: float) -> None:
        """Examine a row that the clock decides, in so many seconds."""
        self.take(engine_row.begin(self.crossing, replace(self.plan, seconds=seconds)))

    def fail(self, error: BaseException | str) -> None:
        """Make an error the row."""
        self.row = engine_row.failed(self.crossing, error)

    def to_json(self) -> Any:
        """Return the counts so far, which a later audit goes on from; None where there are none to keep."""
        if not self.crossing.mechanism.seeded:
            return None
        return self.stored if self.tally is None else self.tally.to_json()
