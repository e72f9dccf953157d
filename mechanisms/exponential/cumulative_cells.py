"""Cells of the cumulative weights in floats, each edge within a proved error, and which uniforms they decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.samplers.float_weights import ROW as WEIGHED_ROW
from subnormal.mechanisms.samplers.float_weights import TAIL_BITS, UNIT, Weighing

SMALL = 1 << 13  # outcomes up to which it is cheaper to look for those that matter than to add all
CHUNK = 1 << 10  # outcomes summed at a time for one draw
ROW = 1 << 7  # and for many, where every edge is kept
LARGE = 1 << 17  # outcomes beyond which looking pays again; between the two, the same work is done for all data
SEARCHED = 1 << 16  # outcomes looked through at a time
WEIGHED_AT_ONCE = 1 << 15  # outcomes weighed at a time: what the inner cache holds
MANY_CELLS = 1 << 12  # cells up to which a table of prefixes decides most draws
MANY_DRAWS = 1 << 12  # draws from which a table is worth its making
MANTISSA = 53  # bits of an integer that a float holds exactly
STRADDLES, DOUBTFUL = -1, -2  # no outcome yet: more bits are needed; floats cannot tell

# From places in [0, total) to the cells that hold them and the cells' right edges: the caller checks both edges.
Search = Callable[[NDArray[np.float64]], tuple[NDArray[np.int64], NDArray[np.float64]]]


class Cells(NamedTuple):
    """Some neighbouring cells of the cumulative weights, in floats.

    Cell j is [edges[j], edges[j + 1]) of [0, total), each edge within `slack`; −∞ and ∞ stand for the exact ends 0 and
    total, which need no slack. It belongs to outcome positions[j], or first + j where positions is None.
    """

    edges: NDArray[np.float64]
    first: int
    positions: NDArray[np.int64] | None
    total: float
    slack: float

    def outcomes(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the outcomes of cells."""
        return cells + self.first if self.positions is None else self.positions.take(cells)

    def outcome(self, cell: int) -> int:
        """Return the outcome of one cell."""
        return cell + self.first if self.positions is None else int(self.positions[cell])

    def nearest(self, place: float) -> int:
        """Return the outcome of the cell that seems to hold a place: a guess, from which integers search."""
        cell = int(self.edges.searchsorted(place, side="right")) - 1
        return self.outcome(min(max(cell, 0), len(self.edges) - 2))


def slack_of(weighing: Weighing, total: float, additions: int) -> float:
    """Return how far an edge, or a uniform times the total, may be off: twice the error of a sum of so many additions,
    of the weights in it and of what was left out, and a few units for the comparison itself."""
    return total * (2 * (weighing.scale.error + additions) + 8) * UNIT + 2 * 2.0**-TAIL_BITS


def _exact_ends(edges: NDArray[np.float64], begins: bool, ends: bool) -> NDArray[np.float64]:
    if begins:
        edges[0] = -inf
    if ends:
        edges[-1] = inf
    return edges


