"""What is held against an event of a release before it is reported: runs that nobody records, and many more replays.

- *Unrecorded.* So many runs of each input are made as they are. From the same states of all generators they are made
  again while primitives are recorded. All outcomes must be the same: else the function tells the two apart, by the type
  of a generator as it may be, or draws from a source that nobody knows.
- *Shown.* Each of the recorded runs must draw the same noise around the same locations, and show the release. A share
  `SHARE` of runs that do not is seen with probability 1 − α, because (1 − SHARE)^runs ≤ α.
- *Beyond.* So many further replays move the release to where the event holds, as the law of its noise says, with other
  noise as it was drawn in these runs. Both inputs must show it there. So the same holds given the event.
- *Frequency.* The outcomes of the unrecorded runs must follow the law of the release, in both worlds: their
  distribution function lies nowhere further off than the Dvoretzky-Kiefer-Wolfowitz inequality allows. This drops
  evidence that is right with a probability of at most `DROPPED`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from subnormal.attacks.core.outcome_paths import leaves
from subnormal.audit.check.function import Function
from subnormal.audit.check.replay.modelled import SHARE, Beyond, off
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder, Run
from subnormal.audit.check.replay.releases import Pair, Release
from subnormal.audit.check.replay.unrecorded import Repetition
from subnormal.mechanisms.core.outcome_identity import identity

DROPPED = 1e-6  # the probability that evidence is dropped although all that it assumes is so
KINDS = 6  # of runs, of each of which `runs_needed` are made


def runs_needed(alpha: float) -> int:
    """Return the runs of which one is likely, with probability 1 − α, to show what a share `SHARE` of runs does.

    >>> runs_needed(1e-6)
    1375
    """
    return math.ceil(math.log(alpha) / math.log1p(-SHARE))


def is_confirmed(function: Function, pair: Pair, beyond: Beyond, runs: int) -> bool:
    """Return whether so many runs of each kind agree with an event of a release."""
    repetition, recorder = Repetition(), Recorder(function)
    with repetition.once():
        outcomes = [[function.outcome(data) for _ in range(runs)] for data in pair]
    with repetition.again(), intercepted(function.function, recorder.intercept):
        recorded = [[recorder.run(data) for _ in range(runs)] for data in pair]
    for world in (0, 1):
        same = zip(outcomes[world], recorded[world], strict=True)
        if not all(identity(one) == identity(run.outcome) for one, run in same):
            return False
        if not _is_shown(beyond.release, recorded[world], world):
            return False
    with intercepted(function.function, recorder.intercept):
        if not all(_is_shown_at(recorder, pair, beyond, *one) for one in _values(beyond, recorded[beyond.world])):
            return False
    return all(_follows(beyond.release, outcomes[world], world) for world in (0, 1))


def _is_shown(release: Release, recorded: list[Run], world: int) -> bool:
    """Return whether all runs of a world draw the same noise, and show the release."""
    drawn = recorded[0]
    return all(
        run.is_drawn_as(drawn) and release.is_shown(run.outcome, world, float(run.noise[release.number]))
        for run in recorded
    )


def _values(beyond: Beyond, recorded: list[Run]) -> Iterable[tuple[Run, float]]:
    """Return the runs, with a value of the release for each, given the event."""
    draw = random.Random(f"beyond {beyond.threshold}")
    shares = np.array([1 - draw.random() for _ in recorded])
    return zip(recorded, beyond.drawn(shares).tolist(), strict=True)


def _is_shown_at(recorder: Recorder, pair: Pair, beyond: Beyond, first: Run, value: float) -> bool:
    """Return whether both inputs show a value of the release, with the other noise of a run."""
    release = beyond.release
    for world, data in enumerate(pair):
        noise = (value - release.locations[world]) / release.factors[world]
        shifts, before = {}, 0
        for at, call in enumerate(first.calls):
            within = release.number - before
            if 0 <= within < call.noise.size:
                shifts[at] = np.zeros(call.noise.size)
                shifts[at][within] = noise - call.noise[within]
            before += call.noise.size
        run = recorder.run(data, first, shifts)
        if run.difference is not None or not release.is_shown(run.outcome, world, noise):
            return False
    return True


def _follows(release: Release, outcomes: list[Any], world: int) -> bool:
    """Return whether outcomes follow the law of the release."""
    values = np.array([float(leaves(outcome)[release.path]) for outcome in outcomes])
    return off(release, world, values) <= math.sqrt(math.log(4 / DROPPED) / 2 / len(values))
