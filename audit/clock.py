"""The clock of a check: the machine's, or one that counts work and shows the same on every machine, under any load."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from subnormal.mechanisms.privacy import require_positive

SECONDS = 60.0  # of a check that is given neither seconds nor examples
PAIR = 0.05  # counted seconds of a pair that is tried, with its runs: about what the machine's clock shows
DRAW = 0.002  # of a pair that is drawn, whether it was tried before or not
JUDGING = 8.0  # for all runs after the searches: those that judge take a second for each input
RUNS = 100_000  # runs of each input that judge the claim, where their number is not given
SEARCHING = 1 / 2  # of the time of a check: its searches draw new pairs so long, about


@dataclass(slots=True, eq=False)
class Clock:
    """Shows seconds of the machine; or, where it `counts`, of work that is counted as it is done.

    a_run: counted seconds of one run of the function. stop: on the machine's clock; from then on, counted work is at
    its `end`.
    """

    counts: bool = False
    a_run: float = 0.0
    stop: float = math.inf
    end: float = math.inf
    _counted: float = 0.0

    def now(self) -> float:
        """Return the time in seconds."""
        if not self.counts:
            return time.monotonic()
        return max(self._counted, self.end) if self.is_stopped() else self._counted

    def is_stopped(self) -> bool:
        """Return whether the machine's time is over."""
        return self.stop < math.inf and time.monotonic() >= self.stop

    def spend(self, seconds: float) -> None:
        """Count work. The machine's clock counts by itself."""
        self._counted += seconds

    @contextmanager
    def pair(self, share: float) -> Iterator[None]:
        """Let what is done meanwhile count as this share of a pair, however many runs that takes."""
        before = self._counted
        try:
            yield
        finally:
            self._counted = before + share * PAIR


MACHINE = Clock()


def clock_of(examples: int | None, runs: int | None, seconds: float | None) -> tuple[Clock, float]:
    """Return the clock of a check, and the seconds on it that the shares of its searches are of.

    examples: pairs to try; None: the machine's clock decides. runs: of each input that judge. seconds: of the machine;
    None: `SECONDS`, or without end where examples are counted. Raises TypeError or ValueError for such a number.
    """
    if seconds is not None:
        require_positive("seconds", seconds)
    if examples is None:
        return MACHINE, SECONDS if seconds is None else seconds
    if operator.index(examples) < 1:
        raise ValueError(f"examples must be at least 1, got {examples}")
    searching = examples * (PAIR + DRAW) / SEARCHING
    stop = math.inf if seconds is None else time.monotonic() + seconds
    return Clock(True, 1.0 / (runs or RUNS), stop, searching + JUDGING), searching
