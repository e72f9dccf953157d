"""Last bits of floats apart from real loss: grids for outcomes, far below the spread of the noise.

Noise in floats nearly always tells inputs apart by its last bits. That finding is right, and it hides others. So the
search goes on with outcomes that are rounded to multiples of a grid: what it finds there, rounding cannot repair.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from subnormal.attacks.core.outcome_paths import Path, leaves
from subnormal.audit.check.function import OverTimeError
from subnormal.audit.check.search import Pair
from subnormal.audit.check.severity import of_last_bits
from subnormal.audit.check.state import SHARE, Check, Finding
from subnormal.audit.model import Verdict
from subnormal.audit.targets.json_lines import TargetError

RUNS = 32  # of each input, which tell how far floats spread
FINER = 3  # powers of ten between the spread and the grid, at least

ONLY = (
    "only the last bits of floats tell the inputs apart: noise from an exact sampler or a grid removes this; nothing "
    "else was found in {spent}, with outcomes rounded to multiples of {grid:g}"
)
BESIDE = "the last bits of floats tell inputs apart, too: noise from an exact sampler or a grid removes that"


def look_beyond_last_bits(
    check: Check, found: Finding, alpha: float, search_pairs: Callable[[Check, Pair, list[Pair]], Finding]
) -> Finding:
    """Return a violation as it is where its event reads more than last bits, with a grid for a test of it. Else return
    what is found on a grid in the rest of the time; where nothing is, that only last bits convict.

    α is whole again: a function that keeps its claim comes here with probability α at most.
    """
    if found.worlds is None:
        return found
    if not of_last_bits(found.event):
        return replace(found, test_grid=_grid_of_test(check, found.worlds))
    before, other, grid = check.spent(), None, None
    with suppress(OverTimeError, TargetError, TypeError), check.function.within(check.function.left()):
        grid = check.function.grid = _coarse_grid(check, found.worlds)
        if grid is not None:
            check.alpha, check.notes = alpha, []
            other = search_pairs(check, found.worlds, [])
    if other is None or grid is None:  # what was found stands; of anything else, nothing can be said
        return found
    if other.verdict is Verdict.VIOLATED:
        return replace(other, grid=grid, notes=(BESIDE, *other.notes))
    note = ONLY.format(spent=check.spent_words(before), grid=grid)
    return replace(found, last_bits_only=True, notes=(note, *found.notes))


def _grid_of_test(check: Check, pair: Pair) -> float | None:
    """Return a grid on which fresh runs convict the pair as well: a test on it turns green when the flaw is repaired,
    whatever the last bits of the noise tell."""
    grid, convicts = None, False
    with suppress(OverTimeError, TargetError, TypeError), check.function.within(SHARE * check.function.left()):
        grid = check.function.grid = _coarse_grid(check, pair)
        convicts = grid is not None and check.runs.screening_score(pair) == math.inf
    check.function.grid = None
    return grid if convicts else None


def _coarse_grid(check: Check, pair: Pair) -> float | None:
    """Return a power of ten that is at most a thousandth of the spread of any noisy float in the outcomes of a pair;
    None where no float is noisy, or no time is left to see it."""
    spreads: list[float] = []
    for data in pair:
        if check.function.is_too_slow(4 * RUNS):
            return None
        values: dict[Path, list[float]] = defaultdict(list)
        for outcome in check.function.outcomes(data, RUNS):
            for path, value in leaves(outcome).items():
                if isinstance(value, float) and math.isfinite(value):
                    values[path].append(value)
        for drawn in values.values():
            low, high = np.quantile(drawn, [1 / 4, 3 / 4]).tolist()
            spreads += [high - low] if 0 < high - low < math.inf else []
    power = math.floor(math.log10(min(spreads))) - FINER if spreads else -math.inf
    return 10.0**power if power > -300 else None
