"""The search by replay: losses of the known primitives, and what differs without any."""

from __future__ import annotations

import math
import re
from contextlib import suppress

from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.replay.modelled import replayed
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.result import CheckEvidence, ModelledEvidence, Result
from subnormal.audit.check.runs import CONFIRM, SCREEN
from subnormal.audit.check.search import Pair, written
from subnormal.audit.check.stages.first_call import FIRST_PAIRS
from subnormal.audit.check.stages.state import SHARE, Check
from subnormal.audit.model import Verdict

PLACE = re.compile(" at ([^,]+)")  # in the code, in a note of the replay
MOST = 1e9  # nats: the score of noise of scale 0, which convicts only where the outcome shows it
WATCHED = (64, 4)  # runs of each input in which no generator may move unrecorded: fewer where they are slow
UNCONFIRMED = 32  # pairs without noise that are looked at by runs; further ones only guide the search


class Replaying:
    """Searches by replay: `search` returns what one shows. unconfirmed: pairs without noise that runs looked at;
    watched: pairs in whose runs generators were watched; unrecorded: whether one was seen to move unrecorded;
    independent: whether none was seen to draw again from a state that it had drawn from."""

    def __init__(self, check: Check) -> None:
        self._check, self._unconfirmed, self._unrecorded = check, 0, False
        self._watched = set[tuple[str, str]]()
        self._independent = True

    def search(self, seconds: float) -> tuple[Result | None, list[Pair]]:
        """Return what the replay shows, and the pairs that it finds suspicious."""
        check = self._check
        recorder, shown = Recorder(check.function), dict[tuple[str, str], ModelledEvidence]()
        located = False

        def loss(pair: Pair) -> float:
            seen = replayed(recorder, pair, check.claimed(*pair), independent=self._independent)
            if seen is None:
                return 0.0
            nonlocal located
            located = located or seen.located
            for note in seen.notes:
                check.dependences.setdefault(_kind(note), {})[written(pair)] = note
            if seen.evidence is None:
                return min(seen.loss, MOST)
            if seen.evidence.without_noise is None:
                if not self._watched:
                    self._watch(recorder, pair)
                if self._is_doubtful(seen.evidence):
                    return 1.0
            elif not self._is_loud(pair):
                return 1.0
            shown[written(pair)] = seen.evidence
            return math.inf

        with intercepted(check.function.function, recorder.intercept):
            found = check.search("replay", loss, seconds, examples=FIRST_PAIRS)
            if located and found.convicting is None:
                found = check.search("replay", loss, seconds)
            if found.convicting is not None and shown[written(found.convicting)].without_noise is None:
                self._watch(recorder, found.convicting)  # the first one was watched, before it was shrunk
        hints = [pair for score, pair in found.ranked if score > 0]
        if found.convicting is None:
            return None, hints
        modelled = shown[written(found.convicting)]
        if self._is_doubtful(modelled):
            return None, [found.convicting, *hints]
        return self._modelled(found.convicting, modelled), [found.convicting, *hints]

    def _watch(self, recorder: Recorder, pair: Pair) -> None:
        """Learn whether runs of a pair draw from a generator that the replay does not see, or again from one state."""
        if written(pair) in self._watched:
            return
        many, few = WATCHED
        watch = recorder.watched(pair, few if self._check.runs.is_too_slow(2 * many) else many)
        self._watched.add(written(pair))  # not where the time was over before
        self._unrecorded |= watch.is_unrecorded
        self._independent &= not watch.repeats
        self._check.notes += [note for note in watch.notes() if note not in self._check.notes]

    def _is_doubtful(self, evidence: ModelledEvidence) -> bool:
        """Return whether evidence by losses assumes what was seen not to be so."""
        if evidence.without_noise is not None:
            return False
        return self._unrecorded or (not self._independent and len(evidence.losses) > 1)

    def _is_loud(self, pair: Pair) -> bool:
        """Return whether a few fresh runs say that a pair convicts, where there is time for them."""
        if self._unconfirmed >= UNCONFIRMED:
            return False
        self._unconfirmed += 1
        runs = self._check.runs
        return not runs.is_too_slow(2 * (SCREEN[0] + CONFIRM)) and runs.loudness(pair) == math.inf

    def _modelled(self, pair: Pair, modelled: ModelledEvidence) -> Result | None:
        """Return that a pair is convicted by its losses; or by what has no noise, where runs confirm it."""
        check = self._check
        if modelled.without_noise is None:
            evidence = {"modelled": modelled}
            return check.made("replay", pair, None, evidence, verdict=Verdict.VIOLATED, point=modelled.claim)
        alpha = check.share_of_alpha()
        runs = None
        with suppress(OverTimeError), check.function.within(SHARE * check.runs.left()):
            suspicion, training = check.runs.learned(pair, alpha)
            runs = check.judged(pair, suspicion, alpha, training, share=SHARE)
        if runs is None or runs.verdict is not Verdict.VIOLATED:
            self._unconfirmed = UNCONFIRMED
            return None
        both: dict[str, CheckEvidence] = {"modelled": modelled, "sequential": runs}
        return check.made("replay", pair, runs.event, both, verdict=runs.verdict, point=suspicion.point)


def _kind(note: str) -> tuple[str, frozenset[str]]:
    """Return what depends on the data, and where in the code: notes of two pairs differ in their values only.

    >>> _kind("the scale of random.gauss depends on the data: 6 at f.py:9, 3 at f.py:9")
    ('the scale of random.gauss', frozenset({'f.py:9'}))
    """
    what, _, values = note.partition(" depends on the data: ")
    return what, frozenset(PLACE.findall(values))
