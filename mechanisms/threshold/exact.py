"""Thresholded noise, exactly: discrete noise on a grid, the threshold on the exact sum, one rounding afterwards.

Integers are on the grid of 1, floats on 2^grid, by default that of all floats. A key is released where value + noise is
at least T (for T < 0, at most T), as the number of its type that is nearest to the sum, saturated at the type's limits:
that is post-processing. `family` says what it promises, and why.

What it leaks. Time: it grows with the number of keys that the data have, and a draw that its first digits do not decide
takes longer. The order of the mapping does not matter: keys are sorted first.
Sources: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Rogers 2023 (arXiv:2309.09170); Canonne, Kamath, Steinke 2020; the
design of OpenDP's thresholded noise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lcm
from typing import Any

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import PERMUTATION
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.numerics.mpfr import rational
from subnormal.mechanisms.samplers import lazy_digits
from subnormal.mechanisms.samplers.inverse_transform import DRAWS_AT_ONCE
from subnormal.mechanisms.samplers.noise_tails import SUMMED, ProbabilityBounds, gaussian_mass, laplace_mass
from subnormal.mechanisms.threshold.family import COMMON_KEYS, claim, tail
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters, vector
from subnormal.mechanisms.threshold.release import Rounded, Saturated, mappings, passing

LAW_ATOMS_MAX = 1 << 12  # of one key
LAW_BITS = 256  # of an enclosure


def sample(data: Data, parameters: ThresholdParameters, bits: BitSource, n: int) -> list[Released]:
    """Return n releases: of each the sorted items of what passes the threshold. Of no keys nothing is released.

    Integers take one word a key and draw at a scale up to 64, and one more for every further 8 bits of it; floats at
    least six. Raises ValueError for a value that is no finite number, or not of the parameters' type.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> parameters = ThresholdParameters("laplace", 2.0, 20)
    >>> sample({"London": 71, "Ely": 1}, parameters, seeded_bits(1), 2)
    [(('London', 67),), (('London', 72),)]
    """
    require_draws(n)
    keys = sorted(data)
    values = vector([data[key] for key in keys], parameters)
    sign = 1 if parameters.threshold > 0 else -1  # noise is symmetric: minus the values keep what is at least −T
    outcomes: list[Released] = []
    finish, rows = _finish(parameters), max(1, DRAWS_AT_ONCE // max(1, len(keys)))
    for start in range(0, n, rows):
        drawn = min(rows, n - start)
        passed = passing(sign * values, parameters.threshold_steps, _noise(parameters), finish, bits, drawn)
        outcomes += mappings(keys, sign, passed, drawn)
    return outcomes


def _noise(parameters: ThresholdParameters) -> lazy_digits.Noise:
    laplace = parameters.noise == "laplace"
    return lazy_digits.laplace(parameters.rate) if laplace else lazy_digits.gaussian(parameters.sigma)


def _finish(parameters: ThresholdParameters) -> Saturated | Rounded:
    """Return what is made of a sum that passes: minus it, for T < 0."""
    most = rational("limit", parameters.most if parameters.limit is None else parameters.limit)
    if parameters.integers:
        down = parameters.threshold < 0 and parameters.limit is None  # two's complement reaches one further
        return Saturated(min(floor(most), int(parameters.most)) + down)
    digits, least = float_types.digits(parameters.values), float_types.least_positive_exponent(parameters.values)
    return Rounded(parameters.step, digits, least, min(float(most), float(parameters.most)))


def law(data: Data, parameters: ThresholdParameters) -> Product[Any]:
    """Return the distribution of `sample`: a law for each key; exact with an Eta whose powers have no more than 2^14
    bits, else enclosures 2^−188 wide or less.

    Raises NoLawError without a limit, for Gaussian noise of more than 512 steps, and where one key has more than 2^12
    outcomes, or floats that would be rounded.
    """
    if parameters.noise == "gaussian" and parameters.sigma > SUMMED:
        raise NoLawError(f"sigma = {parameters.scale} is more than {SUMMED} steps of 2^{parameters.step}")
    finish, least = _finish(parameters), parameters.threshold_steps
    most = rational("limit", parameters.most if parameters.limit is None else parameters.limit)
    top = max(least, floor(most / Fraction(2) ** parameters.step))
    if top - least >= LAW_ATOMS_MAX:
        raise NoLawError(
            f"{top - least + 1} values of a key from the threshold to the limit, more than {LAW_ATOMS_MAX}"
        )
    if any(finish(steps) != steps * Fraction(2) ** parameters.step for steps in (*range(least, top), top)):
        raise NoLawError(f"the sums are rounded to {parameters.values}, and no law counts rounded sums")
    sign = 1 if parameters.threshold > 0 else -1
    steps = vector([*data.values()], parameters).tolist()
    return Product({key: _part(parameters, top, sign * value) for key, value in zip(data, steps, strict=True)})


@lru_cache(maxsize=1 << 10)
def _part(parameters: ThresholdParameters, top: int, value: int) -> Law[Any]:
    """Return the law of one key: None, or a sum from T to the top, where all that lie above are."""
    least, finish = parameters.threshold_steps, _finish(parameters)
    sign = 1 if parameters.threshold > 0 else -1
    atoms = [None, *(sign * finish(steps) for steps in range(least, top + 1))]
    passed, above = tail(parameters, least - value), tail(parameters, top - value)
    between = [_mass(parameters, steps - value) for steps in range(least, top)]
    masses = [(1 - passed[1], 1 - passed[0]), *between, above]
    if all(low == high for low, high in masses):
        denominator = lcm(*(low.denominator for low, _ in masses))
        return exact_law(atoms, range(1, len(atoms) + 1), [int(low * denominator) for low, _ in masses], denominator)
    low, high = [floor(one * (1 << LAW_BITS)) for one, _ in masses], [ceil(one * (1 << LAW_BITS)) for _, one in masses]
    return Law(atoms, range(1, len(atoms) + 1), low, high, 1 << LAW_BITS, Fraction(0))


def _mass(parameters: ThresholdParameters, at: int) -> ProbabilityBounds:
    laplace = parameters.noise == "laplace"
    return laplace_mass(parameters.rate, at) if laplace else gaussian_mass(parameters.sigma, at)


EXACT: Mechanism[Data, ThresholdParameters, Released] = Mechanism(
    "threshold-exact", "threshold", sample, claim, law, exact=True, symmetries=(COMMON_KEYS, PERMUTATION)
)
