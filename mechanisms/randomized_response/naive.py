"""Randomized response in floating point, as people write it. Not private: it is here to be attacked.

    p = exp(ε) / (exp(ε) + k - 1)
    if random() < p: report the truth
    else: j = int(random() * (k - 1)), and report the j-th of the other categories

What floats do to it, with uniforms i·2^−w (w = 53, 24 or 11 bits):
- With k = 2 and e^ε ≥ 2^(w+2) both additions are absorbed, p = 1, and the truth is always reported: an infinite loss.
- Where e^ε overflows, p = ∞/∞ is not a number, no uniform lies below it, and the truth is never reported.
- The number of uniforms below p is a whole number, ⌈p·2^w⌉. So the loss exceeds ε in about half of all cases, by
  little where p and 1 − p are far above 2^−w, and the truth has at least 2^−w, however many categories there are.
- 2^w uniforms cannot choose equally among k − 1 categories, unless k − 1 divides 2^w. Where k − 1 > 2^w, some category
  is reported by those alone for whom it is the truth: an infinite loss at any ε.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, block_ends, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, of_member
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.randomized_response.family import (
    RandomizedResponseParameters,
    require_categories,
    require_category,
    require_law,
)
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits

STRINGS_MAX = 1 << 13  # strings of bits up to which a walk over all of them takes less than a second
TRUTH = -1  # stands among counts, which are never negative, for the true category


def threshold(epsilon: float, categories: int, float_type: DTypeLike = np.float64) -> np.floating[Any]:
    """Return p = e^ε/(e^ε + k − 1), every operation rounded in the float type, from left to right.

    1 where the additions are absorbed, NaN where e^ε overflows. Raises ValueError where k is no finite float.
    """
    require_positive("epsilon", epsilon)
    require_categories(categories)
    kind: Any = np.dtype(float_type).type
    largest = float(np.finfo(kind).max)
    if categories > largest:
        raise ValueError(f"categories must be at most {largest:g} in {np.dtype(kind)}, got {categories}")
    with np.errstate(over="ignore", invalid="ignore"):
        odds = np.exp(kind(epsilon))
        result: np.floating[Any] = odds / (odds + kind(categories) - kind(1))
    return result


def uniforms(words: NDArray[np.integer[Any]], float_type: DTypeLike) -> NDArray[np.floating[Any]]:
    """Return words·2^−w in the float type, exactly, for words below 2^w."""
    scaled = np.ldexp(words.astype(np.float64), -uniform_bits(float_type))
    return scaled.astype(np.dtype(float_type))


def others(words: NDArray[np.integer[Any]], categories: int, float_type: DTypeLike) -> NDArray[np.int64]:
    """Return int(u·(k − 1)) for the uniform of each word, the product rounded in the float type: from 0 to k − 2.

    It is never k − 1. Let m be k − 1 as a float. The largest product, m·(1 − 2^−w), is nearer to the float before m
    than to m; and that float is below k − 1, which was rounded to m and not to it.
    """
    kind: Any = np.dtype(float_type).type
    chosen: NDArray[np.int64] = (uniforms(words, float_type) * kind(categories - 1)).astype(np.int64)
    return chosen


def sample(
    category: int, epsilon: float, bits: BitSource, n: int, *, categories: int, float_type: DTypeLike = np.float64
) -> NDArray[np.int64]:
    """Return n reports of the category, int64 of shape (n,). One uniform decides on the truth, another on a lie.

    Source: the usual code of k-RR, also known as generalized randomized response or direct encoding. Leaks: bits
    consumed tell whether the report is true, besides everything that this project is about. Raises ValueError for a
    negative n.
    """
    require_draws(n)
    require_category(category, categories)
    width, below = uniform_bits(float_type), threshold(epsilon, categories, float_type)
    reports = np.full(n, category, dtype=np.int64)
    lies = np.flatnonzero(~(uniforms(bits.words(n, width), float_type) < below))
    chosen = others(bits.words(len(lies), width), categories, float_type)
    reports[lies] = chosen + (chosen >= category)
    return reports


def true_words(epsilon: float, categories: int, float_type: DTypeLike = np.float64) -> int:
    """Return how many of the 2^w uniforms lead to the truth: ⌈p·2^w⌉, none where p is not a number."""
    below = float(threshold(epsilon, categories, float_type))  # widening is exact
    return ceil(np.ldexp(below, uniform_bits(float_type))) if below == below else 0


@lru_cache(maxsize=8)
def words_of_others(categories: int, float_type: DTypeLike = np.float64) -> NDArray[np.int64]:
    """Return how many of the 2^w uniforms lead to each of the other categories, shape (categories − 1,).

    The choice is monotone in the uniform, so the first one of each category is found by bisection, through `others`.
    """
    least, before = np.arange(categories, dtype=np.int64), np.full(categories, -1)
    reached = np.full(categories, 1 << uniform_bits(float_type))
    first = least_holding(lambda word: others(np.maximum(word, 0), categories, float_type) >= least, before, reached)
    counts = np.diff(first)
    counts.flags.writeable = False
    return counts


def law(category: int, epsilon: float, *, categories: int, float_type: DTypeLike = np.float64) -> Law[int]:
    """Return the exact distribution of this code: how many of the 2^(2w) pairs of uniforms lead to each report.

    Raises NoLawError for more than 2^22 categories.
    """
    require_category(category, categories)
    require_law(categories)
    width, true = uniform_bits(float_type), true_words(epsilon, categories, float_type)
    lies = (1 << width) - true
    counts = np.insert(words_of_others(categories, np.dtype(float_type)), category, TRUTH)
    ends = block_ends(counts)
    weights = [true << width if count == TRUTH else lies * count for count in counts[ends - 1].tolist()]
    return exact_law(range(categories), ends, weights, 1 << 2 * width)


def _member(float_type: DTypeLike) -> Mechanism[int, RandomizedResponseParameters, int]:
    def arguments(parameters: RandomizedResponseParameters) -> tuple[float, dict[str, Any]]:
        return parameters.epsilon, {"categories": parameters.categories, "float_type": float_type}

    def walk_depth(data: int, parameters: RandomizedResponseParameters) -> int | None:
        """Two words; the second one is drawn for a lie only."""
        width = uniform_bits(float_type)
        lies = (1 << width) - true_words(parameters.epsilon, parameters.categories, float_type)
        return 2 * width if (1 << width) + (lies << width) <= STRINGS_MAX else None

    name = f"randomized-response-naive-{np.dtype(float_type).name}"
    own_sample, own_law = of_member(sample, arguments), of_member(law, arguments)
    return Mechanism(name, "randomized-response", own_sample, epsilon_claim, own_law, depth=walk_depth)


FLOAT64 = _member(np.float64)
FLOAT32 = _member(np.float32)
FLOAT16 = _member(np.float16)
