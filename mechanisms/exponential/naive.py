"""The exponential mechanism in floating point, as people write it (Ilvento 2020, Figure 1), and two usual "fixes".

Weights e^(−ε·u/(2Δ)), their running sums divided by the total, one uniform, and the first outcome whose running sum
exceeds it. Sums are sequential in the float type. Not private: it is here to be attacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import SHIFT
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Draw, InSteps, Mechanism, NoLawError, Outcomes, Refused, of_member
from subnormal.mechanisms.core.pair_boxes import Ceiling, PairBox
from subnormal.mechanisms.core.validation import Utilities, as_utilities, epsilon_claim
from subnormal.mechanisms.exponential.family import ExponentialParameters
from subnormal.mechanisms.exponential.float_ceiling import WeightTable, counts_between, of_counts
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.samplers.float_uniforms import FELL_OFF, halved_rate, running_sums, uniform_bits

Variant = Literal["plain", "positive", "shifted"]

WALKED_BITS = 11
WALKED_MAX = 1 << 13  # outcomes up to which 2^11 draws take less than a second
TABLE_MAX = 1 << 24  # utilities whose weights bounds over boxes need

NOT_POSITIVE = Refused("ValueError: a weight is not positive")


def weights(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
    variant: Variant = "plain",
) -> NDArray[np.floating[Any]]:
    """Return e^(−ε·u/(2Δ)) in the float type, shape (outcomes,). `shifted` subtracts the best utility first."""
    vector, rate = as_utilities(utilities), halved_rate(epsilon, sensitivity, float_type)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if variant == "shifted":
            vector = vector - vector.min()
        result: NDArray[np.floating[Any]] = np.exp(-rate * vector.astype(float_types.of(float_type)))
    return result


def sample(
    utilities: ArrayLike,
    epsilon: float,
    bits: BitSource,
    n: int,
    *,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
    variant: Variant = "plain",
) -> Outcomes:
    """Return n indices, int64 of shape (n,); where the code raises instead, a list with `Refused` in it.

    Raises ValueError for a negative n. Source: Ilvento 2020, Figure 1. Leaks: everything that this project is about.
    """
    return _prepared(utilities, epsilon, sensitivity=sensitivity, float_type=float_type, variant=variant)(bits, n)


def _prepared(
    utilities: ArrayLike, epsilon: float, *, sensitivity: float, float_type: DTypeLike, variant: Variant
) -> Draw:
    """Return `sample` with its sums computed."""
    weight = weights(utilities, epsilon, sensitivity=sensitivity, float_type=float_type, variant=variant)
    refused = variant == "positive" and not (weight > 0).all()
    width, sums = uniform_bits(float_type), running_sums(weight)

    def draw(bits: BitSource, n: int) -> Outcomes:
        require_draws(n)
        if refused:
            return [NOT_POSITIVE] * n
        uniforms = np.ldexp(bits.words(n, width).astype(np.float64), -width)
        chosen = np.searchsorted(sums, uniforms, side="right")
        if n and chosen.max() == len(sums):
            return [FELL_OFF if index == len(sums) else index for index in chosen.tolist()]
        return chosen

    return draw


def law(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
    variant: Variant = "plain",
) -> Law[int]:
    """Return the exact distribution of this code: how many of the 2^53 (2^24, 2^11) uniforms lead to each index.

    An index gets the uniforms k·2^−bits with sums[i−1] ≤ k·2^−bits < sums[i]; below c there are ⌈c·2^bits⌉ of them.
    """
    weight = weights(utilities, epsilon, sensitivity=sensitivity, float_type=float_type, variant=variant)
    if variant == "positive" and not (weight > 0).all():
        return exact_law([NOT_POSITIVE], [1], [1], 1)
    width = uniform_bits(float_type)
    below = np.ceil(np.ldexp(running_sums(weight), width)).astype(np.int64)
    atoms: Sequence[int | Refused] = range(len(below))
    fallen = (1 << width) - int(below[-1])
    if fallen:
        atoms, below = [*atoms, FELL_OFF], np.append(below, 1 << width)
    counts = np.diff(below, prepend=0)
    ends = block_ends(counts)
    return exact_law(atoms, ends, counts[ends - 1], 1 << width)


def _walk_depth(data: Utilities, parameters: ExponentialParameters) -> int | None:
    """Return 11, the bits of a float16 uniform: every string of them can be drawn, as those of shorter uniforms can."""
    return WALKED_BITS if len(data) <= WALKED_MAX else None


@lru_cache(maxsize=8)
def _weight_table(epsilon: float, sensitivity: float, most: int, float_type: np.dtype[Any]) -> WeightTable:
    if most >= TABLE_MAX:
        raise NoLawError(f"the weights of {most + 1} utilities are too many to tabulate")
    return WeightTable.of(weights(np.arange(most + 1), epsilon, sensitivity=sensitivity, float_type=float_type))


def _counts_between(
    low: Utilities, high: Utilities, parameters: ExponentialParameters, float_type: DTypeLike, variant: Variant
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return bounds on the number of uniforms of each index, of `FELL_OFF` and of `NOT_POSITIVE`, of all utilities
    between low and high."""
    most = parameters.limits.utility_max
    table = _weight_table(parameters.epsilon, parameters.sensitivity, most, np.dtype(float_type))
    if variant == "shifted":
        low, high = np.maximum(0, low - high.min()), high - low.min()
    least, largest = table.between(low, high)
    width = uniform_bits(float_type)
    below, above = counts_between(least, largest, width)
    refused = np.array([0, 0])
    if variant == "positive" and not (least > 0).all():
        refused[1] = 1 << width
        below[:] = 0
        if not (largest > 0).all():
            refused[0] = 1 << width
            above[:] = 0
    return np.append(below, refused[0]), np.append(above, refused[1])


def of_type(
    name: str, float_type: str, *, package: str, takes: Callable[[Utilities, ExponentialParameters], bool]
) -> _Member:
    """Return the mechanism in a float type of a package, which need not be installed until it draws."""
    return replace(_member(name, float_type, "plain"), package=package, takes=takes, ceiling=None)


def _member(name: str, float_type: DTypeLike, variant: Variant) -> _Member:
    def arguments(parameters: ExponentialParameters) -> tuple[float, dict[str, Any]]:
        options = {"sensitivity": parameters.sensitivity, "float_type": float_type, "variant": variant}
        return parameters.epsilon, options

    def ceiling(box: PairBox, parameters: ExponentialParameters, claim: Claim) -> Ceiling:
        worlds = (box.low_in, box.high_in), (box.low_out, box.high_out)
        counts = [_counts_between(low, high, parameters, float_type, variant) for low, high in worlds]
        return of_counts(counts[0], counts[1], 1 << uniform_bits(float_type), claim)

    depth = _walk_depth if float_type in (np.float16, *float_types.ACCELERATORS) else None
    return Mechanism(
        name,
        "exponential",
        InSteps(of_member(_prepared, arguments)),
        epsilon_claim,
        of_member(law, arguments),
        depth=depth,
        symmetries=(SHIFT,) if variant == "shifted" else (),  # sums depend on the order
        ceiling=ceiling,
    )


_Member = Mechanism[Utilities, ExponentialParameters, int]

FLOAT64 = _member("exponential-naive-float64", np.float64, "plain")
FLOAT32 = _member("exponential-naive-float32", np.float32, "plain")
FLOAT16 = _member("exponential-naive-float16", np.float16, "plain")
POSITIVE = _member("exponential-naive-positive", np.float64, "positive")
SHIFTED = _member("exponential-naive-shifted", np.float64, "shifted")
