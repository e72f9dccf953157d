"""The law of a selection by weights as an enclosure: of real weights, and of rational ones that are too long."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from subnormal.mechanisms.core.law import Law, block_ends
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Rate, nats

LAW_BITS_MAX = 1 << 28  # of a probability: 32 MiB
PRECISION = 128
GUARD = 64  # significant bits of the total beyond the precision


def enclosed_law(utilities: Utilities, rate: Rate, precision: int = PRECISION) -> Law[int]:
    """Return bounds on the distribution over indices, each to a relative 2^−precision, about.

    A weight is a fixed-point number, so the lightest decides its length; all but its last bits are zeros, and the total
    is rounded to a few significant bits. Raises ValueError where weights need more than LAW_BITS_MAX bits.
    """
    ends = block_ends(utilities)
    values = [Fraction(value) for value in utilities[ends - 1].tolist()]
    best, worst = min(values), max(values)
    bits = precision + len(utilities).bit_length() + ceil((worst - best) * nats(rate)[1] * Fraction(3, 2))  # > 1/ln 2
    if bits > LAW_BITS_MAX:
        raise ValueError(f"utilities from {float(best)} to {float(worst)} need {bits} bits, more than {LAW_BITS_MAX}")
    bounds = {value: weight_bounds(rate, value - best, bits) for value in set(values)}
    low, high = ([bounds[value][side] for value in values] for side in (0, 1))
    counts = np.diff(ends, prepend=0).tolist()
    least, most = (sum(n * mass for n, mass in zip(counts, side, strict=True)) for side in (low, high))
    cut = max(0, least.bit_length() - precision - GUARD)
    least, most = least >> cut, -(-most >> cut)
    return Law(
        range(len(utilities)),
        ends,
        [(mass << bits - cut) // most for mass in low],
        [-((-mass << bits - cut) // least) for mass in high],
        1 << bits,
        Fraction(0),
    )
