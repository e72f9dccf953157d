"""Mironov's snapping mechanism: Laplace noise in floats, made private by rounding away the low bits of the sum.

clamp_B(round_Λ(clamp_B(f) ⊕ S ⊗ λ ⊗ LN(U*))): ⊕ and ⊗ round to p bits, ties to even; LN is the logarithm rounded so;
S is a random sign; Λ is the least power of two ≥ λ; round_Λ goes to the nearest multiple of Λ, ties towards +∞.

U* is uniform over all floats of (0, 1), each with the mass of its spacing: u stands for [u, u + spacing). The exponent
has no least value of its own but a `cutoff`, below which every U* leads to a bound whatever f is, so that the cutoff is
no part of the law. Literal binary64 ends at 2^−1074: noise reaches 745λ at most, and with B beyond half of that some
outcomes are possible in one world only.

Source: Mironov 2012, Section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.family import (
    Data,
    LaplaceParameters,
    exact_values,
    laplace_claim,
    require_number,
    side_by_side,
)
from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Outcomes, Refused
from subnormal.mechanisms.laplace.snapping_bounds import BINARY64, Floats, Snapping, loss_bound, scale_for
from subnormal.mechanisms.numerics.bisection import least_holding
from subnormal.mechanisms.numerics.mpfr import above, nearest_logs

LAW_OUTCOMES_MAX = 4096
ERRORS = 4  # of 2^−p, and of 2^−50, relative: three roundings to p bits, and the estimate in binary64 itself


def sample(value: Fraction, mechanism: Snapping, bits: BitSource, n: int) -> Floats:
    """Return n outcomes, float64 of shape (n,). Source: Mironov 2012, Section 5.2.

    binary64 logarithms decide nearly every outcome; those within the error of a boundary get theirs from MPFR. Raises
    ValueError for a negative n.
    """
    require_draws(n)
    p, centre = mechanism.precision, mechanism.clamped(value)
    fields = bits.words(n, p).astype(np.int64)  # S, and the p − 1 bits of the significand behind its leading one
    signs = np.where(fields >> (p - 1), -1.0, 1.0)
    significands = fields | np.int64(1 << (p - 1))
    exponents = _exponents(bits, n, mechanism.cutoff)
    noise = mechanism.scale * (np.log(np.ldexp(significands.astype(np.float64), -p)) - (exponents - 1) * log(2))
    error = ERRORS * (2.0**-p + 2.0**-50) * (abs(centre) + mechanism.scale - noise)
    outcomes = mechanism.snapped(centre + signs * noise - error)
    near = np.flatnonzero(outcomes != mechanism.snapped(centre + signs * noise + error))
    logs = nearest_logs(significands[near].tolist(), (exponents[near] + (p - 1)).tolist(), p)
    outcomes[near] = mechanism.released(centre, signs[near], np.array(logs, dtype=np.float64))
    return outcomes


def _exponents(bits: BitSource, n: int, cutoff: int) -> NDArray[np.int64]:
    """Return n exponents e, U* in [2^−e, 2^(1−e)): geometric, 1 with probability ½, but at most `cutoff`."""
    exponents = np.ones(n, dtype=np.int64)
    pending = np.arange(n)
    while len(pending):
        words = bits.words(len(pending))
        high, low = (np.frexp(half.astype(np.float64))[1] for half in (words >> 32, words & 0xFFFFFFFF))
        exponents[pending] += bits.word_bits - np.where(high > 0, 32 + high, low)
        pending = pending[(words == 0) & (exponents[pending] < cutoff)]
    return np.minimum(exponents, cutoff)


def law(value: Fraction, mechanism: Snapping) -> Law[float]:
    """Return the exact distribution of the outcomes: at most 2B/Λ + 3 of them, each of positive probability.

    For either sign the outcome is monotone in U*, every operation being so, and {U* < u} has mass u: an outcome's mass
    is the difference of two floats, each found by bisection with the mechanism's own arithmetic. Raises NoLawError
    where there are more than LAW_OUTCOMES_MAX steps of Λ from −B to B.
    """
    if 2 * mechanism.bound > LAW_OUTCOMES_MAX * mechanism.step:
        raise NoLawError(f"more than {LAW_OUTCOMES_MAX} steps of {mechanism.step} up to a bound of {mechanism.bound}")
    inside = ceil(Fraction(mechanism.bound) / Fraction(mechanism.step)) - 1
    multiples = mechanism.step * np.arange(-inside, inside + 1, dtype=np.float64)
    outcomes = np.concatenate([[-mechanism.bound], multiples, [mechanism.bound]])
    centre, top = mechanism.clamped(value), mechanism.cutoff + mechanism.precision - 1
    up = _boundaries(mechanism, lambda logs: mechanism.released(centre, 1.0, logs) >= outcomes[1:], len(outcomes) - 1)
    down = _boundaries(mechanism, lambda logs: mechanism.released(centre, -1.0, logs) < outcomes[1:], len(up))
    below = [0, *(plus + (1 << top) - minus for plus, minus in zip(up, down, strict=True)), 2 << top]
    masses = [after - before for before, after in pairwise(below)]
    possible = [place for place, mass in enumerate(masses) if mass]
    atoms: Any = outcomes[possible]
    return exact_law(atoms, range(1, len(atoms) + 1), [masses[place] for place in possible], 2 << top)


def _boundaries(mechanism: Snapping, reached: Callable[[Floats], NDArray[np.bool_]], count: int) -> list[int]:
    """Return for each of `count` outcomes the least u, times 2^(cutoff + p − 1), whose logarithm has `reached` it; 1
    where none has. Bisects the binades first, then the significands of the last binade not yet reached.
    """
    p, cutoff = mechanism.precision, mechanism.cutoff
    half = 1 << (p - 1)

    def at(significands: NDArray[np.int64], binades: NDArray[np.int64]) -> NDArray[np.bool_]:
        shifts = (p - 1 + cutoff - binades).tolist()
        return reached(np.array(nearest_logs(significands.tolist(), shifts, p), dtype=np.float64))

    leading = np.full(count, half, dtype=np.int64)
    binades = least_holding(lambda middle: at(leading, middle), np.zeros(count, dtype=np.int64), cutoff) - 1
    significands = least_holding(lambda middle: at(middle, binades), leading, 2 * half)
    return [one << binade for one, binade in zip(significands.tolist(), binades.tolist(), strict=True)]


def _calibrated(parameters: LaplaceParameters, precision: int, coordinates: int) -> Snapping | Refused:
    """Return the mechanism that keeps ε: B the larger of the bounds' magnitudes, λ from `scale_for`.

    A refusal where no scale is proved to keep it. That depends on public values alone, so it leaks nothing.
    """
    bound = above(max(abs(Fraction(parameters.lower)), abs(Fraction(parameters.upper))), precision)
    options: dict[str, Any] = {"sensitivity": parameters.sensitivity, "coordinates": coordinates}
    try:
        mechanism = Snapping(scale_for(parameters.epsilon, bound, precision=precision, **options), bound, precision)
        loss_bound(mechanism, **options)  # raises where no bound is proved
    except ValueError as error:
        return Refused(f"ValueError: {error}")
    return mechanism


def _member(name: str, precision: int) -> Mechanism[Data, LaplaceParameters, Any]:
    def sample_member(data: Data, parameters: LaplaceParameters, bits: BitSource, n: int) -> Outcomes:
        exact = exact_values(data, parameters.query)
        mechanism = _calibrated(parameters, precision, len(exact))
        if isinstance(mechanism, Refused):
            return [mechanism] * n
        columns = [sample(value, mechanism, bits, n) for value in exact]
        return side_by_side(columns, data, parameters.query)

    def law_member(data: Data, parameters: LaplaceParameters) -> Law[Any]:
        require_number(data, parameters.query)
        mechanism = _calibrated(parameters, precision, 1)
        if isinstance(mechanism, Refused):
            return exact_law([mechanism], [1], [1], 1)
        return law(exact_values(data, parameters.query)[0], mechanism)

    return Mechanism(name, "laplace", sample_member, laplace_claim, law_member)


SNAPPING = _member("laplace-snapping", BINARY64)
SNAPPING_16_BIT = _member("laplace-snapping-16-bit", 16)
