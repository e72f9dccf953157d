"""Claims about correlated noise: the sensitivity of a strategy matrix under a pattern of participation.

The mechanism releases C·x + Gaussian noise, where row t of x is the sum of the gradients of step t. A record adds
vectors of norm at most 1 to at most `participations` steps, any two of which are at least `separation` apart. The
sensitivity is the largest norm of C·u over such additions u. With X = CᵀC it is the root of the largest
Σ X_st·⟨u_s, u_t⟩ over steps s, t of a pattern: at most Σ|X_st|, and that where X has no negative entry. Signs ±1 for
the u_s prove lower bounds. X is rational, as floats are, and roots are rounded outwards.
Source: Denisov et al. 2022; Choquette-Choo et al. 2023, "(Amplified) banded matrix factorization", Section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from subnormal.audit.claims.kind import Bounds, Kind
from subnormal.mechanisms.numerics.interval import hull, sqrt

FEW = 12  # steps, up to which every pattern is tried
Gram = Sequence[Sequence[Fraction]]


def matrix(matrix: Sequence[Sequence[float]], separation: int, participations: int) -> Bounds:
    """Bounds from all patterns of a strategy matrix of at most `FEW` steps, given by its rows."""
    return _every_pattern(_gram(matrix), separation, participations)


def toeplitz(coefficients: Sequence[float], steps: int, separation: int, participations: int) -> Bounds:
    """Bounds of the matrix with C_ij = coefficients[i − j], from all patterns up to `FEW` steps.

    For more steps: where columns of a pattern are orthogonal, the best pattern of single columns, which is exact; where
    coefficients fall and are not negative, the steps 0, b, 2b, …, which is exact (Kalinin and Lampert 2024, Theorem 2);
    else equally spaced patterns from below, and the upper bound of Choquette-Choo et al. 2023, Algorithm 4.
    """
    first = [Fraction(one) for one in (*coefficients[:steps], *[0.0] * (steps - len(coefficients)))]
    gram = [[Fraction(0)] * (steps + 1) for _ in range(steps + 1)]
    for i, j in product(reversed(range(steps)), repeat=2):  # column i has the coefficients up to steps − 1 − i
        gram[i][j] = gram[i + 1][j + 1] + first[steps - 1 - i] * first[steps - 1 - j]
    gram = [row[:steps] for row in gram[:steps]]
    if steps <= FEW:
        return _every_pattern(gram, separation, participations)
    if len(coefficients) <= separation:
        best = _best([gram[i][i] for i in range(steps)], separation, participations)
        return _roots(best, best)
    spaced = [range(start, steps, separation)[:participations] for start in range(separation)]
    low = max(_signed(gram, one) for one in spaced)
    if all(one >= other >= 0 for one, other in zip(first, [*first[1:], Fraction(0)], strict=True)):
        return _roots(low, low)
    rows = [_best([abs(entry) for entry in row], separation, participations) for row in gram]
    return _roots(low, _best(rows, separation, participations))


def _gram(rows: Sequence[Sequence[float]]) -> Gram:
    columns = [[Fraction(entry) for entry in column] for column in zip(*rows, strict=True)]
    return [
        [sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0)) for other in columns] for one in columns
    ]


def _roots(low: Fraction, up: Fraction) -> Bounds:
    return sqrt(hull(low, low)).floats()[0], sqrt(hull(up, up)).floats()[1]


def _every_pattern(gram: Gram, separation: int, participations: int) -> Bounds:
    low = up = Fraction(0)
    for pattern in _patterns(len(gram), separation, participations):
        up = max(up, sum((abs(gram[s][t]) for s in pattern for t in pattern), Fraction(0)))
        low = max(low, _signed(gram, pattern))
    return _roots(low, up)


def _patterns(steps: int, separation: int, participations: int, first: int = 0) -> Iterator[tuple[int, ...]]:
    """Yield the patterns of at least one step, from `first` on, to which no step can be appended."""
    for step in range(first, steps):
        later = _patterns(steps, separation, participations - 1, step + separation) if participations > 1 else ()
        any_later = False
        for rest in later:
            any_later = True
            yield (step, *rest)
        if not any_later:
            yield (step,)


def _signed(gram: Gram, pattern: Sequence[int]) -> Fraction:
    """Return Σ X_st·ε_s·ε_t for signs ε, each of which is the better one beside those before it."""
    signs: dict[int, int] = {}
    total = Fraction(0)
    for step in pattern:
        beside = sum((gram[step][other] * sign for other, sign in signs.items()), Fraction(0))
        signs[step] = 1 if beside >= 0 else -1
        total += gram[step][step] + 2 * abs(beside)
    return total


def _best(values: Sequence[Fraction], separation: int, participations: int) -> Fraction:
    """Return the largest sum of values that are not negative at the steps of a pattern."""
    best = [Fraction(0)] * (len(values) + separation)  # from each step on, with so many participations at most
    for _ in range(min(participations, -(-len(values) // separation))):
        last, best = best, [Fraction(0)] * len(best)
        for step in reversed(range(len(values))):
            best[step] = max(values[step] + last[step + separation], best[step + 1])
    return best[0]


def _entries(least: float) -> st.SearchStrategy[float]:
    return st.sampled_from([0.0, 0.5, 1.0]) | st.floats(least, 1).map(lambda entry: round(entry, 3))


def _matrices(steps: int, least: float) -> st.SearchStrategy[tuple[tuple[float, ...], ...]]:
    """Return the strategy of lower triangular matrices with a positive diagonal."""
    diagonal = st.floats(0.125, 1).map(lambda entry: round(entry, 3))
    rows = (st.tuples(*[_entries(least)] * i, diagonal, *[st.just(0.0)] * (steps - 1 - i)) for i in range(steps))
    return st.tuples(*rows)


MATRICES = st.tuples(st.integers(1, 8), st.sampled_from([0.0, -1.0])).flatmap(lambda one: _matrices(*one))
FALLING = st.lists(_entries(0.0), max_size=15).map(lambda rest: (1.0, *sorted(rest, reverse=True)))
FREE = st.lists(_entries(-1.0), max_size=8).map(lambda rest: (1.0, *rest))
PATTERN = {"separation": st.integers(1, FEW), "participations": st.integers(1, FEW)}
OF_TOEPLITZ = {"coefficients": FALLING | FREE, "steps": st.integers(1, 40), **PATTERN}
MATRIX_KINDS = (
    Kind("matrix-sensitivity", "sensitivity", {"matrix": MATRICES, **PATTERN}, matrix),
    Kind("toeplitz-sensitivity", "sensitivity", OF_TOEPLITZ, toeplitz),
)
