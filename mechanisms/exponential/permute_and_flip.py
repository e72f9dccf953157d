"""Permute-and-flip in base 2, exactly: outcomes in random order, the first whose coin of 2^(−η·(u − u_min)) is heads.

The order does not depend on the coins, so all outcomes with heads are equally likely to be selected, and one of them
is drawn uniformly. This is report noisy max with exponential noise; the exponential mechanism is the same with Gumbel
noise. The promise is the same, 2Δη|2-DP, and the expected error never larger.
Sources: McKenna, Sheldon 2020 (arXiv:2010.12603), Algorithm 1; Ding et al. 2021 (arXiv:2105.07260): the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Outcomes
from subnormal.mechanisms.core.validation import Utilities, as_integers, epsilon_claim
from subnormal.mechanisms.exponential import exact_ceiling, permute_and_flip_law
from subnormal.mechanisms.exponential.family import ExponentialParameters, clamped, runs_of_words
from subnormal.mechanisms.privacy import Eta, selection_eta
from subnormal.mechanisms.samplers.bernoulli import bernoulli
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import nats
from subnormal.mechanisms.samplers.normalized import uniform_below

PART = 1 << 18  # coins flipped at a time
EXACT_WORK_MAX = 1 << 27  # bits times products, up to which a law is a rational: a second
LEVELS_MAX = 64  # of utility, up to which it is enclosed: seconds
LAW_BITS_MAX = 1 << 28  # of all different probabilities together
PRECISION = 160  # bits of an enclosure


def sample(utilities: ArrayLike, eta: Eta, bits: BitSource, n: int) -> NDArray[np.int64]:
    """Return n indices, int64 of shape (n,), distributed as the `law`. Takes a word for every outcome of every draw.

    Integer utilities; 2Δη|2-DP. Leaks: bits consumed, by rejections that tell a little about how many coins were heads.
    Raises ValueError for a negative n.
    """
    require_draws(n)
    vector = as_integers(utilities)
    coins = _Coins.of(vector, eta, bits.word_bits)
    chosen, step = np.empty(n, dtype=np.int64), max(1, PART // len(vector))
    for start in range(0, n, step):
        part = chosen[start : start + step]
        heads = coins.flip(bits, len(part))
        counts = heads.sum(axis=1)
        which = uniform_below(counts, (len(vector) - 1).bit_length(), bits)
        part[:] = np.flatnonzero(heads)[np.cumsum(counts) - counts + which] % len(vector)
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class _Coins:
    """A coin for every outcome. A word below `low` is heads, one beyond `last` tails; between them more bits tell."""

    eta: Eta
    distances: NDArray[np.uint64]
    low: NDArray[np.uint64]
    last: NDArray[np.uint64]

    @classmethod
    def of(cls, utilities: NDArray[np.int64], eta: Eta, word_bits: int) -> _Coins:
        distances = utilities.view(np.uint64) - utilities.min().view(np.uint64)  # exact modulo 2^64
        distinct, of_outcome = np.unique(distances, return_inverse=True)
        bounds = [weight_bounds(eta, Fraction(distance), word_bits) for distance in distinct.tolist()]
        top = (1 << word_bits) - 1
        low = np.array([min(low, top) for low, _ in bounds], dtype=np.uint64)
        last = np.array([min(high - 1, top) for _, high in bounds], dtype=np.uint64)
        return cls(eta, distances, low[of_outcome], last[of_outcome])

    def flip(self, bits: BitSource, n: int) -> NDArray[np.bool_]:
        """Return whether each coin is heads, n times: shape (n, outcomes). Coins of the best are flipped too."""
        words = bits.words(n * len(self.low)).reshape(n, len(self.low))
        heads: NDArray[np.bool_] = words < self.low
        for draw, outcome in np.argwhere((words <= self.last) & ~heads).tolist():
            distance, drawn = Fraction(int(self.distances[outcome])), int(words[draw, outcome])
            heads[draw, outcome] = bernoulli(self.eta, distance, bits, drawn, bits.word_bits)
        return heads


def law(utilities: ArrayLike, eta: Eta) -> Law[int]:
    """Return the distribution over indices: in rationals for few outcomes, else certified bounds to 2^−99, relative.

    With p_j the chance of heads, and outcomes at independent uniform times instead of in random order, i is selected
    when nobody before it has heads: P(i) = p_i·∫₀¹ Π_{j≠i} (1 − t·p_j) dt. Raises NoLawError for more than 64 different
    utilities where a rational is too long.
    """
    vector = as_integers(utilities)
    ends = block_ends(vector)
    best = int(vector.min())
    levels, level_of = np.unique(vector[ends - 1], return_inverse=True)
    sizes = np.bincount(level_of, weights=np.diff(ends, prepend=0)).astype(np.int64).tolist()
    distances = [level - best for level in levels.tolist()]
    digits = eta.y * eta.z * distances[-1]  # of a chance
    if (digits + 1) * len(vector) ** 3 <= EXACT_WORK_MAX:
        heads = [eta.x ** (eta.z * distance) << (digits - eta.y * eta.z * distance) for distance in distances]
        shares, denominator = permute_and_flip_law.exact(sizes, heads, digits)
        return exact_law(range(len(vector)), ends, [shares[level] for level in level_of], denominator)
    extra = ceil(distances[-1] * nats(eta)[1] * Fraction(3, 2))  # bits of the least chance: 3/2 > 1/ln 2
    if len(sizes) > LEVELS_MAX or extra * len(sizes) > LAW_BITS_MAX:
        raise NoLawError(f"{len(vector)} outcomes on {len(sizes)} levels of utility, {distances[-1]} apart")
    precision = PRECISION + 2 * len(vector).bit_length() + extra
    chances = [weight_bounds(eta, Fraction(distance), precision) for distance in distances]
    low, high, denominator = permute_and_flip_law.enclosed(sizes, chances, precision, precision - extra)
    low, high = ([side[level] for level in level_of] for side in (low, high))
    return Law(range(len(vector)), ends, low, high, denominator, Fraction(0))


def _sample_member(data: Utilities, parameters: ExponentialParameters, bits: BitSource, n: int) -> Outcomes:
    return sample(clamped(data, parameters), _eta(parameters), bits, n)


def _law_member(data: Utilities, parameters: ExponentialParameters) -> Law[int]:
    return law(clamped(data, parameters), _eta(parameters))


def _eta(parameters: ExponentialParameters) -> Eta:
    return selection_eta(parameters.epsilon, parameters.sensitivity)


BASE2: Mechanism[Utilities, ExponentialParameters, int] = Mechanism(
    "permute-and-flip",
    "exponential",
    _sample_member,
    epsilon_claim,
    _law_member,
    exact=True,
    runs=runs_of_words,
    symmetries=(SHIFT, PERMUTATION),
    ceiling=exact_ceiling.by_moves(_eta),
)
