"""The families `laplace` and `gaussian`: a number, the coordinates of a vector, or a sum of records, plus noise.

Data: a number or a vector of numbers. Outcome: a number, or a tuple of them where the coordinates of a vector are
released. Integers and floats are the rationals that they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.domain import Domain, box, by_moves, options_text
from subnormal.mechanisms.core.mechanism import Family, NoLawError
from subnormal.mechanisms.numerics.grid import GRID_MAX, GRID_MIN, reach
from subnormal.mechanisms.numerics.mpfr import plain, rational
from subnormal.mechanisms.privacy import Claim, Zcdp, require_nonnegative, require_positive

Data: TypeAlias = int | float | NDArray[Any]  # a number, or a vector of int64, float32 or float64
Query = Literal["value", "sum"]


@dataclass(frozen=True, slots=True)
class _Release:
    """What is public about any release with noise: the sensitivity Δ, and what exact members need to be finite.

    query: "value" releases the number, or every coordinate of the vector; "sum" the sum of the vector's records.
    grid: the exponent k of the granularity 2^k to which exact members round their input, and add noise on.
    lower, upper: bounds that exact members clamp to, on that grid. Naive members ignore grid and bounds.
    record_bounds: of each record of a sum, for members that take their sensitivity from them; None: there are none.
    Raises ValueError for a field outside its range, named in the message.
    """

    sensitivity: float = 1.0
    query: Query = "value"
    grid: int = -4
    lower: float = -64.0
    upper: float = 64.0
    record_bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("sensitivity", "lower", "upper"):
            object.__setattr__(self, name, plain(name, getattr(self, name)))
        require_positive("sensitivity", self.sensitivity)
        if self.query not in ("value", "sum"):
            raise ValueError(f"query must be 'value' or 'sum', got {self.query!r}")
        if not isinstance(self.grid, int) or isinstance(self.grid, bool) or not GRID_MIN <= self.grid <= GRID_MAX:
            raise ValueError(f"grid must be an integer from {GRID_MIN} to {GRID_MAX}, got {self.grid!r}")
        for name in ("lower", "upper"):
            steps = Fraction(getattr(self, name)) / Fraction(2) ** self.grid
            if steps.denominator != 1 or abs(steps) > reach(self.grid):
                what = f"a multiple of 2^{self.grid}, and at most {reach(self.grid)} of them"
                raise ValueError(f"{name} must be {what}, got {getattr(self, name)}")
        if self.lower > self.upper:
            raise ValueError(f"lower = {self.lower} must not be above upper = {self.upper}")
        if self.record_bounds is not None:
            low, high = (plain("record_bounds", bound) for bound in self.record_bounds)
            if low > high:
                raise ValueError(f"record_bounds must be given the lower one first, got {self.record_bounds}")

    def grid_and_bounds(self) -> dict[str, Any]:
        """Return the arguments of exact samplers and laws on a grid, by name."""
        return {"grid": self.grid, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceParameters(_Release):
    """A release with Laplace noise for a budget of ε nats; the sensitivity is the L1 distance of adjacent data."""

    epsilon: float

    def __post_init__(self) -> None:
        _Release.__post_init__(self)
        require_positive("epsilon", self.epsilon)
        object.__setattr__(self, "epsilon", plain("epsilon", self.epsilon))

    @property
    def scale(self) -> Fraction:
        """Δ/ε, exactly: the scale of the noise in real numbers."""
        return Fraction(self.sensitivity) / Fraction(self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianParameters(_Release):
    """A release with Gaussian noise of standard deviation σ; the sensitivity is the L2 distance of adjacent data.

    delta: where on its δ(ε) curve the claim is stated. Raises ValueError for one outside 0 to 1, and as the others do.
    """

    sigma: float
    delta: float

    def __post_init__(self) -> None:
        _Release.__post_init__(self)
        require_positive("sigma", self.sigma)
        object.__setattr__(self, "sigma", plain("sigma", self.sigma))
        require_nonnegative("delta", self.delta)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {self.delta}")


def laplace_claim(parameters: LaplaceParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise of every Laplace member: ε."""
    return Claim(parameters.epsilon)


