"""What the stages of one check share: the function, the search for pairs, what is left of time and of α, and notes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis.strategies import SearchStrategy

from subnormal.audit.check.evidence import CheckEvidence, Stage
from subnormal.audit.check.function import Function, OverTimeError
from subnormal.audit.check.result import Result
from subnormal.audit.check.score import LEARN, SCREEN, Runs, runs_needed
from subnormal.audit.check.search import EXAMPLES, Pair, Ranking, search, written
from subnormal.audit.check.words import progress_words
from subnormal.audit.clock import PAIR
from subnormal.audit.evidence.sequential import FIRST
from subnormal.audit.model import Verdict
from subnormal.audit.text import counted, given, short
from subnormal.mechanisms.curves import AnyClaim, points
from subnormal.mechanisms.privacy import Claim

if TYPE_CHECKING:
    from subnormal.audit.neighbours.kept import KeptPairs
    from subnormal.audit.neighbours.variations import Choices

RUNS_LEAST = 2 * (SCREEN[0] + LEARN[0] + FIRST)  # runs that search, learn and judge, on one pair
SHRINKING = 1 / 2  # of the time that is left, or of the pairs to try, for making a pair that convicts smaller
SHARE = 1 / 4  # of the time that is left, for a stage before the last
JUDGING = 1 / 16  # of all time, that searching and learning leave for the runs of one pair, and more
NOTES = 4  # of replays, that are shown
BEST = 4  # pairs of a search that climbs, with which later ones begin
REPLAYED = 1 / 5  # of a pair, that one counts as which is replayed: it takes a few runs
TELL_INTERVAL = 0.1  # seconds between two messages on the progress

OnProgress = Callable[[str], None]
Spent = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a stage decides: the fields of a `Result` that do not tell what the check has spent."""

    stage: Stage
    worlds: Pair | None = None
    event: Mapping[str, Any] | None = None
    evidence: Mapping[str, CheckEvidence] = field(default_factory=dict)
    verdict: Verdict | None = None
    point: Claim | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()
    grid: float | None = None
    test_grid: float | None = None
    last_bits_only: bool = False


