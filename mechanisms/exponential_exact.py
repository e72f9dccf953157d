"""The exponential mechanism, exact at the speed of floats, in base 2 and in base e, without rejection.

A uniform U, known to some bits, is an interval; an outcome is decided when the interval lies in one cell of the
cumulative weights, in the order of the outcomes. Floats with proved error bounds decide nearly always; integers decide
what they cannot; and only when U's own interval straddles a boundary are bits appended to the same U.

What it leaks. Bits consumed: one word a draw, and more only with probability at most (outcomes − 1)·2^−64, whatever the
data. Time: the memory access of one search; how many outcomes matter, where there are few or very many (not with
constant_work); and the slow path in integers, taken with a probability near outcomes·2^−40.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, inf
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanisms import exponential_base2
from mechanisms.bits import BitSource
from mechanisms.certified import (
    EXPONENTIAL_ERROR,
    TABLE_MAX,
    TAIL_BITS,
    UNIT,
    Rate,
    exponent_error,
    exponential,
    nats,
    power_error,
    power_table,
    reach,
)
from mechanisms.exponential import ExponentialParameters, Utilities, as_utilities, claim
from mechanisms.interface import Mechanism, Outcomes
from mechanisms.law import Law, runs_of
from mechanisms.privacy import Eta, require_positive, selection_eta
from mechanisms.undecided import Undecided, weight_bounds

SMALL = 1 << 13  # outcomes up to which it is cheaper to look for those that matter than to add all
BLOCK = 1 << 10  # outcomes summed at a time for one draw
ROW = 1 << 7  # and for many, where every edge is kept
LARGE = 1 << 17  # outcomes beyond which looking pays again; between the two, the same work is done for all data
SEARCHED = 1 << 16  # outcomes looked through at a time
SUPERBLOCK = 1 << 15  # outcomes weighed at a time: what the inner cache holds
INT64_MAX = (1 << 63) - 1

MANY_CELLS = 1 << 12  # cells up to which a table of prefixes decides most draws
MANY_DRAWS = 1 << 12  # draws from which a table is worth its making
JUDGED = 1 << 14  # draws judged at a time
STRADDLES, DOUBTFUL = -1, -2  # no outcome yet: more bits are needed; floats cannot tell


def sample(
    utilities: ArrayLike,
    rate: Eta | float,
    bits: BitSource,
    n: int,
    *,
    sensitivity: float = 1.0,
    constant_work: bool = False,
) -> NDArray[np.int64]:
    """Return n indices, int64 of shape (n,), with probability exactly proportional to their weights.

    rate: an Eta, for weights 2^(−η·u) of integer utilities (2Δη|2-DP); or a budget ε in nats, for e^(−ε·u/(2Δ)) of any
    utilities, floats taken as the rationals that they are. Bits are taken in rounds: a word for every draw, then one
    more for each draw, in order, that its own do not decide. constant_work weighs every outcome, whatever the data.
    Source: Ilvento 2020, Mechanism 3, for the law; the sampling is inverse transform on an interval that is refined.
    """
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    vector = _integers(utilities) if isinstance(rate, Eta) else as_utilities(utilities)
    scale = _scale(rate, sensitivity, vector.dtype.kind, len(vector).bit_length())
    weighing = _Weighing(vector, vector.min().item(), scale)
    if n == 1:
        return np.array([_draw_one(weighing, bits, constant_work)], dtype=np.int64)
    return _draw_many(weighing, bits, n, constant_work)


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """How to weigh distances from the best utility in floats: by a table of powers, or by a real exponential."""

    rate: Rate
    table: NDArray[np.float64] | None  # B^0, B^1, …, and 0 for everything beyond
    slope: float  # nats per unit of utility
    extent: int | float  # the largest distance that matters: all outcomes beyond it weigh too little together
    error: int  # of each weight, in units of 2^−53


@lru_cache(maxsize=256)
def _scale(rate: Eta | float, sensitivity: float, kind: str, size_bits: int) -> _Scale:
    if isinstance(rate, Eta):
        size = reach(rate, size_bits) + 1
        if size <= TABLE_MAX:
            return _Scale(rate, power_table(rate, size), 0.0, size - 1, power_error(size))
    exact_rate = rate if isinstance(rate, Eta) else budget_rate(rate, sensitivity)
    slope, largest = float(nats(exact_rate)[0]), 0.7 * (TAIL_BITS + size_bits) + 1  # 0.7 > ln 2
    extent = largest / slope if kind == "f" else min(ceil(largest / Fraction(slope)), INT64_MAX)
    return _Scale(exact_rate, None, slope, extent, EXPONENTIAL_ERROR + exponent_error(largest))


def budget_rate(epsilon: float, sensitivity: float) -> Fraction:
    """Return the rate at which weights fall in base e, in nats per unit of utility: the rational ε/(2Δ)."""
    require_positive("epsilon", epsilon)
    require_positive("sensitivity", sensitivity)
    return Fraction(epsilon) / (2 * Fraction(sensitivity))


class _Weighing(NamedTuple):
    """A vector of utilities, and how to weigh it."""

    utilities: Utilities
    best: int | float
    scale: _Scale

    def limit(self) -> int | float:
        """Return the largest utility that matters."""
        limit = self.best + self.scale.extent
        return limit if isinstance(limit, float) else min(limit, INT64_MAX - 1)

    def weigh(self, utilities: Utilities) -> NDArray[np.float64]:
        """Return the weights of some of the utilities, relative to the best, each within its error or 0."""
        table = self.scale.table
        if table is not None:
            if self.best < 0:  # a difference might overflow
                utilities = np.minimum(utilities, self.limit() + 1)
            return table.take(utilities - int(self.best), mode="clip")
        with np.errstate(over="ignore"):  # a distance of ∞ weighs 0
            exponents = _distances(utilities, self.best)
            exponents *= self.scale.slope
        return exponential(exponents)


def _distances(utilities: Utilities, best: int | float) -> NDArray[np.float64]:
    """Return u − best as floats, rounded once: of integers it is exact modulo 2^64, and never negative."""
    if utilities.dtype.kind == "f":
        differences: NDArray[np.float64] = utilities - best
        return differences
    return (utilities.view(np.uint64) - np.array(best, dtype=np.int64).view(np.uint64)).astype(np.float64)


class _Cells(NamedTuple):
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


def _slack(weighing: _Weighing, total: float, additions: int) -> float:
    """Return how far an edge, or a uniform times the total, may be off: twice the error of a sum of so many additions,
    of the weights in it and of what was left out, and a few units for the comparison itself."""
    return total * (2 * (weighing.scale.error + additions) + 8) * UNIT + 2 * 2.0**-TAIL_BITS


def _exact_ends(edges: NDArray[np.float64], begins: bool, ends: bool) -> NDArray[np.float64]:
    if begins:
        edges[0] = -inf
    if ends:
        edges[-1] = inf
    return edges


def _that_matter(weighing: _Weighing) -> NDArray[np.int64] | None:
    """Return the indices of the outcomes that matter, ascending; None as soon as they turn out to be more than few."""
    utilities, limit = weighing.utilities, weighing.limit()
    if len(utilities) <= SMALL:
        return (utilities <= limit).nonzero()[0]
    found, count = [], 0
    for start in range(0, len(utilities), SEARCHED):
        here = (utilities[start : start + SEARCHED] <= limit).nonzero()[0]
        count += len(here)
        if count > SEARCHED // 4 + start // 16:
            return None
        found.append(here + start)
    return np.concatenate(found)


def _cells_that_matter(weighing: _Weighing, positions: NDArray[np.int64]) -> _Cells:
    sums = weighing.weigh(weighing.utilities.take(positions)).cumsum()
    edges = np.empty(len(sums) + 1)
    edges[0], edges[1:] = 0.0, sums
    total, outcomes = float(sums[-1]), len(weighing.utilities)
    _exact_ends(edges, positions[0] == 0, positions[-1] == outcomes - 1)
    return _Cells(edges, 0, positions, total, _slack(weighing, total, len(sums)))


def _all_cells(weighing: _Weighing) -> _Cells:
    """Return the cells of all outcomes."""
    outcomes = len(weighing.utilities)
    padded = np.zeros(1 + -(-outcomes // ROW) * ROW)
    for start, weights in _weights_by_superblock(weighing):
        padded[1 + start : 1 + start + len(weights)] = weights
    additions = _running_sums(padded[1:])
    edges = padded[: outcomes + 1]
    total = float(edges[-1])
    return _Cells(_exact_ends(edges, True, True), 0, None, total, _slack(weighing, total, additions))


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


def _weights_by_superblock(weighing: _Weighing) -> Iterator[tuple[int, NDArray[np.float64]]]:
    for start in range(0, len(weighing.utilities), SUPERBLOCK):
        yield start, weighing.weigh(weighing.utilities[start : start + SUPERBLOCK])


def _cells_of_block(weighing: _Weighing, share: float) -> _Cells:
    """Return the cells of the one block in which the share of the total lies: the others are only summed."""
    outcomes = len(weighing.utilities)
    sums = np.zeros(-(-outcomes // BLOCK))
    for start, weights in _weights_by_superblock(weighing):
        whole = len(weights) // BLOCK * BLOCK
        at = start // BLOCK
        np.add.reduce(weights[:whole].reshape(-1, BLOCK), axis=1, out=sums[at : at + whole // BLOCK])
        if whole < len(weights):
            sums[-1] = weights[whole:].sum()
    ends = sums.cumsum()
    total = float(ends[-1])
    block = min(int(ends.searchsorted(share * total, side="right")), len(ends) - 1)
    first = block * BLOCK
    inner = weighing.weigh(weighing.utilities[first : first + BLOCK]).cumsum()
    edges = np.append(0.0, inner)
    edges += ends[block - 1] if block else 0.0
    _exact_ends(edges, block == 0, block == len(ends) - 1)
    return _Cells(edges, first, None, total, _slack(weighing, total, BLOCK + len(ends)))


def _draw_one(weighing: _Weighing, bits: BitSource, constant_work: bool) -> int:
    word, known = bits.take(bits.word_bits), bits.word_bits
    outcomes = len(weighing.utilities)
    look = not constant_work and not SMALL < outcomes <= LARGE
    positions = _that_matter(weighing) if look else None
    if positions is not None:
        cells = _cells_that_matter(weighing, positions)
    elif outcomes <= BLOCK:
        cells = _all_cells(weighing)
    else:
        cells = _cells_of_block(weighing, word / (1 << known))
    edges, width = cells.edges, cells.total / (1 << known)
    place = word * width
    cell = int(edges.searchsorted(place, side="right")) - 1
    begun = 0 <= cell < len(edges) - 1 and edges.item(cell) + cells.slack <= place
    if begun and place + width + cells.slack <= edges.item(cell + 1):
        return cells.outcome(cell)
    near = cells.outcome(min(max(cell, 0), len(edges) - 2))
    exact = Undecided.of(weighing.utilities, weighing.scale.rate)
    while (decided := exact.cell(word, known, near)) is None:
        word, known = word << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits
    return decided


def _draw_many(weighing: _Weighing, bits: BitSource, n: int, constant_work: bool) -> NDArray[np.int64]:
    positions = None if constant_work else _that_matter(weighing)
    cells = _all_cells(weighing) if positions is None else _cells_that_matter(weighing, positions)
    chosen = np.empty(n, dtype=np.int64)
    judge, known = _first_judge(cells, n, bits.word_bits), bits.word_bits
    left: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = [(np.empty(0, np.int64), np.empty(0, np.uint64))]
    for start in range(0, n, JUDGED):  # a part at a time, so that it stays in the cache
        drawn = bits.words(min(JUDGED, n - start))
        part = chosen[start : start + len(drawn)]
        judge(drawn, part)
        undecided = (part < 0).nonzero()[0]
        left.append((undecided + start, drawn[undecided]))
    pending, words = (np.concatenate(kept) for kept in zip(*left, strict=True))
    _settle(weighing, cells, bits, chosen, pending, words, known)
    return chosen


def _settle(
    weighing: _Weighing,
    cells: _Cells,
    bits: BitSource,
    chosen: NDArray[np.int64],
    pending: NDArray[np.int64],
    drawn: NDArray[Any],
    known: int,
) -> None:
    """Decide the draws that the first round left: by floats while they can, by integers, by more bits, in rounds."""
    search, exact = _search(cells, len(pending)), None
    while len(pending):
        found = np.full(len(pending), DOUBTFUL)
        if known <= 64:
            _judge(cells, search, drawn, found, known)
        for at in (found == DOUBTFUL).nonzero()[0].tolist():
            exact = exact or Undecided.of(weighing.utilities, weighing.scale.rate)
            guess = cells.edges.searchsorted(int(drawn[at]) / (1 << known) * cells.total, side="right") - 1
            cell = exact.cell(int(drawn[at]), known, cells.outcome(min(max(int(guess), 0), len(cells.edges) - 2)))
            found[at] = STRADDLES if cell is None else cell
        chosen[pending] = found
        still = (found == STRADDLES).nonzero()[0]
        pending, drawn = pending[still], drawn[still]
        if len(pending):
            drawn = _appended(drawn, bits.words(len(pending)), known, bits.word_bits)
            known += bits.word_bits


def _appended(drawn: NDArray[Any], words: NDArray[np.uint64], known: int, word_bits: int) -> NDArray[Any]:
    """Return the draws with a word more each: Python integers where 64 bits do not hold them."""
    if known + word_bits > 64:
        wider: NDArray[Any] = (drawn.astype(object) << word_bits) | words.astype(object)
        return wider
    return (drawn << np.uint64(word_bits)) | words


def _first_judge(cells: _Cells, n: int, known: int) -> Callable[[NDArray[np.uint64], NDArray[np.int64]], None]:
    """Return the function that judges the first words: by a table of prefixes where that pays, else by floats."""
    if known == 64 and n >= MANY_DRAWS and len(cells.edges) <= MANY_CELLS:
        prefix_bits = len(cells.edges).bit_length() + 6  # at most one prefix in 64 holds an edge
        table, shift = _prefix_table(cells, 1 << prefix_bits), np.uint64(64 - prefix_bits)

        def judge(drawn: NDArray[np.uint64], found: NDArray[np.int64]) -> None:
            table.take((drawn >> shift).view(np.int64), out=found, mode="clip")

        return judge
    return partial(_judge, cells, _search(cells, n), known=known)


def _prefix_table(cells: _Cells, size: int) -> NDArray[np.int64]:
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


def _judge(
    cells: _Cells,
    search: Callable[[NDArray[np.float64]], NDArray[np.int64]],
    drawn: NDArray[np.uint64],
    found: NDArray[np.int64],
    known: int,
) -> None:
    """Write to `found` what floats decide of draws of so many known bits: an outcome, `STRADDLES` or `DOUBTFUL`."""
    width, slack = cells.total / (1 << known), cells.slack
    begin = cast("NDArray[np.float64]", drawn * width)
    cell = search(begin)
    left: NDArray[np.float64] = cells.edges.take(cell)
    right: NDArray[np.float64] = cells.edges.take(cell + 1)
    inside = (left <= begin - slack) & (begin + (width + slack) <= right)
    found[:] = cells.outcomes(cell)
    outside = (~inside).nonzero()[0]
    start, stop = begin[outside], right[outside]
    straddles = (start + slack < stop) & (stop < start + (width - slack))
    found[outside] = np.where(straddles, STRADDLES, DOUBTFUL)


def _search(cells: _Cells, draws: int) -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
    """Return a function from places in [0, total] to cells: any answer is checked against the edges afterwards."""
    ends, last = cells.edges[1:], len(cells.edges) - 2

    def by_bisection(places: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.minimum(ends.searchsorted(places, side="right"), last)

    if draws < MANY_DRAWS or last < MANY_CELLS:
        return by_bisection
    size = 1 << last.bit_length()
    per_bucket = size / cells.total
    in_bucket = np.bincount((ends[:-1] * per_bucket).astype(np.int64), minlength=size)
    guide = np.zeros(size, dtype=np.int32)  # the first cell that ends in or after the bucket
    guide[1:] = in_bucket.cumsum(out=in_bucket)[: size - 1]

    def by_guide(places: NDArray[np.float64]) -> NDArray[np.int64]:
        cell = guide.take((places * per_bucket).astype(np.int64), mode="clip").astype(np.int64)
        behind = (ends.take(cell, mode="clip") <= places).nonzero()[0]
        while len(behind):
            cell[behind] += 1
            behind = behind[ends.take(cell[behind], mode="clip") <= places[behind]]
        return np.minimum(cell, last)

    return by_guide


def law(utilities: ArrayLike, rate: Eta | float, *, sensitivity: float = 1.0, precision: int = 128) -> Law[int]:
    """Return the distribution over indices: exact with an Eta, an enclosure in base e.

    In base e every probability is enclosed to a relative 2^−precision, about; precision is in bits, at least 8.
    """
    if isinstance(rate, Eta):
        return exponential_base2.law(_integers(utilities), rate)
    if precision < 8:
        raise ValueError(f"precision must be at least 8 bits, got {precision}")
    vector = as_utilities(utilities)
    ends = runs_of(vector)
    values = [Fraction(value) for value in vector[ends - 1].tolist()]
    best, worst = min(values), max(values)
    exact_rate = budget_rate(rate, sensitivity)
    bits = precision + len(vector).bit_length() + ceil((worst - best) * exact_rate * Fraction(3, 2))  # 3/2 > 1/ln 2
    bounds = {value: weight_bounds(exact_rate, value - best, bits) for value in set(values)}
    low, high = ([bounds[value][side] for value in values] for side in (0, 1))
    counts = np.diff(ends, prepend=0).tolist()
    least, most = (sum(n * mass for n, mass in zip(counts, side, strict=True)) for side in (low, high))
    return Law(
        range(len(vector)),
        ends,
        [(mass << bits) // most for mass in low],
        [-((-mass << bits) // least) for mass in high],
        1 << bits,
        Fraction(0),
    )


def _integers(utilities: ArrayLike) -> Utilities:
    vector = as_utilities(utilities)
    if vector.dtype.kind != "i":
        raise ValueError("utilities must be integers with an Eta, got floats; round them or pass a budget in nats")
    return vector


def _member(name: str, rate_of: Callable[[ExponentialParameters], Eta | float]) -> _Member:
    def sample_member(data: Utilities, parameters: ExponentialParameters, bits: BitSource, n: int) -> Outcomes:
        return sample(_clamped(data, parameters), rate_of(parameters), bits, n, sensitivity=parameters.sensitivity)

    def law_member(data: Utilities, parameters: ExponentialParameters) -> Law[int]:
        return law(_clamped(data, parameters), rate_of(parameters), sensitivity=parameters.sensitivity)

    return Mechanism(name, "exponential", sample_member, claim, law_member, exact=True)


def _clamped(data: Utilities, parameters: ExponentialParameters) -> Utilities:
    return np.clip(data, parameters.limits.utility_min, parameters.limits.utility_max)


_Member = Mechanism[Utilities, ExponentialParameters, int]

BASE2 = _member("exponential-exact", lambda parameters: selection_eta(parameters.epsilon, parameters.sensitivity))
BASE_E = _member("exponential-exact-base-e", lambda parameters: parameters.epsilon)