def that_matter(weighing: Weighing) -> NDArray[np.int64] | None:
    """Return the indices of the outcomes that matter, ascending; None as soon as they turn out to be more than few.

    Raises ValueError for a long vector without the minima of its rows.
    """
    utilities, limit = weighing.utilities, weighing.limit()
    if len(utilities) <= SMALL:
        matter: NDArray[np.bool_] = utilities <= limit
        return matter.nonzero()[0]
    minima = weighing.minima
    if minima is None:
        raise ValueError(f"a vector of more than {SMALL} utilities must be cut into rows")
    rows, whole = (minima <= limit).nonzero()[0], len(minima) * WEIGHED_ROW  # other rows are not read again
    at_once = SEARCHED // WEIGHED_ROW
    in_rows, found, count = utilities[:whole].reshape(-1, WEIGHED_ROW), [], 0
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        place = (in_rows[some] <= limit).ravel().nonzero()[0]  # of two dimensions numpy takes many times as long
        count += len(place)
        if count > SEARCHED // 4 + start * WEIGHED_ROW // 16:
            return None
        found.append(some[place // WEIGHED_ROW] * WEIGHED_ROW + place % WEIGHED_ROW)
    found.append((utilities[whole:] <= limit).nonzero()[0] + whole)
    return np.concatenate(found)


def decided(weighing: Weighing, positions: NDArray[np.int64], word: int, known: int) -> int | None:
    """Return the outcome of one draw of so many known bits, among those that matter; None where floats cannot tell.

    As by `cells_that_matter`, with the same errors; the ends of [0, total) need slack here, too.
    """
    sums = np.add.accumulate(weighing.weigh(weighing.utilities.take(positions)))
    total: float = sums.item(-1)
    width, slack = total / (1 << known), slack_of(weighing, total, len(sums))
    place = word * width
    cell = int(sums.searchsorted(place, side="right"))
    begins = sums.item(cell - 1) if cell else 0.0
    if cell == len(sums) or begins + slack > place or place + width + slack > sums.item(cell):
        return None
    return positions.item(cell)


def cells_that_matter(weighing: Weighing, positions: NDArray[np.int64]) -> Cells:
    """Return the cells of the outcomes at the positions: what the others weigh together is part of the slack."""
    weights = weighing.weigh(weighing.utilities.take(positions))
    edges = np.empty(len(weights) + 1)
    edges[0] = 0.0
    weights.cumsum(out=edges[1:])
    total = edges.item(-1)
    _exact_ends(edges, positions.item(0) == 0, positions.item(-1) == len(weighing.utilities) - 1)
    return Cells(edges, 0, positions, total, slack_of(weighing, total, len(weights)))


def all_cells(weighing: Weighing) -> Cells:
    """Return the cells of all outcomes."""
    outcomes = len(weighing.utilities)
    padded = np.zeros(1 + -(-outcomes // ROW) * ROW)
    for start, weights in _weights_in_pieces(weighing):
        padded[1 + start : 1 + start + len(weights)] = weights
    additions = _running_sums(padded[1:])
    edges = padded[: outcomes + 1]
    total = float(edges[-1])
    return Cells(_exact_ends(edges, True, True), 0, None, total, slack_of(weighing, total, additions))


def _running_sums(values: NDArray[np.float64]) -> int:
    """Replace values by their running sums; return how many additions lie between any value and any sum.

    Row by row, with the rows' own sums summed alike, so that a million values take 400 additions and not a million.
    """
    if len(values) % ROW:
        values.cumsum(out=values)
        return len(values)
    rows = values.reshape(-1, ROW)
    np.cumsum(rows, axis=1, out=rows)
    before = rows[:-1, -1].copy()
    additions = _running_sums(before) if len(before) else 0
    rows[1:] += before[:, np.newaxis]
    return additions + ROW + 1


def _weights_in_pieces(weighing: Weighing) -> Iterator[tuple[int, NDArray[np.float64]]]:
    for start in range(0, len(weighing.utilities), WEIGHED_AT_ONCE):
        yield start, weighing.weigh(weighing.utilities[start : start + WEIGHED_AT_ONCE])


def cells_of_chunk(weighing: Weighing, share: float) -> Cells:
    """Return the cells of the one chunk in which the share of the total lies: the others are only summed."""
    outcomes = len(weighing.utilities)
    sums = np.zeros(-(-outcomes // CHUNK))
    for start, weights in _weights_in_pieces(weighing):
        whole = len(weights) // CHUNK * CHUNK
        at = start // CHUNK
        np.add.reduce(weights[:whole].reshape(-1, CHUNK), axis=1, out=sums[at : at + whole // CHUNK])
        if whole < len(weights):
            sums[-1] = weights[whole:].sum()
    ends = sums.cumsum()
    total = float(ends[-1])
    chunk = min(int(ends.searchsorted(share * total, side="right")), len(ends) - 1)
    first = chunk * CHUNK
    inner = weighing.weigh(weighing.utilities[first : first + CHUNK]).cumsum()
    edges = np.append(0.0, inner)
    edges += ends[chunk - 1] if chunk else 0.0
    _exact_ends(edges, chunk == 0, chunk == len(ends) - 1)
    return Cells(edges, first, None, total, slack_of(weighing, total, CHUNK + len(ends)))


def first_judge(cells: Cells, n: int, known: int) -> Callable[[NDArray[np.uint64], NDArray[np.int64]], None]:
    """Return the function that judges the first words: by a table of prefixes where that pays, else by floats."""
    if known == 64 and n >= MANY_DRAWS and len(cells.edges) <= MANY_CELLS:
        prefix_bits = len(cells.edges).bit_length() + 6  # at most one prefix in 64 holds an edge
        table, shift = prefix_table(cells, 1 << prefix_bits), np.uint64(64 - prefix_bits)

        def judge(drawn: NDArray[np.uint64], found: NDArray[np.int64]) -> None:
            table.take((drawn >> shift).view(np.int64), out=found, mode="clip")

        return judge
    return partial(judge_by_floats, cells, search_of(cells, n), known=known)


def prefix_table(cells: Cells, size: int) -> NDArray[np.int64]:
    """Return the outcome of each of `size` equal parts of [0, total) that lies in one cell, `STRADDLES` elsewhere."""
    width = cells.total / size
    begins = np.ceil((cells.edges[:-1] + cells.slack) / width)
    ends = np.floor((cells.edges[1:] - cells.slack) / width)
    begins, ends = (np.clip(edge, 0, size).astype(np.int64) for edge in (begins, ends))
    whole = (begins < ends).nonzero()[0]
    marks = np.stack([begins[whole], ends[whole]], axis=1).ravel()
    values = np.full(len(marks) + 1, STRADDLES)
    values[1::2] = cells.outcomes(whole)
    return np.repeat(values, np.diff(marks, prepend=0, append=size))


def places_of(drawn: NDArray[np.uint64], known: int, width: float) -> NDArray[np.float64]:
    """Return where draws of so many known bits begin, as floats rounded down, where a draw is `width` wide."""
    spare = max(0, known - MANTISSA)  # cut, a place is below the total and its conversion to a float is exact
    return cast("NDArray[np.float64]", (drawn >> np.uint64(spare)).view(np.int64) * (width * (1 << spare)))


def judge_by_floats(
    cells: Cells, search: Search, drawn: NDArray[np.uint64], found: NDArray[np.int64], known: int
) -> None:
    """Write to `found` what floats decide of draws of so many known bits: an outcome, `STRADDLES` or `DOUBTFUL`."""
    width, slack = cells.total / (1 << known), cells.slack
    begin = places_of(drawn, known, width)
    cell, right = search(begin)
    left: NDArray[np.float64] = cells.edges.take(cell, mode="clip")
    inside = (left <= begin - slack) & (begin + (width + slack) <= right)
    found[:] = cells.outcomes(cell)
    outside = (~inside).nonzero()[0]
    start, stop = begin[outside], right[outside]
    straddles = (start + slack < stop) & (stop < start + (width - slack))
    found[outside] = np.where(straddles, STRADDLES, DOUBTFUL)


def search_of(cells: Cells, draws: int) -> Search:
    """Return a function from places in [0, total) to cells and their ends: any answer is checked afterwards."""
    ends, last = cells.edges[1:], len(cells.edges) - 2

    def by_bisection(places: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        cell = np.minimum(ends.searchsorted(places, side="right"), last)
        return cell, ends.take(cell)

    if draws < MANY_DRAWS or last < MANY_CELLS:
        return by_bisection
    size = 1 << last.bit_length()
    per_bucket = size / cells.total
    after = np.empty(last, dtype=np.int64)  # the first bucket that begins after the end of each cell
    np.multiply(ends[:-1], per_bucket, out=after, casting="unsafe")
    after += 1
    guide = np.bincount(after, minlength=size).cumsum(dtype=np.int32)  # the first cell that ends in or after a bucket

    def by_guide(places: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        cell = guide.take((places * per_bucket).astype(np.int64), mode="clip").astype(np.int64)
        end = ends.take(cell, mode="clip")
        behind = (end <= places).nonzero()[0]
        late, place = cell[behind], places[behind]
        while (short := ends.take(late, mode="clip") <= place).any():
            late += short
        cell[behind], end[behind] = late, ends.take(late, mode="clip")
        return cell, end

    return by_guide
