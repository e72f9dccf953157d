"""Which losses of a replay may count: those of releases that lie where they do for certain.

A loss is known of a release alone. It says something of the outcome only where the outcomes of both inputs are one and
the same function of the releases, and nothing else decides where a release lies. So a loss counts where all of this
holds.

- Every known primitive that the run calls says where its noise lies. Each number of noise is used for one release, and
  for nothing else, as it was drawn or times a known factor. So a record that a random sample may leave out has no loss
  that counts.
- With the same releases, both inputs have the same outcome: none is computed from a release and from data.
- Where noise lies, how large it is, and how often it is drawn, does not change with any release. So no loss counts of
  a function that draws again until a release fits.

`readable` says which of these can be seen in the outcome. Each is tried on one run by shifting noise, not proved.
Randomness of no known primitive is not seen at all: that there is none is assumed.
"""

from __future__ import annotations

import math
from typing import Any

from subnormal.audit.check.replay.readable import READABLE_MAX, moving, releases
from subnormal.audit.check.replay.recorder import Call, Recorder, Run
from subnormal.audit.check.replay.windows import Number
from subnormal.mechanisms.core.outcome_identity import identity

SHIFTS = (0.37, -0.37, 30.0, -30.0, 1e3, -1e3)  # in scales, of a release or of its noise, to see what changes with it

Pair = tuple[Any, Any]


def countable(recorder: Recorder, pair: Pair, first: Run, second: Run) -> set[Number]:
    """Return the releases whose losses may count, of a run of the first input and its replay with the second."""
    numbers = releases(first)
    if len(numbers) > READABLE_MAX or not all(map(_is_released_once, first.calls)):
        return set()
    if identity(first.outcome) != identity(second.outcome):
        return set()
    if not all(math.isfinite(one.location) for run in (first, second) for one in releases(run).values()):
        return set()
    bases = list(zip(pair, (first, second), strict=True))
    if not all(is_repeated(recorder.run(data, first, raw=by), base) for by in SHIFTS for data, base in bases):
        return set()
    certain = set(numbers)
    for number, release in numbers.items():
        for by in SHIFTS:
            shifts = {number: by * (release.scale or 1.0)}
            runs = [recorder.run(data, first, shifts=shifts) for data in pair]
            if any(run.difference for run in runs) or identity(runs[0].outcome) != identity(runs[1].outcome):
                return set()
            for run, (_, base) in zip(runs, bases, strict=True):
                certain -= moving(run, base)
    return certain


def is_repeated(run: Run, base: Run) -> bool:
    """Return whether a replay of the same input is the same in all that is known of it."""
    return run.difference is None and identity(run.outcome) == identity(base.outcome) and not moving(run, base)


def _is_released_once(call: Call) -> bool:
    """Return whether each number of a call's noise is used for one release, or came with its location."""
    if call.primitive.where is None or not call.is_added_as_drawn():
        return False
    return not call.releases or sorted(release.place for release in call.releases) == list(range(len(call.locations)))
