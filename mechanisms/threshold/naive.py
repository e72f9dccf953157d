"""Thresholded noise in floats, as people write it, with the claim that they state for it. Not private.

Laplace noise by inversion: a sign and a uniform U = k·2^−b, 0 ≤ k < 2^b, make ±scale·|ln U|; a generator that returns
[0, 1) returns 0, too, and then the noise is infinite. b = 24 in float32, 52 in float64. Gaussian noise by Box and
Muller. A key is released where value + noise, rounded to the float type, is at least T (for T < 0, at most T).

The claim is that of noise in real numbers: δ from ½·e^(−(T − Δ_∞)/scale) a key, or from the tail of the normal. Two
members make another mistake. `threshold-naive-rounded-first` rounds to integers before it looks at the threshold, so
that T − ½ passes: δ is e^(1/(2·scale)) times what is claimed. `threshold-naive-open-tail` has exact noise, keeps what
is at least T, and counts P(noise > T − Δ_∞): with integers δ is e^(1/scale) times what is claimed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.gaussian import naive as gaussian_naive
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.numerics.interval import normal_tail
from subnormal.mechanisms.numerics.mpfr import exp_bounds, fraction, rational
from subnormal.mechanisms.privacy import Claim, Eta
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import family as threshold_family
from subnormal.mechanisms.threshold.parameters import FINEST, Data, Released, ThresholdParameters
from subnormal.mechanisms.threshold.release import Passed, mappings

Floats = NDArray[np.floating[Any]]

ENUMERATED_BITS = 24  # of uniforms that a law can count
NUMBERS_MAX = 1 << 21  # that the noise of one key leads to


def noise(parameters: ThresholdParameters, bits: BitSource, n: int, float_type: DTypeLike) -> Floats:
    """Return n draws of noise in the float type, shape (n,). Raises ValueError for a scale in base 2."""
    if isinstance(parameters.scale, Eta):
        raise ValueError(f"scale must be a number for noise in floats, got {parameters.scale}")
    scale = float(parameters.scale)
    if parameters.noise == "gaussian":
        return gaussian_naive.box_muller(scale, bits, (n + 1) // 2, float_type).reshape(-1)[:n]
    width = laplace_naive.default_uniform_bits(float_type)
    drawn = bits.words(n, width + 1).astype(np.int64)
    size = magnitudes(drawn & ((1 << width) - 1), scale, float_type)
    return np.where(drawn >> width, -size, size)


def magnitudes(count: NDArray[np.int64], scale: float, float_type: DTypeLike) -> Floats:
    """Return scale·|ln U| for U = count·2^−b, ∞ for 0, shape (counts,). Never increasing."""
    width = laplace_naive.default_uniform_bits(float_type)
    with np.errstate(divide="ignore"):
        return laplace_naive.noise(count, scale, float_type=float_type, uniform_bits=width)


def sample(
    data: Data,
    parameters: ThresholdParameters,
    bits: BitSource,
    n: int,
    *,
    float_type: DTypeLike = np.float64,
    rounded_first: bool = False,
) -> list[Released]:
    """Return n releases, each the sorted items of what passes. Integers are released rounded, saturated at their type's
    limits. Raises ValueError for a negative n.
    """
    require_draws(n)
    keys = sorted(data)
    values = np.array([data[key] for key in keys], dtype=float_type)
    outcomes: list[Released] = []
    rows = max(1, DRAWS_AT_ONCE // max(1, len(keys)))
    for start in range(0, n, rows):
        size = min(rows, n - start)
        drawn = noise(parameters, bits, size * len(keys), float_type).reshape(size, len(keys))
        noisy, kept = passing(values + drawn, parameters, rounded_first=rounded_first)
        row, column = kept.nonzero()
        outcomes += mappings(keys, 1, Passed(row, column, numbers(noisy[kept], parameters)), size)
    return outcomes


def passing(noisy: Floats, parameters: ThresholdParameters, *, rounded_first: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Return noisy values, rounded to integers where that comes first, and which of them pass."""
    if rounded_first:
        noisy = np.rint(noisy)
    return noisy, noisy >= parameters.threshold if parameters.threshold > 0 else noisy <= parameters.threshold


def numbers(noisy: Floats, parameters: ThresholdParameters) -> list[Any]:
    """Return noisy values as Python's numbers of the parameters' type."""
    values = in_type(noisy, parameters).tolist()
    return [min(int(parameters.most), int(value)) for value in values] if parameters.integers else list(values)


def in_type(noisy: Floats, parameters: ThresholdParameters) -> Floats:
    """Return noisy values in the parameters' type; integers as floats, which may be one above the largest."""
    if not parameters.integers:
        return noisy.astype(parameters.values)
    return np.clip(np.rint(noisy).astype(np.float64), -int(parameters.most) - 1, int(parameters.most))


