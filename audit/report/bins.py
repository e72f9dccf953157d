"""The bins of a chart: bars if they are few, otherwise merged to bins of equal width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.model import Pair, Sketch
from subnormal.audit.text import given

FEW = 8  # outcomes; so few are drawn as bars
BINS = 80  # after merging
TAIL_LEFT_OUT = 0.0005  # mass beyond each end of the bins, drawn in the outermost bin


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Masses by bin, ends ascending: bin i is (ends[i − 1], ends[i]] if bins were merged, otherwise the value ends[i].

    names: of the bars, if there are few; bars are evenly spaced. Otherwise empty.
    """

    axis: str
    ends: NDArray[np.float64]
    merged: bool
    sampled: Pair | None  # (in, out), each of shape (bins,)
    law: Pair | None
    names: tuple[str, ...]

    @property
    def pairs(self) -> list[tuple[str, Pair]]:
        """The pairs of masses to draw, by name."""
        named = (("sampled", self.sampled), ("law", self.law))
        return [(name, pair) for name, pair in named if pair is not None and any(masses.any() for masses in pair)]


def of(sketch: Sketch, most: int | None = None) -> Histogram:
    """Return the bins of a sketch. Bins of equal width stay as they are, unless there are more than `most`."""
    ends, pairs = sketch.edges, (sketch.sampled, sketch.law)
    absent = "refused" if sketch.axis == "outcome" else "none"
    names = [absent if np.isneginf(end) else given(end, 10) for end in ends[: FEW + 1]]
    even = len(ends) <= FEW or np.allclose(np.diff(ends), ends[1] - ends[0])
    finite = ends[np.isfinite(ends)]
    width = float(ends[1] - ends[0]) if even and len(ends) > 1 else float(np.array_equal(finite, np.round(finite)))
    merged = False
    empty = not any(masses.any() for pair in pairs if pair is not None for masses in pair)
    if not empty and (not even or len(ends) > (most or len(ends))):
        ends, pairs = _binned(ends, pairs, width)
        merged = not width or len(ends) < 2 or ends[1] - ends[0] > width
        if len(ends) == 2:  # nearly all of the mass has one value
            names = [absent, "a number"] if np.isneginf(ends[0]) else [f"{given(ends[0], 10)} or less", "more"]
    whole = np.array_equal(ends, np.round(ends))
    axis = "outcome (−1: refused)" if ends[0] == -1 and whole and sketch.axis == "outcome" else sketch.axis
    return Histogram(axis, ends, merged, *pairs, tuple(names) if len(ends) <= FEW else ())


def _binned(
    ends: NDArray[np.float64], pairs: tuple[Pair | None, Pair | None], width: float
) -> tuple[NDArray[np.float64], tuple[Pair | None, Pair | None]]:
    """Return bins of equal width, without the tails: multiples of the old width, or of 1 for integers."""
    total = np.sum([masses for pair in pairs if pair is not None for masses in pair], axis=0)
    shares = np.cumsum(total) / total.sum()
    low, high = (ends[np.searchsorted(shares, share)] for share in (TAIL_LEFT_OUT, 1 - TAIL_LEFT_OUT))
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        grid = np.array([low, np.inf])
    elif width:
        step = width * np.ceil((high - low) / width / BINS)
        grid = low + step * np.arange(np.ceil((high - low) / step) + 1)
    else:
        grid = np.linspace(low, high, BINS)
    bins = np.minimum(np.searchsorted(grid, ends), len(grid) - 1)
    within = pairs[1] is None and not width and np.isfinite(grid).all()  # bins of a pilot are intervals, not atoms

    def sums(masses: NDArray[np.float64]) -> NDArray[np.float64]:
        if not within:
            return np.bincount(bins, weights=masses, minlength=len(grid)).astype(np.float64)
        finite, until = np.isfinite(ends), np.cumsum(masses)  # assumes an even density within each bin
        return np.diff(np.append(np.interp(grid[:-1], ends[finite], until[finite]), until[-1]), prepend=0.0)

    first, second = (None if pair is None else (sums(pair[0]), sums(pair[1])) for pair in pairs)
    return grid, (first, second)
