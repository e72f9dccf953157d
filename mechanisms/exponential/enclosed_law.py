"""The law of a selection by weights as an enclosure: of real weights, and of rational ones that are too long."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from subnormal.mechanisms.core.law import Law, block_ends
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate, nats

LAW_BITS_MAX = 1 << 26  # of all different weights together: seconds
PRECISION = 128
GUARD = 64  # significant bits of the total beyond the precision


def enclosed_law(utilities: Utilities, rate: Rate, precision: int = PRECISION) -> Law[int]:
    """Return bounds on the distribution over indices, each to a relative 2^−precision, about.

    A weight is a fixed-point number, so the lightest decides its length; all but its last bits are zeros, and the total
    is rounded to a few significant bits. Raises NoLawError where weights need more than LAW_BITS_MAX bits together.
    """
    ends = block_ends(utilities)
    levels, level_of = np.unique(utilities[ends - 1], return_inverse=True)
    distinct = [Fraction(level) for level in levels.tolist()]
    best, worst = distinct[0], distinct[-1]
    bits = precision + len(utilities).bit_length() + ceil((worst - best) * nats(rate)[1] * Fraction(3, 2))  # > 1/ln 2
    if bits * len(distinct) > LAW_BITS_MAX:
        span = f"{len(distinct)} utilities from {float(best)} to {float(worst)}"
        raise NoLawError(f"{span} need {bits} bits each, more than {LAW_BITS_MAX} together")
    bounds = [weight_bounds(rate, value - best, bits) for value in distinct]
    counts = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(counts, level_of, np.diff(ends, prepend=0))
    least, most = (sum(n * of[side] for n, of in zip(counts.tolist(), bounds, strict=True)) for side in (0, 1))
    cut = max(0, least.bit_length() - precision - GUARD)
    least, most = least >> cut, -(-most >> cut)
    lowest = [(low << bits - cut) // most for low, _ in bounds]
    highest = [-((-high << bits - cut) // least) for _, high in bounds]
    low, high = ([side[level] for level in level_of.tolist()] for side in (lowest, highest))
    return Law(range(len(utilities)), ends, low, high, 1 << bits, Fraction(0))
