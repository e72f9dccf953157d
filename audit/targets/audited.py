"""Audits a target, which is a command or a Python callable, with the attacks of one family."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.process_pool import Here
from subnormal.audit.engine.row_state import RowState
from subnormal.audit.engine.scheduler import AuditProgress, examine_all
from subnormal.audit.model import Report, Row
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor, with_warnings
from subnormal.audit.targets.stated_claim import SEARCH, StatedClaim, search_attacks
from subnormal.audit.targets.target import ANSWER_SECONDS, TIMEOUT, mechanism, opened

SEARCH_RUNS = 20_000  # of each world, at most, to learn inputs and an event on
SEARCH_SHARE = 1 / 2  # of the row's runs, at most
SEARCH_LEAST = 1_000  # fewer runs teach nothing


@dataclasses.dataclass(slots=True)
class TargetProgress:
    """The progress of a target's audit, reported after each request. runs: of each world, for each row."""

    rows: int
    runs: int
    report: Callable[[AuditProgress], None]
    rows_done: int = 0
    runs_done: int = 0  # of both worlds
    at: RowState | None = None

    def add_runs(self, runs: int) -> None:
        """Add the runs of a request."""
        self.runs_done += runs
        self.report(AuditProgress(self.rows, self.rows_done, self.rows * self.runs, self.runs_done // 2, 0, self.at))

    def update_row(self, progress: AuditProgress) -> None:
        """Note the state of the row that is being examined."""
        self.at = progress.at

    def finish(self) -> None:
        """Count a row as finished, and all its runs as done."""
        self.rows_done += 1
        self.runs_done = max(self.runs_done, 2 * self.runs * self.rows_done)


def audit_target(
    target: str | Callable[[Any, dict[str, Any], int], Any],
    attacks: Sequence[AnyAttack],
    *,
    stated: StatedClaim | None = None,
    seed: int = 1,
    runs: int = 100_000,
    alpha: float = 0.05,
    until_decided: bool = False,
    search: bool = False,
    constant_fails: bool = False,
    timeout: float = TIMEOUT,
    progress: Callable[[AuditProgress], None] = lambda progress: None,
    left_out: Callable[[str], None] = lambda reason: None,
    finished: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Return the report of attacks, all of one family, on a target.

    target: a function(data, parameters, runs) that returns `runs` outcomes, or its name as "package.module:function",
    or "cmd: ./program --flags" (docs/protocol.md). stated: the claim that the attacks are made for (see
    `stated_claim.attacks_for_claim`); None: the claim of each attack's parameters. runs: of each world for each row,
    those for learning included. alpha: shared by the rows. search: add a row that searches for inputs and an event, on
    runs that do not judge. constant_fails: see `with_warnings`. timeout: seconds for one answer of a command.
    progress is called after each request, left_out with the reason if the search is left out, and finished after each
    row but the last, with the report so far.

    Raises ValueError for attacks of several families or none, and TargetError if the target cannot be started. A later
    failure is the error of its row.
    """
    families = sorted({attack.family for attack in attacks})
    if len(families) != 1:
        raise ValueError(f"attacks must be of one family, got {', '.join(families) or 'none'}")
    stated, name = (
        stated or StatedClaim(),
        target if isinstance(target, str) else getattr(target, "__name__", repr(target)),
    )
    if search and runs < SEARCH_LEAST:
        left_out(f"{SEARCH}: --runs {runs} are too few to learn on, {SEARCH_LEAST:,} are needed")
    search = search and runs >= SEARCH_LEAST
    monitors = [OutcomeMonitor() for _ in range(len(attacks) + search)]
    counter = TargetProgress(len(monitors), runs, progress)
    with opened(target, timeout) as program:
        *members, training = (
            mechanism(name, families[0], program, stated, monitor, counter.add_runs, min(ANSWER_SECONDS, timeout / 10))
            for monitor in (*monitors, OutcomeMonitor())
        )
        if search:
            learning = min(SEARCH_RUNS, int(SEARCH_SHARE * runs))
            attacks = [*attacks, *search_attacks(training, stated, seed, learning, left_out)]
            members[-1] = dataclasses.replace(members[-1], runs=lambda data, parameters: runs - learning)
        made: list[Row] = []
        for attack, member in zip(attacks, members, strict=False):
            report = examine_all(
                [Crossing(attack, member)],
                seed=seed,
                runs=runs,
                alpha=alpha / len(attacks),
                until_decided=until_decided,
                executor=Here(),
                report_progress=counter.update_row,
            )
            made += report.rows
            rows = with_warnings(made, monitors[: len(made)], attacks[: len(made)], constant_fails=constant_fails)
            unfinished = tuple(one.name for one in attacks[len(made) :])
            report = dataclasses.replace(report, alpha=alpha, rows=rows, unfinished=unfinished)
            if unfinished:
                finished(report)
            counter.finish()
    return report
