"""Many draws among many outcomes of few distinct utilities: a level, then a place in it, by arithmetic, not by search.

The outcomes are sorted by utility, so that those of a level are neighbours, in their own order. The cells of a level
are equally wide: which of them holds a uniform is a division, and only the sorted list is memory out of the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential.cumulative_cells import (
    DOUBTFUL,
    MANTISSA,
    STRADDLES,
    Cells,
    prefix_table,
    slack_of,
)
from subnormal.mechanisms.samplers.float_weights import Weighing

LEVELS_MAX = 1 << 8  # a distance in a byte is sorted in one pass
ROUNDINGS = 8  # of a place, its distance from the level's edge, and that over a weight, in units of the total


class Levels(NamedTuple):
    """The levels that matter, best first, and the outcomes sorted by level.

    Level i begins at edges[i] of [0, total) and at place begins[i] of `order`; each[i] is 1 over an outcome's weight.
    Within `margin` of either end of an outcome's cell, as a share of it, floats cannot tell which cell it is.
    """

    order: NDArray[np.int64]
    begins: NDArray[np.int64]
    edges: NDArray[np.float64]
    each: NDArray[np.float64]
    margin: NDArray[np.float64]
    guide: NDArray[np.int64]  # the level of each prefix of a word, or STRADDLES

    @classmethod
    def of(cls, weighing: Weighing) -> Levels | None:
        """Return the levels; None where η has no table of at most `LEVELS_MAX` powers."""
        table = weighing.scale.table
        if table is None or len(table) > LEVELS_MAX:
            return None
        near: Utilities = np.minimum(weighing.utilities, weighing.limit() + 1)
        near -= weighing.best
        distances = near.astype(np.uint8)
        counts = np.bincount(distances, minlength=len(table))
        levels = counts[: len(table) - 1].nonzero()[0]
        weights = table.take(levels)
        edges = np.append(0.0, (counts[levels] * weights).cumsum())
        slack = slack_of(weighing, edges.item(-1), len(levels) + ROUNDINGS)
        bits = len(edges).bit_length() + 6
        return cls(
            np.argsort(distances, kind="stable"),
            (counts.cumsum() - counts)[levels],
            edges,
            1 / weights,
            slack / weights,
            prefix_table(Cells(edges, 0, None, edges.item(-1), slack), 1 << bits),
        )

    def judge(self, drawn: NDArray[np.uint64], found: NDArray[np.int64]) -> None:
        """Write the place in `order` of each draw of 64 bits to `found`, `DOUBTFUL` where floats cannot tell."""
        begin = (drawn >> np.uint64(64 - MANTISSA)).view(np.int64) * (self.edges.item(-1) / (1 << MANTISSA))
        level = self.guide.take((drawn >> np.uint64(65 - len(self.guide).bit_length())).view(np.int64))
        left = (level == STRADDLES).nonzero()[0]
        level[left] = np.minimum(self.edges[1:].searchsorted(begin[left], side="right"), len(self.each) - 1)
        begin -= self.edges.take(level)
        begin *= self.each.take(level)
        np.copyto(found, begin, casting="unsafe")
        begin -= found
        margin = self.margin.take(level)
        doubtful = begin < margin
        margin += begin
        doubtful |= margin > 1
        found += self.begins.take(level)
        found[doubtful] = DOUBTFUL