def law(
    data: Data, parameters: ThresholdParameters, *, float_type: DTypeLike = np.float64, rounded_first: bool = False
) -> Product[Any]:
    """Return the exact distribution of this code, over 2^25 for each key: how many strings of bits lead to each number.

    Raises NoLawError for Gaussian noise, for uniforms of more than 24 bits, and where one key has millions of numbers.
    """
    width = laplace_naive.default_uniform_bits(float_type)
    if parameters.noise == "gaussian" or width > ENUMERATED_BITS:
        raise NoLawError(
            f"{parameters.noise} noise in {np.dtype(float_type).name} has too many strings of bits to count"
        )
    kind = np.dtype(float_type).name
    return Product({key: _part(parameters, float(value), kind, rounded_first) for key, value in data.items()})


@lru_cache(maxsize=8)
def _part(parameters: ThresholdParameters, value: float, float_type: str, rounded_first: bool) -> Law[Any]:
    """Return the law of one key. Only uniforms up to the last that passes, or from the first, are looked at."""
    if isinstance(parameters.scale, Eta):
        raise ValueError(f"scale must be a number for noise in floats, got {parameters.scale}")
    total, kind = 1 << laplace_naive.default_uniform_bits(float_type), np.dtype(float_type).type
    passed: list[Any] = []
    counted: list[int] = []
    for sign in (1, -1):

        def released(count: NDArray[np.int64], sign: int = sign) -> tuple[Floats, NDArray[np.bool_]]:
            noisy = kind(value) + kind(sign) * magnitudes(count, float(parameters.scale), float_type)  # type: ignore[arg-type]
            return passing(noisy, parameters, rounded_first=rounded_first)

        outwards = (sign > 0) == (parameters.threshold > 0)  # large noise passes: that of small uniforms
        begin, end = _passing_range(released, total, outwards)
        noisy, kept = released(np.arange(begin, end))
        sums, counts = np.unique(in_type(noisy[kept], parameters), return_counts=True)  # far fewer, mostly
        if len(sums) > NUMBERS_MAX:
            raise NoLawError(
                f"the noise of scale {parameters.scale} leads to {len(sums)} numbers, more than {NUMBERS_MAX}"
            )
        passed += numbers(sums, parameters)
        counted += counts.tolist()
    atoms, atom_of = np.unique(np.array(passed, dtype=parameters.values), return_inverse=True)
    counts = np.zeros(len(atoms), dtype=np.int64)
    np.add.at(counts, atom_of, counted)
    masses = [2 * total - sum(counted), *counts.tolist()]
    possible = [(atom, mass) for atom, mass in zip([None, *atoms.tolist()], masses, strict=True) if mass]
    outcomes, weights = [atom for atom, _ in possible], [mass for _, mass in possible]
    return exact_law(outcomes, range(1, len(possible) + 1), weights, 2 * total)


def _passing_range(released: Any, total: int, outwards: bool) -> tuple[int, int]:
    """Return the range of counts that pass, by bisection: those below a bound where large noise passes, else above."""
    end = bisect_left(range(total), True, key=lambda count: bool(released(np.array([count]))[1][0]) != outwards)
    return (0, end) if outwards else (end, total)


def claim(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise of noise in real numbers: rounding costs nothing, and no boundary has a probability."""
    real = parameters if parameters.integers else replace(parameters, grid=FINEST)
    scale = rational("scale", parameters.scale)

    def chance(start: int) -> Fraction:
        deviations = start * Fraction(2) ** real.step / scale
        if parameters.noise == "gaussian":
            return fraction(normal_tail(min(deviations, Fraction(39))).high)  # beyond, below all floats
        low, high = exp_bounds(-min(abs(deviations), Fraction(760)))  # beyond, too
        return high / 2 if deviations >= 0 else 1 - low / 2

    return threshold_family.promised(real, parameters.sensitivities, chance)


def open_tail_claim(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise of exact noise that counts P(noise > T − Δ_∞)."""
    sensitivities = parameters.sensitivities
    return threshold_family.promised(
        parameters, sensitivities, lambda start: threshold_family.tail(parameters, start + 1)[1]
    )


def _member(name: str, float_type: DTypeLike, *, rounded_first: bool = False) -> _Member:
    options: dict[str, Any] = {"float_type": float_type, "rounded_first": rounded_first}
    countable = laplace_naive.default_uniform_bits(float_type) <= ENUMERATED_BITS
    return Mechanism(
        name, "threshold", partial(sample, **options), claim, partial(law, **options) if countable else None
    )


_Member = Mechanism[Data, ThresholdParameters, Released]

FLOAT64 = _member("threshold-naive-float64", np.float64)
FLOAT32 = _member("threshold-naive-float32", np.float32)
ROUNDED_FIRST = _member("threshold-naive-rounded-first", np.float32, rounded_first=True)
OPEN_TAIL: _Member = Mechanism(
    "threshold-naive-open-tail", "threshold", threshold_exact.sample, open_tail_claim, threshold_exact.law
)
