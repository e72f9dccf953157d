"""The search by replay: releases whose noise is known, and parts without noise, which runs must confirm."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from subnormal.audit.check.evidence import CheckEvidence
from subnormal.audit.check.first_calls import FIRST_PAIRS
from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.judge import judge, judge_by_runs
from subnormal.audit.check.replay.proof import LONGEST, Beyond, affordable, exceeded, is_confirmed
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.replay.releases import Seen, seen
from subnormal.audit.check.score import CONFIRM, SCREEN, Candidate
from subnormal.audit.check.search import Pair, written
from subnormal.audit.check.state import Check, Finding
from subnormal.audit.model import Verdict
from subnormal.audit.randomness.primitives import intercepted
from subnormal.mechanisms.curves import AnyClaim, points

PLACE = re.compile(" at ([^,]+)")  # in the code, in a note of the replay
MOST = 1e9  # nats: the score of noise of scale 0
LOOKS = 32  # pairs without noise that runs look at; further ones only guide the search
PROPOSALS = 3  # events of releases that runs judge, each with half of the α that is left
ENOUGH = 2.0  # times the nats needed that an event has to promise in half of the time
NATS = 10.0  # of a thousand runs, that a loss of 1 above the claim is taken to promise
JUDGING = 1 / 2  # of the time that is left, for such runs


class ReplaySearch:
    """Searches by replay: `search` returns what one shows.

    looks: pairs without noise that runs may look at yet. proposals: events of releases that runs may judge yet.
    is_doubtful: whether runs did not agree with a release. left: the seconds that were left when the search began.
    """

    def __init__(self, check: Check) -> None:
        self._check, self._left = check, check.function.left()
        self._looks, self._proposals, self._is_doubtful = LOOKS, PROPOSALS, False

    def search(self, seconds: float) -> tuple[Finding | None, list[tuple[float, Pair]]]:
        """Return what the replay shows, and the pairs that it finds candidates, each after what it promises."""
        check, self._left = self._check, self._check.function.left()
        recorder, located = Recorder(check.function), False
        convicted: dict[tuple[str, str], Callable[[], Finding | None]] = {}
        promises: dict[tuple[str, str], float] = {}

        def score(pair: Pair) -> float:
            nonlocal located
            replayed = seen(recorder, pair)
            if replayed is None:
                return 0.0
            located = located or replayed.located
            for note in replayed.notes:
                check.dependences.setdefault(_kind(note), {})[written(pair)] = note
            how = self._conviction(pair, replayed)
            if how is None:
                promises[written(pair)] = _promised(replayed, check.claimed(*pair))
                return min(MOST, replayed.loss)
            convicted[written(pair)] = how
            return math.inf

        with intercepted(check.function.function, recorder.intercept):
            found = check.search("replay", score, seconds, examples=FIRST_PAIRS)
            if located and found.convicting is None:
                found = check.search("replay", score, seconds, climbs=True)
        pair = found.convicting
        hints = [(promises[written(pair)], pair) for score, pair in found.ranked if 0 < score < math.inf]
        if pair is None:
            return None, hints
        result = None
        with suppress(OverTimeError), check.function.within(JUDGING * check.function.left()):
            result = convicted[written(pair)]()
        return result, [(0.0, pair), *hints]

    def _conviction(self, pair: Pair, replayed: Seen) -> Callable[[], Finding | None] | None:
        """Return how a pair may be convicted; None where nothing speaks against it."""
        check, claim = self._check, self._check.claimed(*pair)
        share = affordable(check.function, check.alpha / 4, JUDGING / 2 * self._left)[1]  # `_modelled` will have more
        if not self._is_doubtful and (beyond := exceeded(replayed.countable(), claim, share)) is not None:
            return partial(self._modelled, pair, beyond)
        if (
            self._proposals > 0
            and replayed.runs is not None
            and (beyond := exceeded(replayed.releases, claim, 0.0)) is not None
            and beyond.release.weights.size <= LONGEST
        ):
            runs = self._left * JUDGING / 2 / max(1e-9, check.function.seconds_a_run())
            runs = runs if check.runs_max is None else min(runs, check.runs_max)
            if beyond.growth() * runs > -ENOUGH * math.log(check.alpha):
                return partial(self._proposed, pair, beyond)
        if self._looks > 0 and replayed.without_noise and not check.function.is_too_slow(2 * (1 + CONFIRM) * SCREEN[0]):
            self._looks -= 1
            if check.runs.screening_score(pair, readable=True) == math.inf:
                return partial(self._by_runs, pair)
        return None

    def _by_runs(self, pair: Pair) -> Finding | None:
        """Return that runs convict a pair, if they do so without the primitives being recorded."""
        return judge_by_runs(self._check, pair) if self._check.runs.screening_score(pair) == math.inf else None

    def _proposed(self, pair: Pair, beyond: Beyond) -> Finding | None:
        """Return that runs convict a pair by the event of a release."""
        check = self._check
        self._proposals -= 1
        candidate = Candidate(beyond.point, beyond.event(), beyond.growth())
        evidence = judge(check.runs, pair, candidate, check.share_of_alpha(), 0, most=check.runs_max)
        if evidence.verdict is not Verdict.VIOLATED:
            return None
        shown: dict[str, CheckEvidence] = {"sequential": evidence}
        return check.finding("runs", pair, evidence.event, shown, verdict=evidence.verdict, point=beyond.point)

    def _modelled(self, pair: Pair, beyond: Beyond) -> Finding | None:
        """Return that a pair is convicted by its release, if runs agree with it."""
        check, self._is_doubtful = self._check, True  # until they do
        runs, share = affordable(check.function, check.share_of_alpha() / 2, check.function.left())  # of each input
        if share > beyond.share or not is_confirmed(check.function, pair, beyond, runs):
            return None
        shown: dict[str, CheckEvidence] = {"modelled": beyond.evidence(runs)}
        return check.finding("replay", pair, beyond.described(), shown, verdict=Verdict.VIOLATED, point=beyond.point)


def _promised(replayed: Seen, claim: AnyClaim) -> float:
    """Return what releases promise beside the screening scores of runs: the nats of a thousand runs, of the best of
    them, or, very roughly, of the sum of their losses."""
    found, beyond = points(claim), exceeded(replayed.releases, claim, 0.0)
    best = 0.0 if beyond is None else 1000 * beyond.growth()
    return max(best, NATS * max(0.0, replayed.loss - found[len(found) // 4].epsilon))


def _kind(note: str) -> tuple[str, frozenset[str]]:
    """Return what depends on the data, and where in the code: notes of two pairs differ in their values only.

    >>> _kind("the scale of random.gauss depends on the data: 6 at f.py:9, 3 at f.py:9")
    ('the scale of random.gauss', frozenset({'f.py:9'}))
    """
    what, _, values = note.partition(" depends on the data: ")
    return what, frozenset(PLACE.findall(values))