class Check:
    """One check while it lasts. alpha: the α that is not spent yet; stage: the one that is at work.

    answered: how often the first calls answered an input, and the input that they answered most often.
    dependences: notes of replays, by kind and place and then by pair. kept: pairs that convicted before.
    """

    def __init__(
        self,
        function: Function,
        strategy: SearchStrategy[Pair],
        claimed: Callable[[Any, Any], AnyClaim],
        seconds: float,
        runs_max: int | None,
        alpha: float,
        seed: int,
        on_progress: OnProgress,
        examples: int | None = None,
        kept: KeptPairs | None = None,
    ) -> None:
        self.function, self.claimed, self.seconds, self.alpha, self.seed = function, claimed, seconds, alpha, seed
        self.strategy, self.runs_max, self._on_progress = strategy, runs_max, on_progress
        self.grid = function.grid
        self.clock, self._examples_max = function.clock, math.inf if examples is None else examples
        self._started = self._silent_until = time.monotonic()
        function.deadline = self.clock.end if self.clock.counts else self._started + seconds
        self.runs = Runs(function, claimed, seed)
        self._examples = self._searches = 0
        self._tried = 0.0
        self.stage: Stage = "first call"
        self.notes: list[str] = []
        self.answered: tuple[int, Any] = (0, None)
        self._kept, self._choices = kept, dict[tuple[str, str], bytes]()
        self._best: list[Choices] = []
        self.dependences: dict[Hashable, dict[tuple[str, str] | None, str]] = {}

    def search(
        self,
        stage: Stage,
        score: Callable[[Pair], float],
        seconds: float,
        examples: int = EXAMPLES,
        climbs: bool = False,
    ) -> Ranking:
        """Return the pairs with the highest scores. A pair for which there is no time says nothing.

        climbs: from the best pairs, with which later searches begin. For scores that are little a matter of chance: a
        loss in few runs is the highest by luck.
        """

        def on_progress(found: Ranking) -> None:
            score, pair = found.ranked[0]
            pairs = f"{stage}: {counted(self._examples + found.examples, 'pair')}"
            self.tell(lambda: f"{pairs}{progress_words(stage, score, self.claimed(*pair), pair)}")

        convicted: list[Pair] = []
        share = REPLAYED if stage == "replay" else 1.0
        shrinking = SHRINKING * min(self.function.left(), PAIR * self._examples_max)
        left = self._examples_max - self._tried
        until = self.clock.now() + seconds if stage != "first call" else math.inf

        def scored(pair: Pair) -> float:
            nonlocal until
            self._tried += 0 if convicted else share  # those that make a pair smaller are not counted
            within = math.inf if self.clock.counts else until - self.clock.now()
            try:
                with self.clock.pair(share), self.function.within(within):
                    value = score(pair)
            except OverTimeError:
                return -math.inf
            if value == math.inf and not convicted:
                convicted.append(pair)
                until = self.clock.now() + shrinking
            return value

        self.stage = stage
        self._searches += 1
        found = search(
            self.strategy,
            scored,
            seed=self.seed + self._searches,
            seconds=seconds if left > 0 else 0.0,
            shrinking=shrinking,
            on_progress=on_progress,
            clock=self.clock,
            climbs=climbs,
            first=self._best,
            examples=max(1, int(min(examples, left / share))),
            kept=self._kept,
        )
        self._examples += found.examples
        self._choices |= found.choices
        self._best = [choices for _, choices in found.parents[:BEST]] if climbs else self._best
        return found

    def keep(self, pair: Pair | None) -> None:
        """Keep a pair that convicts for the next check, where a search has drawn it."""
        choices = None if pair is None else self._choices.get(written(pair))
        if self._kept is not None and choices is not None:
            self._kept.keep(choices)

    def share_of_alpha(self) -> float:
        """Return the α that one more pair is judged with: half of what is left, so that all pairs keep α together."""
        self.alpha /= 2
        return self.alpha

    def tell(self, message: Callable[[], str]) -> None:
        """Report progress, not more often than a reader can follow: messages take time to write."""
        if time.monotonic() >= self._silent_until:
            self._on_progress(message())
            self._silent_until = time.monotonic() + TELL_INTERVAL

    def spent_words(self, before: Spent) -> str:
        """Return what was spent since then: pairs where work is counted, else seconds."""
        if self.clock.counts:
            return counted(self._examples - before[0], "pair")
        return f"{time.monotonic() - before[1]:.0f} s"

    def spent(self) -> Spent:
        """Return the pairs that were tried so far, and the time on the machine's clock."""
        return self._examples, time.monotonic()

    def too_slow(self, pair: Pair) -> Finding:
        """Return that there is no time for the runs of one pair, in the stage that is at work."""
        self.note_more_seconds(pair)
        return self.finding(self.stage, pair, verdict=Verdict.UNDERPOWERED)

    def note_more_seconds(self, pair: Pair) -> None:
        """Add a note that runs could not have refuted the claim on a pair, and how many seconds or runs they need."""
        one, found = self.function.seconds_a_run(), points(self.claimed(*pair))
        needed = min(1e12, *(runs_needed(point, self.alpha) for point in found))
        if self.runs_max is not None and self.runs_max < needed:
            self.notes.append(
                f"not even a perfect attack could refute the claim by less than {math.ceil(needed):,} runs of each "
                f"input: give it more than {self.runs_max:,}"
            )
            return
        if self.clock.counts:
            self.notes.append(
                "the time was over before enough runs could judge a pair: give it more seconds, or none"
                if self.clock.is_stopped()
                else "learning an event left too few runs to judge: give it more runs"
            )
            return
        least = RUNS_LEAST + 2 * math.ceil(needed - FIRST)
        more = max(10, math.ceil(max(least * one / JUDGING, 1.5 * self.seconds)))
        if least * one > SHARE * self.seconds:
            why = f"one run takes {short(one, 2)} s, and a verdict by runs needs {least:,} of them at least"
        else:
            why = (
                f"the time was over before enough runs could judge a pair: {counted(self.function.runs, 'run')} took "
                f"{short(self.function.seconds, 2)} s (one run takes {short(one, 2)} s); drawing inputs and learning "
                "events took the rest"
            )
        self.notes.append(
            f"{why}: give it more than {given(self.seconds)} second{'' if self.seconds == 1 else 's'}, {more:,} or more"
        )

    def finding(
        self,
        stage: Stage,
        pair: Pair | None = None,
        event: Mapping[str, Any] | None = None,
        evidence: Mapping[str, CheckEvidence] | None = None,
        **decided: Any,
    ) -> Finding:
        """Return what a stage decides, with the notes so far: of replays, one for each kind and place, that of this
        pair or else of the first that has one."""
        shown = None if pair is None else written(pair)
        notes = [by_pair.get(shown, next(iter(by_pair.values()))) for by_pair in self.dependences.values()]
        return Finding(stage, pair, event, evidence or {}, notes=(*notes[:NOTES], *self.notes), **decided)

    def result(self, found: Finding, claim: Any, **stated: str | None) -> Result:
        """Return the result: what a stage has decided, and what the check has spent."""
        return Result(
            verdict=found.verdict,
            function=self.function.name,
            claim=claim,
            point=found.point,
            stage=found.stage,
            worlds=found.worlds,
            event=found.event,
            evidence=found.evidence,
            error=found.error,
            notes=found.notes,
            examples=self._examples,
            runs=self.function.runs,
            seconds=time.monotonic() - self._started,
            seed=self.seed,
            place=self.function.place,
            batch=self.function.batch,
            fresh=self.function.fresh,
            grid=found.grid or self.grid,
            test_grid=found.test_grid,
            last_bits_only=found.last_bits_only,
            **stated,
        )