def gaussian_claim(parameters: GaussianParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise of every Gaussian member: ρ = Δ²/(2σ²) of zCDP, as (ε, δ) at the parameters' δ."""
    return _gaussian_promise(parameters)


@lru_cache(maxsize=256)
def _gaussian_promise(parameters: GaussianParameters) -> Claim:
    rho = (Fraction(parameters.sensitivity) / Fraction(parameters.sigma)) ** 2 / 2
    return Zcdp.of(rho).claim(parameters.delta)


def as_fractions(data: Data) -> list[Fraction]:
    """Return the numbers of the data as the rationals that they are. Raises ValueError where one is not finite."""
    numbers = np.atleast_1d(data).tolist() if isinstance(data, np.ndarray) else [data]
    if not numbers:
        raise ValueError("data must not be empty, got an empty vector")
    return [rational("data", number) for number in numbers]


def exact_values(data: Data, query: Query) -> list[Fraction]:
    """Return what is released without noise, in exact arithmetic: the numbers themselves, or their sum."""
    if query == "value":
        return as_fractions(data)
    return [sum((count * number for number, count in _records(data).items()), Fraction(0))]


def _records(data: Data) -> Counter[Fraction]:
    """Return how often each record comes, as the rational that it is."""
    records: Counter[Fraction] = Counter()
    for number, count in Counter(np.atleast_1d(data).tolist()).items():
        records[rational("data", number)] += count
    return records


def of_coordinates(data: Data, query: Query) -> bool:
    """Return whether the coordinates of a vector are released, and not one number."""
    return query == "value" and np.ndim(data) > 0


def side_by_side(columns: Sequence[NDArray[Any]], data: Data, query: Query) -> NDArray[Any]:
    """Return what is released: a column for each coordinate, shape (n, coordinates), or one number's outcomes, (n,)."""
    return np.stack(columns, axis=1) if of_coordinates(data, query) else columns[0]


def require_number(data: Data, query: Query) -> None:
    """Raise NoLawError for a vector's coordinates: the law over their combinations is too large to write down."""
    if of_coordinates(data, query):
        raise NoLawError("the law over all combinations of the coordinates is not written down")


def _adjacent(order: int) -> Callable[[_Release, Data, Data], bool]:
    """Return the relation: at most Δ apart in the L1 (order 1) or L2 (order 2) norm, compared exactly.

    For a sum: the same records in any order, except one that was added, removed, or replaced.
    """

    def adjacent(parameters: _Release, data_in: Data, data_out: Data) -> bool:
        allowed = Fraction(parameters.sensitivity) ** order
        if parameters.query == "sum":
            records_in, records_out = _records(data_in), _records(data_out)
            gone, come = records_in - records_out, records_out - records_in
            if gone.total() > 1 or come.total() > 1:
                return False
            moved = sum(come.elements(), Fraction(0)) - sum(gone.elements(), Fraction(0))
            return abs(moved) ** order <= allowed
        if np.shape(data_in) != np.shape(data_out):
            return False
        pairs = zip(as_fractions(data_in), as_fractions(data_out), strict=True)
        return sum((abs(one - other) ** order for one, other in pairs), Fraction(0)) <= allowed

    return adjacent


P = TypeVar("P", bound=_Release)


def _numbers(parameters: P, resolution: int, **options: float) -> Domain[Data, P]:
    """Return the domain of all multiples of 2^resolution that lie no more than Δ beyond the bounds.

    Raises ValueError for a resolution of which Δ and the bounds are no multiples.
    """
    unit = Fraction(2) ** resolution
    reach, last = Fraction(parameters.sensitivity) / unit, Fraction(parameters.upper) / unit
    if reach.denominator != 1 or last.denominator != 1:
        raise ValueError(f"resolution must divide the bounds and the sensitivity, got {resolution}")
    end = int(last + reach)
    points = box(-end, end, 1)
    moves = np.arange(-int(reach), int(reach) + 1)
    return Domain(
        options_text("numbers", **options, resolution=resolution),
        parameters,
        points,
        lambda point: float(point[0]) * 2.0**resolution,
        by_moves(points, moves[moves != 0, np.newaxis]),
    )


def laplace_numbers(
    most: int = 4, epsilon: float = 1.0, sensitivity: float = 1.0, grid: int = -4, resolution: int = -8
) -> Domain[Data, LaplaceParameters]:
    """Return the numbers around the bounds ±most, on a grid of 2^resolution, for a mechanism on one of 2^grid."""
    parameters = LaplaceParameters(epsilon=epsilon, sensitivity=sensitivity, grid=grid, lower=-most, upper=most)
    return _numbers(parameters, resolution, most=most, epsilon=epsilon, sensitivity=sensitivity, grid=grid)


def gaussian_numbers(
    most: int = 4,
    sigma: float = 1.0,
    delta: float = 1e-6,
    sensitivity: float = 1.0,
    grid: int = -4,
    resolution: int = -8,
) -> Domain[Data, GaussianParameters]:
    """Return the numbers around the bounds ±most, on a grid of 2^resolution, for a mechanism on one of 2^grid."""
    parameters = GaussianParameters(
        sigma=sigma, delta=delta, sensitivity=sensitivity, grid=grid, lower=-most, upper=most
    )
    return _numbers(parameters, resolution, most=most, sigma=sigma, delta=delta, sensitivity=sensitivity, grid=grid)


LAPLACE: Family[Data, LaplaceParameters] = Family(
    name="laplace",
    parameters=LaplaceParameters,
    adjacent=_adjacent(1),
    claim=laplace_claim,
    members=(
        "subnormal.mechanisms.laplace.naive:FLOAT64",
        "subnormal.mechanisms.laplace.naive:FLOAT32",
        "subnormal.mechanisms.libraries.ml_dtypes:LAPLACE_NAIVE_BFLOAT16",
        "subnormal.mechanisms.libraries.ml_dtypes:LAPLACE_NAIVE_FLOAT8_E4M3FN",
        "subnormal.mechanisms.libraries.ml_dtypes:LAPLACE_NAIVE_FLOAT8_E5M2",
        "subnormal.mechanisms.laplace.correctly_rounded:ROUNDED",
        "subnormal.mechanisms.laplace.correctly_rounded:ROUNDED_FLOAT16",
        "subnormal.mechanisms.laplace.snapping:SNAPPING",
        "subnormal.mechanisms.laplace.snapping:SNAPPING_16_BIT",
        "subnormal.mechanisms.laplace.exact:BASE2",
        "subnormal.mechanisms.laplace.exact:BASE_E",
        "subnormal.mechanisms.laplace.bernoulli_trials:TEXTBOOK",
        "subnormal.mechanisms.libraries.opendp:LAPLACE",
        "subnormal.mechanisms.libraries.opendp:GEOMETRIC",
        "subnormal.mechanisms.libraries.diffprivlib:LAPLACE",
        "subnormal.mechanisms.libraries.diffprivlib:SNAPPING",
        "subnormal.mechanisms.libraries.diffprivlib:GEOMETRIC",
        "subnormal.mechanisms.libraries.diffprivlib:SUM",
        "subnormal.mechanisms.libraries.pydp:LAPLACE",
    ),
    domain=laplace_numbers,
    order=2,
)

GAUSSIAN: Family[Data, GaussianParameters] = Family(
    name="gaussian",
    parameters=GaussianParameters,
    adjacent=_adjacent(2),
    claim=gaussian_claim,
    members=(
        "subnormal.mechanisms.gaussian.naive:FLOAT64",
        "subnormal.mechanisms.gaussian.naive:FLOAT32",
        "subnormal.mechanisms.gaussian.naive:POLAR",
        "subnormal.mechanisms.gaussian.low_precision:INVERSE_BFLOAT16",
        "subnormal.mechanisms.gaussian.low_precision:INVERSE_FLOAT16",
        "subnormal.mechanisms.gaussian.low_precision:INVERSE_FLOAT32",
        "subnormal.mechanisms.gaussian.low_precision:BOX_MULLER_BFLOAT16",
        "subnormal.mechanisms.gaussian.low_precision:BOX_MULLER_FLOAT16",
        "subnormal.mechanisms.gaussian.ziggurat:FLOAT32",
        "subnormal.mechanisms.gaussian.exact:EXACT",
        "subnormal.mechanisms.libraries.opendp:GAUSSIAN",
        "subnormal.mechanisms.libraries.diffprivlib:GAUSSIAN",
        "subnormal.mechanisms.libraries.diffprivlib:DISCRETE_GAUSSIAN",
        "subnormal.mechanisms.libraries.pydp:GAUSSIAN",
        "subnormal.mechanisms.libraries.jax:BFLOAT16",
        "subnormal.mechanisms.libraries.jax:FLOAT16",
        "subnormal.mechanisms.libraries.jax:FLOAT32",
        "subnormal.mechanisms.libraries.torch:BFLOAT16",
        "subnormal.mechanisms.libraries.torch:FLOAT16",
    ),
    domain=gaussian_numbers,
    order=3,
)
