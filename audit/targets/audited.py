"""An audit of somebody else's mechanism: a command or a Python callable, under the attacks of a family."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from subnormal.attacks.core.attack import Attack
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.process_pool import Here
from subnormal.audit.engine.scheduler import Standings, examine_all
from subnormal.audit.engine.standing import Standing
from subnormal.audit.model import Report, Row
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor, with_warnings
from subnormal.audit.targets.stated_claim import SEARCH, Stated, searched
from subnormal.audit.targets.target import ANSWERED, TIMEOUT, mechanism, opened

SEARCHING = 20_000  # runs of each world that it learns on, at the most
SEARCH_SHARE = 1 / 2  # of its runs, at the most
SEARCH_LEAST = 1_000  # runs below which it would learn nothing

AnyAttack = Attack[Any, Any, Any]


@dataclasses.dataclass(slots=True)
class Asked:
    """How far the audit of a target is, told after each request. runs: of each world, for each of the rows."""

    rows: int
    runs: int
    told: Callable[[Standings], None]
    rows_done: int = 0
    runs_done: int = 0  # of both worlds
    at: Standing | None = None

    def answered(self, runs: int) -> None:
        """Add the runs of a request."""
        self.runs_done += runs
        self.told(Standings(self.rows, self.rows_done, self.rows * self.runs, self.runs_done // 2, 0, self.at))

    def stands(self, standings: Standings) -> None:
        """Note how the row stands that is being examined."""
        self.at = standings.at

    def finish(self) -> None:
        """Note that a row is finished, with however few runs."""
        self.rows_done += 1
        self.runs_done = max(self.runs_done, 2 * self.runs * self.rows_done)


def audited(
    target: str | Callable[[Any, dict[str, Any], int], Any],
    attacks: Sequence[AnyAttack],
    *,
    stated: Stated | None = None,
    seed: int = 1,
    runs: int = 100_000,
    alpha: float = 0.05,
    until_decided: bool = False,
    search: bool = False,
    constant_fails: bool = False,
    timeout: float = TIMEOUT,
    progress: Callable[[Standings], None] = lambda standings: None,
    left_out: Callable[[str], None] = lambda told: None,
    finished: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Return the report of attacks, all of one family, on somebody else's mechanism.

    target: a function(data, parameters, runs) that returns `runs` outcomes, or the name of one,
    "package.module:function", or "cmd: ./program --flags" (docs/protocol.md). stated: the claim, for which the attacks
    are made (see `stated_claim.fitting`); None: what the parameters of each attack promise. runs: of each world for
    each row, whatever they are for. alpha is shared by the rows. search: also look for inputs and an event of its own,
    on runs that judge nothing. constant_fails: see `with_warnings`. timeout: seconds that a command has for one answer.
    progress is called after each request, left_out with why the search was not made, finished with the rows so far
    after each row but the last.

    Raises ValueError for attacks of several families or none, TargetError where the target cannot be started; what goes
    wrong later is its row's error.
    """
    families = sorted({attack.family for attack in attacks})
    if len(families) != 1:
        raise ValueError(f"attacks must be of one family, got {', '.join(families) or 'none'}")
    stated, name = stated or Stated(), target if isinstance(target, str) else getattr(target, "__name__", repr(target))
    if search and runs < SEARCH_LEAST:
        left_out(f"{SEARCH}: --runs {runs} are too few to learn on, {SEARCH_LEAST:,} are needed")
    search = search and runs >= SEARCH_LEAST
    watches = [OutcomeMonitor() for _ in range(len(attacks) + search)]
    asked = Asked(len(watches), runs, progress)
    with opened(target, timeout) as program:
        *members, training = (
            mechanism(name, families[0], program, stated, watch, asked.answered, min(ANSWERED, timeout / 10))
            for watch in (*watches, OutcomeMonitor())
        )
        if search:
            learning = min(SEARCHING, int(SEARCH_SHARE * runs))
            attacks = [*attacks, *searched(training, stated, seed, learning, left_out)]
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
                told=asked.stands,
            )
            made += report.rows
            rows = with_warnings(made, watches[: len(made)], attacks[: len(made)], constant_fails=constant_fails)
            left = tuple(one.name for one in attacks[len(made) :])
            report = dataclasses.replace(report, alpha=alpha, rows=rows, unfinished=left)
            if left:
                finished(report)
            asked.finish()
    return report
