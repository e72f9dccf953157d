"""Laplace noise by the inverse of its distribution function, in floats, as people write it. Not private.

A sign and a uniform U = k·2^−b with 1 ≤ k ≤ 2^b make the noise ±λ·|ln U|, and value + noise is released, each step
rounded to the float type. A draw takes b + 1 bits, read as one integer, its index i: the sign first, then the uniform,
ordered so that a greater index never gives a smaller output (`outputs`). Laws, and the attack, invert that map.

float32: b = 24, without the sign. float64: b = 52, because the usual code draws one double of 53 bits and spends the
first of them on the sign: λ·sgn(U)·ln(1 − 2|U|) for U in [−½, ½). (numpy's Generator.laplace does the same, with one
addition that it rounds.) With 53 bits and a sign bit the attack is right less often; `uniform_bits` says how many.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from subnormal.mechanisms.additive.family import Data, LaplaceParameters, laplace_claim
from subnormal.mechanisms.additive.float_sums import float_member
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.outcome_identity import at_places, places
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.privacy import require_positive

Floats = NDArray[np.floating[Any]]

UNIFORM_BITS_MAX = 53  # k·2^−b is a float64
ENUMERATED_BITS = 24  # uniforms that a law can enumerate, in a second
FEW = 4096  # floats between the extreme outputs, up to which a law is found by bisection
CHUNK = 1 << 16  # uniforms at a time: what a cache holds
KEPT = 2  # laws, of 150 MB or so each: those of both worlds


def default_uniform_bits(float_type: DTypeLike) -> int:
    """Return b, the bits of a uniform without the sign: 52 in float64, 24 in float32."""
    digits = float_types.digits(float_type)
    return 52 if digits == 53 else digits


def stored(float_type: DTypeLike) -> np.dtype[Any]:
    """Return the type of the outputs: float32 for those that numpy has not, which holds all of their numbers."""
    kind = float_types.of(float_type)
    return np.dtype(np.float32) if kind.name in float_types.ACCELERATORS else kind


def noise(count: NDArray[np.int64], scale: float, *, float_type: DTypeLike, uniform_bits: int) -> Floats:
    """Return λ·|ln U| in the float type for U = count·2^−b, 1 ≤ count ≤ 2^b, shape (counts,). Never increasing.

    The logarithm is float64's, rounded to the type, so that float32 has the same one on every processor. It never
    decreases where float64's logarithm errs by less than a unit in the last place: neighbouring uniforms are at least
    2^−53/U apart, and so are their logarithms, which is 1.36 units or more (at U = 1/e). Rounding is monotone.
    """
    kind: Any = float_types.of(float_type).type
    with np.errstate(over="ignore", under="ignore"):
        size: Floats = kind(scale) * _logs(count, float_type, uniform_bits)
    return size


def _logs(count: NDArray[np.int64], float_type: DTypeLike, uniform_bits: int) -> Floats:
    """Return |ln U|, what is left of the noise at a scale of 1."""
    uniform = np.ldexp(count.astype(np.float64), -uniform_bits)
    logs: Floats = np.abs(np.log(uniform).astype(float_types.of(float_type)))
    return logs


@lru_cache(maxsize=1)
def _every_log(float_type: str, uniform_bits: int) -> Floats:
    """Return |ln U| of every uniform, shape (2^b,): laws of every value and every scale begin with it.

    In float32, 64 MB.
    """
    uniforms = 1 << uniform_bits
    logs = np.empty(uniforms, dtype=float_types.of(float_type))
    for first in range(0, uniforms, CHUNK):
        count = np.arange(first + 1, min(first + CHUNK, uniforms) + 1)
        logs[first : first + CHUNK] = _logs(count, float_type, uniform_bits)
    logs.flags.writeable = False
    return logs


def outputs(
    index: NDArray[np.int64], value: float, scale: float, *, float_type: DTypeLike, uniform_bits: int
) -> Floats:
    """Return value + noise in the float type, by index from 0 to 2^(b+1) − 1, shape (indices,): never decreasing.

    The type of the array is `stored`.

    The first 2^b indices are those of negative noise, the largest first; then those of positive noise, the least first.
    """
    uniforms = np.int64(1) << np.int64(uniform_bits)
    negative = index < uniforms
    count = np.where(negative, index + 1, 2 * uniforms - index)
    size = noise(count, scale, float_type=float_type, uniform_bits=uniform_bits)
    with np.errstate(over="ignore"):
        sums: Floats = _value(value, float_type) + np.where(negative, -size, size)
    return sums.astype(stored(float_type), copy=False)


def first_reaching(
    target: Floats,
    below: NDArray[np.int64],
    reached: NDArray[np.int64],
    value: float,
    scale: float,
    *,
    float_type: DTypeLike,
    uniform_bits: int,
) -> NDArray[np.int64]:
    """Return the first index whose output is at least the target, or 2^(b+1) where none is, shape (targets,).

    below, reached: indices known to lie below it (or −1) and not below it (or 2^(b+1)). The search bisects.
    """

    def reaches(index: NDArray[np.int64]) -> NDArray[np.bool_]:
        index = np.maximum(index, 0)  # −1 is asked where the search is over
        return outputs(index, value, scale, float_type=float_type, uniform_bits=uniform_bits) >= target

    return least_holding(reaches, below, reached)


def sample(
    value: ArrayLike,
    scale: float,
    bits: BitSource,
    n: int,
    *,
    float_type: DTypeLike = np.float64,
    uniform_bits: int | None = None,
) -> Floats:
    """Return n times value + noise in the float type, shape (n,), or (n, coordinates) for a vector.

    Raises ValueError for a scale that is 0 or infinite in the type. Leaks: everything that this project is about.
    """
    require_draws(n)
    width = _checked(scale, float_type, uniform_bits)
    vector = np.asarray(value, dtype=float_types.of(float_type))
    index = bits.words(n * vector.size, width + 1).astype(np.int64)
    if vector.ndim == 0:
        return outputs(index, float(vector), scale, float_type=float_type, uniform_bits=width)
    columns = index.reshape(n, vector.size).T
    drawn = [
        outputs(column, coordinate, scale, float_type=float_type, uniform_bits=width)
        for column, coordinate in zip(columns, vector.astype(np.float64).tolist(), strict=True)
    ]
    return np.array(drawn, dtype=stored(float_type)).reshape(vector.size, n).T


def law(
    value: float, scale: float, *, float_type: DTypeLike = np.float64, uniform_bits: int | None = None
) -> Law[float]:
    """Return the exact distribution of this code, over 2^(b+1): how many indices lead to each output, ascending.

    Every index is enumerated where b ≤ 24: a second, and 150 MB. Beyond, outputs are found by bisection where the sum
    absorbs the noise, so that few floats lie between the extreme outputs. Else raises NoLawError.
    """
    width = _checked(scale, float_type, uniform_bits)
    return _law(float(_value(value, float_type)), float(scale), float_types.of(float_type).name, width)


@lru_cache(maxsize=KEPT)
def _law(value: float, scale: float, float_type: str, uniform_bits: int) -> Law[float]:
    found = _by_bisection(value, scale, float_type, uniform_bits)
    if found is not None:
        return found
    if uniform_bits > ENUMERATED_BITS:
        raise NoLawError(f"2^{uniform_bits + 1} strings of bits, and more than {FEW} floats that they may lead to")
    return _by_enumeration(value, scale, float_type, uniform_bits)


def _by_bisection(value: float, scale: float, float_type: str, uniform_bits: int) -> Law[float] | None:
    total = 2 << uniform_bits
    given: Any = {"value": value, "scale": scale, "float_type": float_type, "uniform_bits": uniform_bits}
    extremes = outputs(np.array([0, total - 1]), **given)
    if np.isnan(extremes).any():
        raise NoLawError(f"value = {value} and its noise are beyond the largest {float_type}, which has no infinity")
    lowest, highest = places(extremes).tolist()
    if highest - lowest >= FEW:
        return None
    floats = at_places(np.arange(lowest, highest + 1), stored(float_type))
    floats = floats[block_ends(floats) - 1]  # −0.0 and 0.0 are one here, as no output is −0.0
    begin = first_reaching(floats, np.full(len(floats), -1), np.full(len(floats), total), **given)
    counts = np.diff(begin, append=total)
    hit = counts > 0
    atoms: Any = floats[hit]
    return exact_law(atoms, np.arange(1, len(atoms) + 1), counts[hit], total)


def _by_enumeration(value: float, scale: float, float_type: str, uniform_bits: int) -> Law[float]:
    """Return the law from all outputs. They are ascending, so equal ones are neighbours and nothing is sorted.

    The atoms replace the outputs in place, and lengths of runs are kept as blocks: fresh memory costs more than passes.
    """
    uniforms = 1 << uniform_bits
    start, outputs = _value(value, float_type), np.empty(2 * uniforms, dtype=stored(float_type))
    logs = _every_log(float_type, uniform_bits)
    for first in range(0, uniforms, CHUNK):
        with np.errstate(over="ignore", under="ignore"):
            size = start.dtype.type(scale) * logs[first : first + CHUNK]
        mirrored = 2 * uniforms - first
        np.subtract(start, size, out=outputs[first : first + len(size)])
        np.add(start, size[::-1], out=outputs[mirrored - len(size) : mirrored])
    atoms, before, ends, counts = 0, -1, [], []
    for first in range(0, 2 * uniforms, CHUNK):
        chunk = outputs[first : first + CHUNK + 1]
        last = np.flatnonzero(chunk[1:] != chunk[:-1])
        if first + CHUNK >= 2 * uniforms:
            last = np.append(last, len(chunk) - 1)
        if not len(last):
            continue
        outputs[atoms : atoms + len(last)] = chunk[last]
        lengths = np.diff(last + first, prepend=before)
        end = block_ends(lengths)
        ends.append(end + atoms)
        counts.append(lengths[end - 1])
        atoms, before = atoms + len(last), int(last[-1]) + first
    found: Any = outputs[:atoms]
    found.flags.writeable = False  # the law is kept
    every_end, every_count = np.concatenate(ends), np.concatenate(counts)
    whole = block_ends(every_count) - 1  # a block may go on in the next chunk
    return exact_law(found, every_end[whole], every_count[whole], 2 * uniforms)


def _value(value: float, float_type: DTypeLike) -> Any:
    """Return the value in the float type, −0.0 as 0.0."""
    kind: Any = float_types.of(float_type).type
    with np.errstate(over="ignore"):
        return kind(value) + kind(0)


def _checked(scale: float, float_type: DTypeLike, uniform_bits: int | None) -> int:
    kind: Any = float_types.of(float_type).type
    require_positive("scale", scale)
    if not holds_noise(scale, float_type):
        raise ValueError(f"scale must be positive and finite in {kind.__name__}, got {scale}")
    width = default_uniform_bits(float_type) if uniform_bits is None else uniform_bits
    if not 1 <= width <= UNIFORM_BITS_MAX:
        raise ValueError(f"uniform_bits must be between 1 and {UNIFORM_BITS_MAX}, got {width}")
    return width


def holds_noise(scale: float, float_type: DTypeLike) -> bool:
    """Return whether 64·λ, which is more than any noise, is a positive number of the float type."""
    kind: Any = float_types.of(float_type).type
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return bool(0 < kind(scale) * kind(64) < np.inf)


def member_scale(parameters: LaplaceParameters, float_type: DTypeLike) -> float:
    """Return λ = Δ/ε, as the float type divides."""
    kind: Any = float_types.of(float_type).type
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        return float(kind(parameters.sensitivity) / kind(parameters.epsilon))


def of_type(name: str, float_type: DTypeLike) -> Mechanism[Data, LaplaceParameters, Any]:
    """Return the mechanism in a float type, whose package need not be installed until it draws."""

    def draws(value: NDArray[Any], parameters: LaplaceParameters, bits: BitSource, n: int) -> Floats:
        return sample(value, member_scale(parameters, float_type), bits, n, float_type=float_type)

    def law_of(value: float, parameters: LaplaceParameters) -> Law[float]:
        return law(value, member_scale(parameters, float_type), float_type=float_type)

    return float_member(name, "laplace", laplace_claim, float_type, draws, law_of)


FLOAT64 = of_type("laplace-naive-float64", np.float64)
FLOAT32 = of_type("laplace-naive-float32", np.float32)
