"""Report noisy max with Gumbel noise in floats, as people write it: argmax of −ε·u/(2Δ) − ln(−ln U). Not private.

In real numbers this is the exponential mechanism, and its exact twin is `exponential_exact`. In floats U lies on a
lattice of 2^b points, so noises tie, and numpy's argmax gives every tie to the first of those that share it.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, of_member
from subnormal.mechanisms.core.validation import Utilities, as_utilities, epsilon_claim
from subnormal.mechanisms.exponential.family import ExponentialParameters, runs_of_words
from subnormal.mechanisms.numerics.mpfr import power_bounds
from subnormal.mechanisms.samplers.float_uniforms import halved_rate
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits as default_uniform_bits

Floats = NDArray[np.floating[Any]]
Integers = NDArray[Any]  # of any size, dtype object

ENUMERATED_BITS = 24  # uniforms whose noises a law can hold, in half a second and 64 MB
PART = 1 << 18  # uniforms at a time
TAIL = 36  # nats: maxima whose total probability is below e^−36 are not distinguished
PRECISION = 128  # bits of an enclosure
BLOCKS = 1 << 10  # of a law: within a block probabilities differ by no more than a share of about outcomes·2^−b/BLOCKS
GROUP_COST = 200  # blocks that take as long as one group of equal neighbours, whose powers are enclosed anew
WORK_MAX = 1 << 22  # terms times blocks of a law: two seconds


def gumbel(index: NDArray[np.integer[Any]], *, float_type: DTypeLike, uniform_bits: int) -> Floats:
    """Return −ln(−ln U) in the float type for U = index·2^−b, 0 ≤ index < 2^b, shape (indices,). Never decreasing.

    Each logarithm is float64's, rounded to the type: so float32 has the same noise on every processor, except for a
    rare last bit. Neighbouring arguments lie 2^−24 apart or more, relative, and so do their logarithms, absolutely:
    more than 2^20 times what float64's logarithm errs by, for b ≤ 24. U = 0 gives −∞, which hardly ever wins.
    """
    uniform = np.ldexp(index.astype(np.float64), -uniform_bits)
    with np.errstate(divide="ignore"):
        size = -np.log(uniform).astype(float_type)
        noise: Floats = -np.log(size.astype(np.float64)).astype(float_type)
    return noise


def weights(
    utilities: ArrayLike, epsilon: float, *, sensitivity: float = 1.0, float_type: DTypeLike = np.float64
) -> Floats:
    """Return −ε·u/(2Δ) in the float type, shape (outcomes,): what the noise is added to."""
    vector, rate = as_utilities(utilities), halved_rate(epsilon, sensitivity, float_type)
    with np.errstate(over="ignore"):
        scores: Floats = -rate * vector.astype(float_type)
    return scores


def sample(
    utilities: ArrayLike,
    epsilon: float,
    bits: BitSource,
    n: int,
    *,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
    uniform_bits: int | None = None,
) -> NDArray[np.int64]:
    """Return n indices, int64 of shape (n,). A uniform of 53 (24) bits for every outcome of every draw.

    Leaks: everything that this project is about. Raises ValueError for a negative n.
    """
    require_draws(n)
    scores = weights(utilities, epsilon, sensitivity=sensitivity, float_type=float_type)
    width = default_uniform_bits(float_type) if uniform_bits is None else uniform_bits
    chosen, step = np.empty(n, dtype=np.int64), max(1, PART // len(scores))
    for start in range(0, n, step):
        part = chosen[start : start + step]
        noise = gumbel(bits.words(len(part) * len(scores), width), float_type=float_type, uniform_bits=width)
        part[:] = (scores + noise.reshape(len(part), len(scores))).argmax(axis=1)
    return chosen


def law(
    utilities: ArrayLike,
    epsilon: float,
    *,
    sensitivity: float = 1.0,
    float_type: DTypeLike = np.float64,
    uniform_bits: int | None = None,
) -> Law[int]:
    """Return certified bounds on the distribution of this code. Raises NoLawError where that would take too long: for
    more than 24 bits, where the maximum may lie on many points of the lattice (as that of few outcomes, or of few with
    a far better score than many), and for many groups of equal neighbours.

    Let a score s of outcome i come from a(s) of the 2^b uniforms, and smaller ones from c(s). It wins with s when none
    before it reaches s and none behind it exceeds s: with F⁻ = c/2^b and F = (c + a)/2^b of each outcome's level,
    P(i) = Σ_s (F_i − F_i⁻)·Π_{j<i} F_j⁻·Π_{j>i} F_j. Only scores that the maximum reaches are summed; what lies below
    them is added to every upper bound. Among neighbours on one level the probability falls by the factor F⁻/F of each
    term from one to the next: so the first and the last of a block bound it.
    """
    scores = weights(utilities, epsilon, sensitivity=sensitivity, float_type=float_type)
    width = default_uniform_bits(float_type) if uniform_bits is None else uniform_bits
    if width > ENUMERATED_BITS:
        raise NoLawError(f"2^{width} uniforms for every outcome")
    if not np.isfinite(scores).all():
        raise NoLawError("scores beyond the largest float tie, whatever the noise")
    ends = block_ends(scores)
    sizes, (levels, level_of) = np.diff(ends, prepend=0), np.unique(scores[ends - 1], return_inverse=True)
    counts = np.bincount(level_of, weights=sizes)
    usual, most = int(counts.argmax()), int(counts.max())
    lattice = 1 << width
    reach = min(lattice, ceil(TAIL * lattice / most))  # terms of the usual level alone
    length = max(1, ceil(len(scores) / BLOCKS))  # outcomes of a block
    blocks = len(scores) // length + GROUP_COST * len(sizes)
    _require_little_work(len(scores), reach, blocks)
    noise = _noises(np.dtype(float_type).name, width)
    least = levels[usual] + noise[lattice - reach]
    starts = [_first_reaching(least, level, noise) for level in levels]
    _require_little_work(len(scores), len(levels) * lattice - sum(starts), blocks)
    missed = _powers(np.array([lattice - reach]), most, lattice)[1][0]
    with_noise = [(start, level + noise[start:]) for level, start in zip(levels, starts, strict=True)]
    reached = np.unique(np.concatenate([one for _, one in with_noise]))
    below, up_to = (
        [start + one.searchsorted(reached, side=side) for start, one in with_noise] for side in ("left", "right")
    )
    level_of, sizes = level_of.tolist(), sizes.tolist()
    before = [_powers(below[level], size, lattice) for level, size in zip(level_of, sizes, strict=True)]
    behind = [_powers(up_to[level], size, lattice) for level, size in zip(level_of, sizes, strict=True)]
    one = np.full(len(reached), 1 << PRECISION, dtype=object)
    leading = list(accumulate(before[:-1], _times, initial=(one, one)))
    trailing = list(accumulate(behind[:0:-1], _times, initial=(one, one)))[::-1]
    block_sizes: list[int] = []
    low: list[int] = []
    high: list[int] = []
    for at_level, size in enumerate(sizes):
        smaller, not_larger = below[level_of[at_level]], up_to[level_of[at_level]]
        own = not_larger > smaller
        first = _times(_times(leading[at_level], trailing[at_level]), _powers(not_larger, size - 1, lattice))
        at = tuple((bound * (not_larger - smaller).astype(object))[own] for bound in first)
        terms = at[0] // lattice, -(-at[1] // lattice)
        for outcomes, probability in _along(terms, smaller[own], not_larger[own], size, length):
            block_sizes.append(outcomes)
            low.append(probability[0])
            high.append(probability[1] + missed)
    return Law(range(len(scores)), np.cumsum(block_sizes), low, high, 1 << PRECISION, Fraction(0))


_ScaledArrays = tuple[Integers, Integers]


def _require_little_work(outcomes: int, terms: int, blocks: int) -> None:
    """Raise NoLawError where a law has too many terms: the points of the lattice, for each level, that may win."""
    if terms * blocks > WORK_MAX:
        raise NoLawError(f"{outcomes} outcomes: the maximum may lie on {terms} points of the lattice")


def _first_reaching(least: float, level: float, noise: Floats) -> int:
    """Return the first index from which level + noise is at least so much, in the float type."""
    return bisect_left(range(len(noise)), True, key=lambda at: level + noise[at] >= least)


@lru_cache(maxsize=1)
def _noises(float_type: str, uniform_bits: int) -> Floats:
    """Return the noise of every uniform, ascending."""
    count = 1 << uniform_bits
    parts = (np.arange(start, min(start + PART, count)) for start in range(0, count, PART))
    noise: Floats = np.concatenate([gumbel(part, float_type=float_type, uniform_bits=uniform_bits) for part in parts])
    noise.flags.writeable = False
    return noise


def _along(
    terms: _ScaledArrays, smaller: Integers, not_larger: Integers, size: int, length: int
) -> list[tuple[int, tuple[int, int]]]:
    """Return how many outcomes each block of equal scores has, and bounds on one's probability.

    terms: bounds on the terms of the first one's; each falls by smaller/not_larger from one outcome to the next.
    """
    ratios = [Fraction(int(c), int(d)) for c, d in zip(smaller, not_larger, strict=True)]
    to_next, to_last = (_ratio_powers(ratios, steps) for steps in (length, length - 1))
    blocks = []
    for start in range(0, size, length):
        outcomes = min(length, size - start)
        last = to_last if outcomes == length else _ratio_powers(ratios, outcomes - 1)
        low, high = (terms[0] * last[0] >> PRECISION).sum(), terms[1].sum()
        blocks.append((outcomes, (int(low), int(high))))
        terms = _times(terms, to_next)
    return blocks


def _times(one: _ScaledArrays, other: _ScaledArrays) -> _ScaledArrays:
    return one[0] * other[0] >> PRECISION, -(-one[1] * other[1] >> PRECISION)


def _powers(counts: Integers, exponent: int, lattice: int) -> _ScaledArrays:
    """Return bounds on (count/lattice)^exponent over 2^PRECISION, shape (counts,)."""
    return _ratio_powers([Fraction(int(count), lattice) for count in counts], exponent)


def _ratio_powers(ratios: list[Fraction], exponent: int) -> _ScaledArrays:
    none = Fraction(exponent == 0), Fraction(exponent == 0)
    bounds = [none if ratio == 0 else power_bounds(ratio, exponent, PRECISION) for ratio in ratios]
    low = np.array([int(bound * (1 << PRECISION)) for bound, _ in bounds], dtype=object)
    high = np.array([ceil(bound * (1 << PRECISION)) for _, bound in bounds], dtype=object)
    return low, high


def _member(name: str, float_type: DTypeLike, has_law: bool) -> Mechanism[Utilities, ExponentialParameters, int]:
    def arguments(parameters: ExponentialParameters) -> tuple[float, dict[str, Any]]:
        return parameters.epsilon, {"sensitivity": parameters.sensitivity, "float_type": float_type}

    own_law = of_member(law, arguments) if has_law else None
    return Mechanism(name, "exponential", of_member(sample, arguments), epsilon_claim, own_law, runs=runs_of_words)


FLOAT64 = _member("noisy-max-naive-float64", np.float64, has_law=False)
FLOAT32 = _member("noisy-max-naive-float32", np.float32, has_law=True)
