"""Selection over real utilities rounded at random, many draws at once, where B is a power of two.

Each draw rounds every outcome anew, and so has its own weights. With B = 2^−s the weights are shifts, so a batch
of roundings, weights and running sums are a few array operations, in 64-bit integers and exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.validation import as_utilities
from subnormal.mechanisms.exponential import base2, randomized_rounding
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.normalized import uniform_below

BATCH = 1 << 16  # weights at a time, so that they stay in the cache
TOTAL_BITS_MAX = 62  # running sums in signed 64-bit integers


def sample(
    utilities: ArrayLike,
    eta: Eta,
    bits: BitSource,
    n: int,
    *,
    limits: Limits,
    rounding_precision: int = randomized_rounding.PRECISION,
) -> NDArray[np.int64]:
    """Return n indices with exactly the law of base2.sample over these utilities, int64 of shape (n,).

    Utilities are clamped to the limits and rounded anew for every draw. Fast where utilities are floats, B = 2^−s is a
    power of two, and every running sum that the limits allow fits TOTAL_BITS_MAX bits; else base2.sample.
    Bits, for each batch: the roundings, then a word for each draw, then one for each that was rejected. Leaks: tries.
    Raises ValueError for a negative n.
    Source: Ilvento 2020, Mechanism 4.
    """
    require_draws(n)
    vector, shift, word = as_utilities(utilities), _halvings(eta), _word(eta, limits)
    if vector.dtype.kind == "i" or word > TOTAL_BITS_MAX or len(vector) > limits.max_outcomes:
        return base2.sample(vector, eta, bits, n, limits=limits, rounding_precision=rounding_precision)
    clamped = np.clip(vector, limits.utility_min, limits.utility_max)
    down = np.int64(1) << (shift * (limits.utility_max - np.floor(clamped).astype(np.int64)))
    loss = down - (down >> np.int64(shift))  # of a weight that is rounded up; an integer never is
    threshold = randomized_rounding.thresholds(clamped, rounding_precision)
    batch = max(1, BATCH // len(vector))
    chosen = np.empty(n, dtype=np.int64)
    for start in range(0, n, batch):
        size = min(batch, n - start)
        drawn = _fields(bits, size * len(vector), rounding_precision).reshape(size, len(vector))
        sums = np.cumsum(down - loss * (drawn < threshold.astype(drawn.dtype)), axis=1)
        points = uniform_below(sums[:, -1], word, bits)
        chosen[start : start + size] = np.count_nonzero(sums <= points[:, np.newaxis], axis=1)
    return chosen


def _halvings(eta: Eta) -> int:
    """Return s where B = 2^−s, else 0."""
    return 0 if eta.x & (eta.x - 1) else eta.z * (eta.y - eta.x.bit_length() + 1)


def _word(eta: Eta, limits: Limits) -> int:
    """Return the bits of the largest total, from public values only; more than TOTAL_BITS_MAX where nothing is fast."""
    exponent = _halvings(eta) * (limits.utility_max - limits.utility_min)
    exact_floats = max(-limits.utility_min, limits.utility_max) <= base2.FLOAT_LIMIT
    if not _halvings(eta) or not exact_floats or exponent > TOTAL_BITS_MAX:
        return TOTAL_BITS_MAX + 1
    return (limits.max_outcomes << exponent).bit_length()


def _fields(bits: BitSource, count: int, width: int) -> NDArray[Any]:
    """Return bits.words(count, width), faster and in a smaller type where the width is a power of two."""
    if width & (width - 1):
        return bits.words(count, width)
    total = count * width
    padding = -total % 64
    packed = (bits.take(total) << padding).to_bytes((total + padding) // 8, "big")
    if width >= 8:
        wide = np.frombuffer(packed, dtype=f">u{width // 8}")[:count]
        return wide.astype(wide.dtype.newbyteorder("="))
    whole = np.frombuffer(packed, dtype=np.uint8)
    fields = np.empty((len(whole), 8 // width), dtype=np.uint8)
    for place in range(8 // width):
        fields[:, place] = (whole >> np.uint8(8 - width * (place + 1))) & np.uint8((1 << width) - 1)
    return fields.reshape(-1)[:count]
