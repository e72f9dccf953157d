"""The family `sparse-vector`: which queries reach a threshold, answered one after the other until c of them did.

Data: the values of the queries, in the order in which they are asked. Outcome: a tuple of answers, 0 for a query below
the threshold (⊥) and 1 for one that reaches it (⊤), shorter where it stops at the c-th 1. Members that release a number
with ⊤ put it behind its 1: (0, 1, 3.5) is ⊥, then ⊤ with 3.5. So an outcome is a flat list of numbers everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import as_fractions
from subnormal.mechanisms.core.domain import Domain, box, by_moves, moves_within, options_text
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.core.validation import adjacent, epsilon_claim
from subnormal.mechanisms.numerics.grid import GRID_MAX, GRID_MIN, l1_steps, reach, to_steps
from subnormal.mechanisms.numerics.mpfr import plain, rational
from subnormal.mechanisms.privacy import require_positive

Queries: TypeAlias = NDArray[Any]  # int64 or float64, shape (queries,)
Number: TypeAlias = int | float
Answers: TypeAlias = tuple[Number, ...]

STOPPED, BELOW = -(1 << 63), 1 - (1 << 63)  # codes of a query that was not answered, and of ⊥; others are released


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVectorParameters:
    """What is public: the budget ε (nats), the threshold, c = positives, and how far one person moves any query (Δ).

    threshold_share: the part of ε that is spent on the threshold's noise, the rest on the answers'.
    grid: the exponent k of the granularity 2^k of exact members, to which they round query − threshold.
    lower, upper: bounds to which they clamp it; width: how far beyond them the threshold's noise goes, and how far from
    a query it is distinguished. gaps: the distances above the threshold that members with gaps distinguish, ascending.
    All these are multiples of 2^k. Naive members ignore them.
    Raises ValueError for a field outside its range, named in the message.
    """

    epsilon: float
    threshold: Number = 0
    positives: int = 1
    sensitivity: float = 1.0
    threshold_share: float | Fraction = 0.5
    grid: int = 0
    lower: Number = -64
    upper: Number = 64
    width: Number = 64
    gaps: tuple[Number, ...] = (1, 2, 4, 8)

    def __post_init__(self) -> None:
        for name in ("epsilon", "threshold", "sensitivity", "lower", "upper", "width"):
            object.__setattr__(self, name, plain(name, getattr(self, name)))
        object.__setattr__(self, "gaps", tuple(plain("gaps", gap) for gap in self.gaps))
        require_positive("epsilon", self.epsilon)
        require_positive("sensitivity", self.sensitivity)
        if not 0 < self.threshold_share < 1:
            raise ValueError(f"threshold_share must lie between 0 and 1, got {self.threshold_share}")
        if not isinstance(self.positives, int) or isinstance(self.positives, bool) or self.positives < 1:
            raise ValueError(f"positives must be a positive integer, got {self.positives!r}")
        if not isinstance(self.grid, int) or isinstance(self.grid, bool) or not GRID_MIN <= self.grid <= GRID_MAX:
            raise ValueError(f"grid must be an integer from {GRID_MIN} to {GRID_MAX}, got {self.grid!r}")
        bounds = [(name, getattr(self, name)) for name in ("lower", "upper", "width")]
        for name, value in (*bounds, *(("gaps", gap) for gap in self.gaps)):
            steps = Fraction(value) / Fraction(2) ** self.grid
            if steps.denominator != 1 or abs(steps) > reach(self.grid):
                raise ValueError(f"{name} must be a multiple of 2^{self.grid}, {reach(self.grid)} at most, got {value}")
        if self.lower > self.upper:
            raise ValueError(f"lower = {self.lower} must not be above upper = {self.upper}")
        if self.width < 0:
            raise ValueError(f"width must not be negative, got {self.width}")
        if any(one >= other for one, other in pairwise((0, *self.gaps))):
            raise ValueError(f"gaps must be positive and ascend, got {self.gaps}")

    def steps(self, value: Number) -> int:
        """Return a multiple of 2^grid in steps."""
        return to_steps(value, self.grid)

    @property
    def apart(self) -> int:
        """How many steps apart a query may be rounded in two worlds: ⌈Δ/2^grid⌉. That is what rounding costs."""
        return l1_steps(self.sensitivity, self.grid)

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """ε₁ for the threshold and ε₂ for the answers, exactly."""
        epsilon, share = rational("epsilon", self.epsilon), rational("threshold_share", self.threshold_share)
        return share * epsilon, (1 - share) * epsilon


def on_grid(data: Queries, parameters: SparseVectorParameters) -> list[int]:
    """Return query − threshold of each query, rounded half up to the grid, in steps: exact for any size.

    Beyond ±2^61 steps it is as far as that. Raises ValueError where there is no query, or one is not finite.
    """
    threshold, most = rational("threshold", parameters.threshold), reach(parameters.grid)
    steps = (to_steps(value - threshold, parameters.grid) for value in as_fractions(data))
    return [min(max(step, -most), most) for step in steps]


Answer = Callable[[NDArray[Any], Any], NDArray[np.int64]]


def answered(queries: Sequence[Any], noisy: NDArray[Any], answer: Answer, positives: int | None) -> NDArray[np.int64]:
    """Return the codes of every run's answers, shape (runs, queries).

    noisy: each run's noisy threshold, shape (runs,). answer(noisy, query) gives the codes of the runs that still
    answer; a run stops at its positives-th code but BELOW, where None never.
    """
    codes = np.full((len(noisy), len(queries)), STOPPED)
    active, left = np.arange(len(noisy)), np.full(len(noisy), len(queries) if positives is None else positives)
    for place, query in enumerate(queries):
        drawn = answer(noisy[active], query)
        codes[active, place] = drawn
        left[active] -= drawn != BELOW
        active = active[left[active] > 0]
        if not len(active):
            break
    return codes


def outcomes(codes: NDArray[np.int64], positive: Callable[[int], Answers] = lambda code: (1,)) -> list[Answers]:
    """Return codes as outcomes: 0 for BELOW, positive(code) for what is released, nothing for STOPPED."""

    def written(run: bytes) -> Answers:
        parts = (
            (0,) if code == BELOW else positive(code)
            for code in np.frombuffer(run, np.int64).tolist()
            if code != STOPPED
        )
        return tuple(number for part in parts for number in part)

    size = codes.itemsize * codes.shape[1]
    runs = np.ascontiguousarray(codes).view(f"V{size}")[:, 0].tolist()  # the bytes of each
    kinds = {run: written(run) for run in set(runs)}
    return [kinds[run] for run in runs]


def streams(
    most: int = 3,
    queries: int = 5,
    epsilon: float = 1.0,
    sensitivity: int = 1,
    positives: int = 1,
    width: int = 4,
    resolution: int = 0,
) -> Domain[Queries, SparseVectorParameters]:
    """Return the streams of 1 to `queries` numbers between ±most, on a grid of 2^resolution, for a threshold of 0.

    Raises ValueError for no queries, and for a grid without the integers or finer than 2^−64.
    """
    if queries < 1 or not -64 <= resolution <= 0:
        raise ValueError(f"queries must be at least 1, and resolution from -64 to 0, got {queries} and {resolution}")
    steps = 1 << -resolution
    last, reach = most * steps, min(sensitivity, 2 * most) * steps
    none = -last - reach - 1  # in place of a query that is not asked: no move leads there
    lengths = [box(-last, last, length) for length in range(1, queries + 1)]
    points = np.concatenate(
        [np.pad(one, ((0, 0), (0, queries - one.shape[1])), constant_values=none) for one in lengths]
    )
    options: dict[str, Any] = {"epsilon": epsilon, "sensitivity": sensitivity, "positives": positives, "width": width}
    return Domain(
        options_text("streams", most=most, queries=queries, **options, resolution=resolution),
        SparseVectorParameters(**options, lower=-most, upper=most, gaps=(1, 2)),
        points,
        lambda point: point[point != none] if resolution == 0 else point[point != none] / steps,
        by_moves(points, moves_within(reach, queries)),
    )


FAMILY: Family[Queries, SparseVectorParameters] = Family(
    name="sparse-vector",
    parameters=SparseVectorParameters,
    adjacent=adjacent,  # equally many queries, and none moves by more than Δ
    claim=epsilon_claim,
    members=(
        "subnormal.mechanisms.sparse_vector.naive:FLOAT64",
        "subnormal.mechanisms.sparse_vector.published_variants:CLAMPED_NOISE",
        "subnormal.mechanisms.sparse_vector.exact:UNCLAMPED",
        "subnormal.mechanisms.sparse_vector.published_variants:ALGORITHM_3",
        "subnormal.mechanisms.sparse_vector.published_variants:ALGORITHM_4",
        "subnormal.mechanisms.sparse_vector.published_variants:ALGORITHM_5",
        "subnormal.mechanisms.sparse_vector.published_variants:ALGORITHM_6",
        "subnormal.mechanisms.sparse_vector.exact:EXACT",
        "subnormal.mechanisms.sparse_vector.exact:WITH_GAP",
    ),
    domain=streams,
    order=4,
)
