"""The exponential mechanism, exact at the speed of floats, in base 2 and in base e.

A uniform U, known to some bits, is an interval; an outcome is decided when the interval lies in one cell of the
cumulative weights, in the order of the outcomes, or of their levels (`level_draws`). Floats with proved error bounds
decide nearly always. Integers decide the other cases. Bits are appended to the same U only when its interval contains a
boundary. A single draw among very many outcomes tries uniform proposals first (`uniform_proposals`).

Side channels. Bits consumed: one word a draw, for a single one among very many outcomes also those of a fixed number of
trials, and more with probability at most `straddle_bound(outcomes)`, for all data.
Time: the memory access of one search; how many outcomes matter and, where they are very many, how much they weigh; and
the slow path in integers, taken with a probability near outcomes·2^−40.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Draw, InSteps, Mechanism, NoLawError
from subnormal.mechanisms.core.validation import Utilities, as_integers, as_utilities, epsilon_claim
from subnormal.mechanisms.exponential import base2, exact_ceiling
from subnormal.mechanisms.exponential.cumulative_cells import (
    CHUNK,
    DOUBTFUL,
    LARGE,
    MANY_CELLS,
    SMALL,
    STRADDLES,
    Cells,
    all_cells,
    cells_of_chunk,
    cells_that_matter,
    decided,
    first_judge,
    judge_by_floats,
    search_of,
    that_matter,
)
from subnormal.mechanisms.exponential.enclosed_law import PRECISION, enclosed_law
from subnormal.mechanisms.exponential.family import ExponentialParameters, clamped
from subnormal.mechanisms.exponential.level_draws import Levels
from subnormal.mechanisms.exponential.uniform_proposals import TRIALS, first_accepted
from subnormal.mechanisms.privacy import Claim, Eta, selection_eta, with_failures
from subnormal.mechanisms.samplers.exact_comparison import ExactCells
from subnormal.mechanisms.samplers.float_weights import Rate, Weighing, budget_rate, scale_of
from subnormal.mechanisms.samplers.trace_laws import TraceLaw, one_word

DRAWS_AT_ONCE = 1 << 15  # draws decided at a time


def sample(
    utilities: ArrayLike,
    rate: Eta | float,
    bits: BitSource,
    n: int,
    *,
    sensitivity: float = 1.0,
) -> NDArray[np.int64]:
    """Return n indices, int64 of shape (n,), with probability exactly proportional to their weights.

    rate: an Eta, for weights 2^(−η·u) of integer utilities (2Δη|2-DP); or a budget ε in nats, for e^(−ε·u/(2Δ)) of any
    utilities, floats taken as the rationals that they are. Bits are taken in rounds: a word for every draw, then one
    more for each draw, in order, that its own do not decide; by levels, after each 2^15 words, all that these draws
    need. A single draw among more than 2^17 outcomes takes its word, then those of `uniform_proposals.first_accepted`.
    Raises ValueError for a negative n.
    Source: Ilvento 2020, Mechanism 3, for the law; the sampling is inverse transform on an interval that is refined.
    """
    return _prepared(utilities, rate, sensitivity)(bits, n)


def _prepared(
    utilities: ArrayLike, rate: Eta | float, sensitivity: float
) -> Callable[[BitSource, int], NDArray[np.int64]]:
    """Return `sample` with the best utility found."""
    vector = as_integers(utilities) if isinstance(rate, Eta) else as_utilities(utilities)
    scale = scale_of(rate, sensitivity, vector.dtype.kind, len(vector).bit_length())
    weighing = Weighing.of(vector, scale, len(vector) > SMALL)

    def draw(bits: BitSource, n: int) -> NDArray[np.int64]:
        require_draws(n)
        if n == 1:
            return np.array([_draw_one(weighing, bits)], np.int64)
        return _draw_many(weighing, bits, n)

    return draw


def _draw_one(weighing: Weighing, bits: BitSource) -> int:
    word, known = bits.take(bits.word_bits), bits.word_bits
    outcomes = len(weighing.utilities)
    if outcomes > LARGE:
        accepted = first_accepted(weighing, bits)
        if accepted is not None:
            return accepted
    positions = None if SMALL < outcomes <= LARGE else that_matter(weighing)
    if positions is not None:
        outcome = decided(weighing, positions, word, known)
        if outcome is not None:
            return outcome
        cells = cells_that_matter(weighing, positions)
    elif outcomes <= CHUNK:
        cells = all_cells(weighing)
    else:
        cells = cells_of_chunk(weighing, word / (1 << known))
    edges, width = cells.edges, cells.total / (1 << known)
    place = word * width
    cell = int(edges.searchsorted(place, side="right")) - 1
    begun = 0 <= cell < len(edges) - 1 and edges.item(cell) + cells.slack <= place
    if begun and place + width + cells.slack <= edges.item(cell + 1):
        return cells.outcome(cell)
    return _settled(ExactCells.of(weighing.utilities, weighing.scale.rate), word, known, cells.nearest(place), bits)


def _settled(exact: ExactCells, word: int, known: int, near: int, bits: BitSource) -> int:
    """Return the outcome of one draw by integers and as many bits more as decide."""
    while (outcome := exact.cell(word, known, near)) is None:
        word, known = word << bits.word_bits | bits.take(bits.word_bits), known + bits.word_bits
    return outcome


def _draw_many(weighing: Weighing, bits: BitSource, n: int) -> NDArray[np.int64]:
    positions = that_matter(weighing)
    if positions is None and bits.word_bits == 64 and MANY_CELLS < len(weighing.utilities) <= 4 * n:
        levels = Levels.of(weighing)
        if levels is not None:
            return _draw_by_levels(weighing, levels, bits, n)
    cells = all_cells(weighing) if positions is None else cells_that_matter(weighing, positions)
    chosen = np.empty(n, dtype=np.int64)
    judge, known = first_judge(cells, n, bits.word_bits), bits.word_bits
    left: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = [(np.empty(0, np.int64), np.empty(0, np.uint64))]
    for start in range(0, n, DRAWS_AT_ONCE):  # a part at a time, so that it stays in the cache
        drawn = bits.words(min(DRAWS_AT_ONCE, n - start))
        part = chosen[start : start + len(drawn)]
        judge(drawn, part)
        undecided = (part < 0).nonzero()[0]
        left.append((undecided + start, drawn[undecided]))
    pending, words = (np.concatenate(kept) for kept in zip(*left, strict=True))
    _settle(weighing, cells, bits, chosen, pending, words, known)
    return chosen


def _draw_by_levels(weighing: Weighing, levels: Levels, bits: BitSource, n: int) -> NDArray[np.int64]:
    """Return n draws, from the cumulative weights in the order of the levels."""
    chosen, exact = np.empty(n, dtype=np.int64), None
    for start in range(0, n, DRAWS_AT_ONCE):
        drawn = bits.words(min(DRAWS_AT_ONCE, n - start))
        part = chosen[start : start + len(drawn)]
        levels.judge(drawn, part)
        for at in (part == DOUBTFUL).nonzero()[0].tolist():
            exact = exact or ExactCells.of(weighing.utilities.take(levels.order), weighing.scale.rate)
            part[at] = _settled(exact, int(drawn[at]), 64, 0, bits)
        part[:] = levels.order.take(part)
    return chosen


def _settle(
    weighing: Weighing,
    cells: Cells,
    bits: BitSource,
    chosen: NDArray[np.int64],
    pending: NDArray[np.int64],
    drawn: NDArray[Any],
    known: int,
) -> None:
    """Decide the draws that the first round left: by floats while they can, by integers, by more bits, in rounds."""
    search, exact = search_of(cells, len(pending)), None
    while len(pending):
        outcomes = np.full(len(pending), DOUBTFUL)
        if known <= 64:
            judge_by_floats(cells, search, drawn, outcomes, known)
        for at in (outcomes == DOUBTFUL).nonzero()[0].tolist():
            exact = exact or ExactCells.of(weighing.utilities, weighing.scale.rate)
            near = cells.nearest(int(drawn[at]) / (1 << known) * cells.total)
            cell = exact.cell(int(drawn[at]), known, near)
            outcomes[at] = STRADDLES if cell is None else cell
        chosen[pending] = outcomes
        still = (outcomes == STRADDLES).nonzero()[0]
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


def law(utilities: ArrayLike, rate: Eta | float, *, sensitivity: float = 1.0, precision: int = PRECISION) -> Law[int]:
    """Return the distribution over indices: exact with an Eta (see `base2.law`), an enclosure in base e.

    In base e every probability is enclosed to a relative 2^−precision, about; precision is in bits, at least 8. Raises
    ValueError for fewer, and NoLawError where all probabilities need more than 2^26 bits.
    """
    if isinstance(rate, Eta):
        return base2.law(as_integers(utilities), rate)
    if precision < 8:
        raise ValueError(f"precision must be at least 8 bits, got {precision}")
    return enclosed_law(as_utilities(utilities), budget_rate(rate, sensitivity), precision)


def straddle_bound(outcomes: int) -> Fraction:
    """Return a bound on the probability that one draw takes more words than its fixed number of them.

    Each boundary lies inside at most one interval of a word: those between outcomes, and the weight of each trial.
    """
    return Fraction(outcomes - 1 + (TRIALS if outcomes > LARGE else 0), 1 << 64)


def trace_law(outcomes: Law[Any]) -> TraceLaw:
    """Return the law of (outcome, Trace) of one draw from a law over indices. NoLawError where it would make trials."""
    if len(outcomes.atoms) > LARGE:
        raise NoLawError(f"the law of the traces of trials, made beyond {LARGE} outcomes, is not known")
    return one_word(outcomes)


def _member(name: str, rate_of: Callable[[ExponentialParameters], Eta | float]) -> _Member:
    def ceiling_rate(parameters: ExponentialParameters) -> Rate:
        rate = rate_of(parameters)
        return rate if isinstance(rate, Eta) else budget_rate(rate, parameters.sensitivity)

    def prepare(data: Utilities, parameters: ExponentialParameters) -> Draw:
        return _prepared(clamped(data, parameters), rate_of(parameters), parameters.sensitivity)

    def law_member(data: Utilities, parameters: ExponentialParameters) -> Law[int]:
        return law(clamped(data, parameters), rate_of(parameters), sensitivity=parameters.sensitivity)

    def trace_law_member(data: Utilities, parameters: ExponentialParameters) -> TraceLaw:
        return trace_law(law_member(data, parameters))

    return Mechanism(
        name,
        "exponential",
        InSteps(prepare),
        epsilon_claim,
        law_member,
        exact=True,
        trace_law=trace_law_member,
        trace_claim=_trace_claim,
        symmetries=(SHIFT, PERMUTATION),
        ceiling=exact_ceiling.by_moves_and_weight(ceiling_rate),
    )


def _trace_claim(parameters: ExponentialParameters, data_in: Utilities, data_out: Utilities) -> Claim:
    """Return the promise for pairs (outcome, Trace): ε, and a δ for what takes further words in either world."""
    return with_failures(epsilon_claim(parameters, data_in, data_out), straddle_bound(parameters.limits.max_outcomes))


_Member = Mechanism[Utilities, ExponentialParameters, int]

BASE2 = _member("exponential-exact", lambda parameters: selection_eta(parameters.epsilon, parameters.sensitivity))
BASE_E = _member("exponential-exact-base-e", lambda parameters: parameters.epsilon)
