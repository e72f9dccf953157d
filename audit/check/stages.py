"""The stages of a check, one after the other: first calls, stability, replay, runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from subnormal.audit.check.crossing import WayOf, crossed, extent, kind
from subnormal.audit.check.domain import belongs
from subnormal.audit.check.function import Function, OverTimeError, all_refused, reseed
from subnormal.audit.check.replay.modelled import replayed
from subnormal.audit.check.replay.primitives import SEEDED, drawn_from, intercepted
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.result import CheckEvidence, ModelledEvidence, Result, Stage
from subnormal.audit.check.runs import CONFIRM, LEARN, SCREEN, Runs, Suspicion, certain, runs_needed
from subnormal.audit.check.search import Found, Pair, search, written
from subnormal.audit.check.words import judging_words, pair_words, progress_words
from subnormal.audit.evidence.sequential import FIRST
from subnormal.audit.model import ExactEvidence, SequentialEvidence, Verdict
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.outcome_notes import outcome_notes, reads_bits
from subnormal.audit.text import given, short
from subnormal.mechanisms.core.outcome_identity import identity
from subnormal.mechanisms.curves import AnyClaim
from subnormal.mechanisms.privacy import Claim

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FIRST_PAIRS = 8  # pairs of the first calls
FIRST_RUNS = 4  # runs of each of their inputs
CROSSING_PAIRS = 256  # inputs of which one run each is looked at, for outcomes of several kinds
RUNS_LEAST = 2 * (SCREEN[0] + LEARN[0] + FIRST)  # runs that search, learn and judge, on one pair
SHRINKING = 1 / 4  # of the time that is left, for making a pair that convicts smaller
MOST = 1e9  # nats: the score of noise of scale 0, which convicts only where the outcome shows it
NOTES = 4  # notes of the replay that are shown
SAME = 100  # equal runs of each of two inputs after which a function is judged as one that is deterministic
SHARE = 1 / 4  # of the time that is left, for a stage before the last
JUDGED = 3  # pairs that are judged one after the other where none convicted in the search, at the most
UNCONFIRMED = 32  # pairs without noise that are looked at by runs; further ones only guide the search
LAST_BITS = (
    "the event reads the last bits of floats: the rounding of the noise tells the inputs apart, whatever its scale; "
    "to look for other flaws, check the function with its outcome rounded to a few digits"
)
TELL_INTERVAL = 0.1  # seconds between two messages on the progress
NOTED = 64  # runs of each input for notes about their outcomes
ROUNDS = (1 / 32, 1 / 8, 1 / 3)  # of the time, for searches by replay and by runs in turn: half each

Told = Callable[[str], None]


class Stages:
    """One check. `result` goes from stage to stage until one decides."""

    def __init__(
        self,
        function: Function,
        data: SearchStrategy[Any] | None,
        strategy: SearchStrategy[Pair],
        way: WayOf | None,
        claimed: Callable[[Any, Any], AnyClaim],
        claim: Any,
        seconds: float,
        runs_max: int | None,
        alpha: float,
        seed: int,
        told: Told,
    ) -> None:
        self.function, self.strategy, self.claim, self.told = function, strategy, claim, told
        self.claimed, self.data, self.way = claimed, data, way
        self.seconds, self.runs_max, self.alpha, self.seed = seconds, runs_max, alpha, seed  # alpha: what is left of it
        self.started = self.silent_until = time.monotonic()
        self.runs = Runs(function, claimed, seed, self.started + seconds)
        self.examples = self.searches = self.unconfirmed = 0
        self.stage: Stage = "first call"
        self.notes: list[str] = []

    def result(self) -> Result:
        """Return what the first stage that decides has found, or the last. A program's mistake is an error."""
        try:
            return self._decided()
        except TargetError as error:
            return self._made(self.stage, error=str(error))

    def _decided(self) -> Result:
        pair, firsts = self._first_calls()
        if all(all_refused(outcomes) for outcomes in firsts):
            last = firsts[-1][-1]
            return self._made("first call", error=f"every run of every input raised; the last: {last.error}")
        if self.runs.left() <= 0:
            return self._too_slow(pair)
        try:
            with self.function.within(self.runs.left()):
                return self._searched(pair, firsts)
        except OverTimeError:
            return self._too_slow(pair, self.stage)

    def _searched(self, pair: Pair, firsts: list[list[Any]]) -> Result:
        """Return what the stages after the first call find."""
        if all(len(set(map(identity, outcomes))) == 1 for outcomes in firsts):
            differing = self._differing()
            if differing is not None:
                convicted = self._deterministic(differing)
                if convicted is not None:
                    return convicted
        suspicious = [pair]
        crossing = None
        with suppress(OverTimeError):
            crossing = self._crossing()
        if crossing is not None:
            if self.runs.loudness(crossing) == math.inf:
                return self._by_runs(crossing)
            suspicious.append(crossing)
        for share in ROUNDS:
            by_replay, hints = self._replay(share * self.seconds / 2)
            if by_replay is not None:
                return by_replay
            if not self.function.batch and self.runs.left() < RUNS_LEAST * self.function.quickest:
                return self._too_slow(pair)
            loudness = partial(self.runs.loudness, readable=share < ROUNDS[-1])  # bits of floats come last
            found = self._search("runs", loudness, share * self.seconds / 2)
            if found.convicting is not None:
                return self._by_runs(found.convicting)
            ranked = [one for score, one in found.ranked if score > -math.inf]
            suspicious = [*ranked, *hints, *suspicious]  # the loudest first
        *others, last = self.runs.race(list({" / ".join(written(one)): one for one in suspicious}.values()))[:JUDGED]
        notes = self.notes[:]  # those of a pair that runs do not convict are not kept
        for other in others:
            convicted = self._by_runs(other, self._share_of_alpha(), share=SHARE)
            if convicted.verdict is Verdict.VIOLATED:
                return convicted
            self.notes = notes[:]
        return self._by_runs(last)

    def _crossing(self) -> Pair | None:
        """Return neighbours whose outcomes are of different kinds; None where no such are found."""
        if self.way is None:
            return None
        seen: dict[Any, Any] = {}

        def kind_at(data: Any) -> Any:
            return kind(self.function.outcome(data))

        def looked(pair: Pair) -> float:
            seen.setdefault(kind_at(pair[0]), pair[0])
            return extent(pair[0])  # large inputs are those that overflow and underflow

        seconds = self.seconds / 16
        search(self.strategy, looked, seed=self.seed, seconds=seconds, shrinking=0.0, examples=CROSSING_PAIRS)
        for one, other in pairwise(seen.values()):
            if (way := self.way(one, other)) is None:
                continue
            with self.function.within(seconds):
                pair = crossed(way, kind_at)
            if all(belongs(self.data, data) is not False for data in pair) and len(set(map(kind_at, pair))) == 2:
                return pair
        return None

    def _too_slow(self, pair: Pair, stage: Stage = "first call") -> Result:
        """Return that there is no time for the runs of one pair."""
        one = self.runs.seconds_a_run()
        more = max(10, math.ceil(1.5 * max(RUNS_LEAST * one, self.seconds)))
        self.notes.append(
            f"one run takes {short(one, 2)} s, and the search by runs needs {RUNS_LEAST:,} of them at the least: "
            f"give it more than {given(self.seconds)} seconds, {more:,} or more"
        )
        return self._made(stage, pair, verdict=Verdict.UNDERPOWERED)

    def _replay(self, seconds: float) -> tuple[Result | None, list[Pair]]:
        """Return what the replay shows, and the pairs that it finds suspicious."""
        recorder, notes, shown = Recorder(self.function), dict[str, None](), dict[str, ModelledEvidence]()
        located = False

        def loss(pair: Pair) -> float:
            seen = replayed(recorder, pair, self.claimed(*pair))
            if seen is None:
                return 0.0
            nonlocal located
            located = located or seen.located
            notes.update(dict.fromkeys(seen.notes))
            if seen.evidence is None:
                return min(seen.loss, MOST)
            if seen.evidence.without_noise is not None and not self._is_loud(pair):
                return 1.0
            shown[" / ".join(written(pair))] = seen.evidence
            return math.inf

        with intercepted(self.function.function, recorder.intercept):
            found = self._search("replay", loss, seconds, examples=FIRST_PAIRS)
            if located and found.convicting is None:
                found = self._search("replay", loss, seconds)
        self.notes += [note for note in notes if note not in self.notes][: NOTES - len(self.notes)]
        hints = [pair for score, pair in found.ranked if score > 0]
        if found.convicting is None:
            return None, hints
        modelled = shown[" / ".join(written(found.convicting))]
        return self._modelled(found.convicting, modelled), [found.convicting, *hints]

    def _is_loud(self, pair: Pair) -> bool:
        """Return whether a few fresh runs say that a pair convicts, where there is time for them."""
        if self.unconfirmed >= UNCONFIRMED:
            return False
        self.unconfirmed += 1
        return not self.runs.is_too_slow(2 * (SCREEN[0] + CONFIRM)) and self.runs.loudness(pair) == math.inf

    def _modelled(self, pair: Pair, modelled: ModelledEvidence) -> Result | None:
        """Return that a pair is convicted by its losses; or by what has no noise, where runs confirm it."""
        if modelled.without_noise is None:
            evidence = {"modelled": modelled}
            return self._made("replay", pair, None, evidence, verdict=Verdict.VIOLATED, point=modelled.claim)
        alpha = self._share_of_alpha()
        runs = None
        with suppress(OverTimeError), self.function.within(SHARE * self.runs.left()):
            suspicion, training = self.runs.learned(pair, alpha)
            runs = self._judged(pair, suspicion, alpha, training, share=SHARE)
        if runs is None or runs.verdict is not Verdict.VIOLATED:
            self.unconfirmed = UNCONFIRMED
            return None
        both: dict[str, CheckEvidence] = {"modelled": modelled, "sequential": runs}
        return self._made("replay", pair, runs.event, both, verdict=runs.verdict, point=suspicion.point)

    def _share_of_alpha(self) -> float:
        """Return the α that one more pair is judged with: half of what is left, so that all pairs keep α together."""
        self.alpha /= 2
        return self.alpha

    def _first_calls(self) -> tuple[Pair, list[list[Any]]]:
        """Return the first pair, and the outcomes of some runs of some inputs, a list for each input."""
        outcomes: list[list[Any]] = []
        pairs: list[Pair] = []

        def called(pair: Pair) -> float:
            pairs.append(pair)
            for data in pair:
                if outcomes and self.runs.left() <= 0:
                    break
                drawn = self.function.outcomes(data, 1)
                more = 0 if self.runs.is_too_slow(8 * FIRST_RUNS * FIRST_PAIRS) else FIRST_RUNS - 1
                outcomes.append(drawn + self.function.outcomes(data, more))
            return 0.0

        self._search("first call", called, self.seconds / 8, examples=FIRST_PAIRS)
        return pairs[0], outcomes

    def _differing(self) -> Pair | None:
        """Return two neighbouring inputs with different outcomes, each the same in all runs."""

        def differ(pair: Pair) -> float:
            one, other = (identity(self.function.outcome(data)) for data in pair)
            return 0.0 if one == other else math.inf

        found = self._search("stability", differ, self.runs.left() / 8)
        if found.convicting is None or self.runs.is_too_slow(2 * SAME):
            return None
        try:
            with self.function.within(SHARE * self.runs.left()):
                same = [{identity(self.function.outcome(data)) for _ in range(SAME)} for data in found.convicting]
        except OverTimeError:
            return None
        return found.convicting if all(len(outcomes) == 1 for outcomes in same) and same[0] != same[1] else None

    def _deterministic(self, pair: Pair) -> Result | None:
        """Return that a function is taken as deterministic; None where runs do not refute the claim.

        "exact" is said only where no known primitive was called and no run had another outcome.
        """
        suspicion = certain(self.claimed(*pair), self.function.outcome(pair[0]))
        alpha = self._share_of_alpha()
        runs = None
        if not self.runs.is_too_slow(2 * math.ceil(min(1e12, runs_needed(suspicion.point, alpha)))):
            runs = self._judged(pair, suspicion, alpha, 0, share=SHARE)
        if runs is None or runs.verdict is not Verdict.VIOLATED:
            self.notes.append(
                f"each of the inputs {pair_words(pair)} had an outcome of its own in all of {SAME} runs: if the "
                "function is deterministic, it keeps no finite epsilon; runs did not show it"
            )
            return None
        evidence: dict[str, CheckEvidence] = {"sequential": runs}
        drawn = drawn_from(self.function.function, lambda: [self.function.outcome(data) for data in pair])
        is_seeded = self.function.seeds_generators(pair[0])
        is_certain = not drawn or (is_seeded and all(one.holder in SEEDED for one in drawn))
        if is_certain and (runs.event_in, runs.event_out) == (runs.runs, 0):
            why = "it seeds the generators that it uses" if is_seeded else "it called no known source of randomness"
            self.notes.append(
                f"the function is taken as deterministic: {why}, and each of the two inputs had one outcome in all of "
                f"{SAME + runs.runs:,} runs"
            )
            certainly = (1.0, 1.0), (0.0, 0.0)
            exact = ExactEvidence(Verdict.VIOLATED, math.inf, 1.0, None, 1.0, 1.0, *certainly, Verdict.VIOLATED)
            evidence = {"exact": exact, **evidence}
        if is_seeded:
            self.notes.append("the function seeds a global generator of random or numpy: its noise is no secret")
        stage: Stage = "stability" if "exact" in evidence else "runs"
        return self._made(stage, pair, runs.event, evidence, verdict=Verdict.VIOLATED, point=suspicion.point)

    def _by_runs(self, pair: Pair, alpha: float | None = None, *, share: float = 1.0) -> Result:
        """Return what runs of a pair show. alpha: what is spent on it; None: all that is left. share: of that time."""
        spent = self.alpha if alpha is None else alpha
        suspicion, training = self.runs.learned(pair, spent)

        def told(log_wealth: float, runs: int) -> None:
            self._tell(lambda: f"runs: judging, {judging_words(log_wealth, runs, spent)}: {pair_words(pair)}")

        noted = 0 if self.runs.is_too_slow(2 * NOTED) else NOTED
        notes: list[str] = []
        with suppress(OverTimeError), self.function.within(SHARE * self.runs.left()):
            notes = outcome_notes([one for data in pair for one in self.function.outcomes(data, noted)])
        evidence = self._judged(pair, suspicion, spent, training, told=told, share=share)
        if evidence.runs == 0:  # learning took all the time
            return self._too_slow(pair, "runs")
        if evidence.verdict is Verdict.VIOLATED:
            notes = [LAST_BITS] if reads_bits(evidence.event) else []
        self.notes += notes
        return self._made(
            "runs", pair, evidence.event, {"sequential": evidence}, verdict=evidence.verdict, point=suspicion.point
        )

    def _judged(
        self, pair: Pair, suspicion: Suspicion, alpha: float, training: int, **options: Any
    ) -> SequentialEvidence:
        """Return what runs say that no search and no learning has seen: they have a stream of their own."""
        self.searches += 1
        reseed(self.seed, "judge", self.searches)
        return self.runs.judge(pair, suspicion, alpha, training, most=self.runs_max, **options)

    def _tell(self, message: Callable[[], str]) -> None:
        """Report progress, not more often than a reader can follow: messages take time to write."""
        if time.monotonic() >= self.silent_until:
            self.told(message())
            self.silent_until = time.monotonic() + TELL_INTERVAL

    def _search(self, stage: Stage, score: Callable[[Pair], float], seconds: float, **options: int) -> Found:
        def told(found: Found) -> None:
            score, pair = found.ranked[0]
            pairs = f"{stage}: {self.examples + found.examples:,} pairs"
            self._tell(lambda: f"{pairs}{progress_words(stage, score, self.claimed(*pair), pair)}")

        convicted: list[Pair] = []
        shrinking = self.runs.left() * SHRINKING
        until = time.monotonic() + seconds if stage != "first call" else math.inf

        def scored(pair: Pair) -> float:
            nonlocal until
            try:
                with self.function.within(until - time.monotonic()):
                    value = score(pair)
            except OverTimeError:
                return -math.inf
            if value == math.inf and not convicted:
                convicted.append(pair)
                until = time.monotonic() + shrinking
            return value

        self.stage = stage
        self.searches += 1
        found = search(
            self.strategy,
            scored,
            seed=self.seed + self.searches,
            seconds=seconds,
            shrinking=shrinking,
            told=told,
            **options,
        )
        self.examples += found.examples
        return found

    def _made(
        self,
        stage: Stage,
        pair: Pair | None = None,
        event: Mapping[str, Any] | None = None,
        evidence: Mapping[str, CheckEvidence] | None = None,
        *,
        verdict: Verdict | None = None,
        point: Claim | None = None,
        error: str | None = None,
    ) -> Result:
        return Result(
            verdict=verdict,
            function=self.function.name,
            claim=self.claim,
            point=point,
            stage=stage,
            worlds=pair,
            event=event,
            evidence=evidence or {},
            error=error,
            notes=tuple(self.notes),
            examples=self.examples,
            runs=self.function.runs,
            seconds=time.monotonic() - self.started,
        )
