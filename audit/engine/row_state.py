"""The state of a row: its next task, and how the result of a task changes it.

This is the only interface of a row to the scheduler, to executors and to checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from subnormal.audit.engine import row as engine_row
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.row import Plan, Preparation, RowStart, SpanCounts, Tally
from subnormal.audit.evidence.batches import Batch
from subnormal.audit.model import Row

SPAN_SECONDS = 0.5  # of counting in one task, about
KINDS = (engine_row.finish, engine_row.begin, engine_row.count)  # of tasks, the most urgent first

Task = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(slots=True, eq=False)
class RowState:
    """The state of a row between its tasks."""

    crossing: Crossing
    plan: Plan
    portable: bool
    stored: dict[str, Any] | None = None
    runs_restored: int = 0  # from an interrupted audit
    begun: bool = False
    finishing: bool = False
    prepared: Preparation | None = None
    tally: Tally | None = None
    seconds: float = 0.0  # for one run of both worlds
    row: Row | None = None
    first_failure: tuple[int, str] | None = None  # the lowest-numbered failed batch so far, with its error
    _remaining: Iterator[Batch] = field(default_factory=lambda: iter(()))

    @property
    def counted(self) -> int:
        """The runs of each world counted so far."""
        return self.plan.runs if self.row is not None else 0 if self.tally is None else self.tally.counted

    def add_start(self, start: RowStart) -> None:
        """Add the result of the first task."""
        self.row, self.prepared, self.tally, self.seconds = start.row, start.prepared, start.tally, start.seconds
        if self.stored is not None:
            self.runs_restored = self.counted
        self._remaining = iter(()) if start.tally is None else start.tally.todo()

    def add_counts(self, counts: SpanCounts) -> None:
        """Add counts. A failed batch is the row's error, unless the claim is decided by the batches before it.

        The row fails only after all batches before the failed one are counted, so its error does not depend on timing.
        """
        if self.tally is None:
            return
        if counts.span:
            self.tally.add(counts.span, counts.counted)
            self.seconds = counts.seconds / sum(size for _, size in counts.span)
        if counts.failed is not None:
            self.first_failure = min(counts.failed, self.first_failure or counts.failed)
        if self.first_failure is not None and not self.tally.complete and self.tally.reached(self.first_failure[0]):
            self.fail(self.first_failure[1])

    def span(self, parts: int) -> list[Batch]:
        """Return the next batches to count: about `SPAN_SECONDS` of them, at most 1/`parts` of the rest."""
        if self.first_failure is not None:
            return []
        left = self.plan.runs - self.counted
        runs = min(SPAN_SECONDS / self.seconds if self.seconds else 1, left / parts)
        if self.plan.until_decided:
            runs = min(runs, self.counted)  # the claim may be decided sooner
        taken, span = 0, []
        for batch in self._remaining:
            span.append(batch)
            taken += batch[1]
            if taken >= runs:
                break
        return span

    def next_task(self, kind: Callable[..., Any], parts: int) -> Task | None:
        """Return the row's next task of a kind, which is one of `KINDS`; None if there is none."""
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

    def add_result(self, result: RowStart | SpanCounts | Row) -> None:
        """Add the result of a task."""
        if isinstance(result, RowStart):
            self.add_start(result)
        elif isinstance(result, SpanCounts):
            self.add_counts(result)
        else:
            self.row = result

    def examine_here(self, seconds: float) -> None:
        """Examine a timing row in this process, for so many seconds."""
        self.add_result(engine_row.begin(self.crossing, replace(self.plan, seconds=seconds)))

    def fail(self, error: BaseException | str) -> None:
        """Replace the row by an error."""
        self.row = engine_row.error_row(self.crossing, error)

    def to_json(self) -> Any:
        """Return the counts so far, for a checkpoint; None if there are none, or if they cannot be reproduced."""
        if not self.crossing.mechanism.seeded:
            return None
        return self.stored if self.tally is None else self.tally.to_json()
