"""Thresholded noise, exactly: discrete noise on a grid, the threshold on the exact sum, one rounding afterwards.

Integers are on the grid of 1, floats on 2^grid, by default that of all floats. A key is released where value + noise is
at least T (for T < 0, at most T), as the number of its type that is nearest to the sum, saturated at the type's limits:
that is post-processing.

What it promises (`privacy`). Let t = P(noise ≥ T − Δ_∞), a bound on the chance that a key is released which a neighbour
does not have. For Laplace noise (Δ₁/scale, 1 − (1−t)^Δ₀). Proof: let a be the chance that none of the keys of x alone
is released, b that of x' alone, both at least (1−t)^Δ₀, and P ≤ e^ε·Q the laws of the common keys. The hockey-stick
divergence is at most (1 − a) + Σ(a·P − e^ε·b·Q)₊ ≤ (1 − a) + (a − b)₊ = 1 − min(a, b). It is attained by Δ₀ keys with
the value Δ_∞ that the neighbour does not have. For Gaussian noise the common keys are ρ-zCDP, ρ = (Δ₂/σ)²/2, and the
δ is the same; with j keys apart and δ' that of the rest at ε, it is at most 1 − (1−t)^j·(1−δ'), and δ' = 0 at j = Δ₀.
So ε(t) on the curve of ρ, beside the same δ, is a claim too.

The boundary. Who keeps what is *at least* T must count P(noise = T − Δ_∞) in t: with integers, scale 1, T = 10 and
sensitivities (1, 1, 1), t = P(noise ≥ 9) = B^9/(1+B) with B = e^−1: 9.022e-5. OpenDP 0.16 says 3.319e-5 there, which is
P(noise > 9) = B^10/(1+B), and keeps 10 all the same: its figure is a factor of e too small (its issue 2922 says so).
On the grid of all floats the boundary has a probability below 2^−1074, and nothing is lost.

What it leaks. Time: it grows with the number of keys that the data have, and a draw that its first digits do not decide
takes longer. The order of the mapping does not matter: keys are sorted first.
Sources: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Rogers 2023 (arXiv:2309.09170); Canonne, Kamath, Steinke 2020; the
design of OpenDP's thresholded noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, frexp, lcm
from typing import Any

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.numerics.mpfr import float_up, power_bounds, rational
from subnormal.mechanisms.privacy import ApproximateZcdp, Claim, Eta, Zcdp, noise_claim
from subnormal.mechanisms.samplers import lazy_digits
from subnormal.mechanisms.samplers.inverse_transform import JUDGED
from subnormal.mechanisms.samplers.noise_tails import (
    SUMMED,
    Bounds,
    gaussian_mass,
    gaussian_tail,
    laplace_mass,
    laplace_tail,
)
from subnormal.mechanisms.threshold.family import (
    Data,
    Released,
    Sensitivities,
    ThresholdParameters,
    steps_apart,
    vector,
)
from subnormal.mechanisms.threshold.release import Rounded, Saturated, mappings, passing

LAW_ATOMS_MAX = 1 << 12  # of one key
LAW_BITS = 256  # of an enclosure
DELTA_BITS = 1 << 11  # a relative 2^−900 of a δ that a float holds


def privacy(parameters: ThresholdParameters, sensitivities: Sensitivities) -> Claim:
    """Return what a release promises for mappings so far apart, rounded up: see above.

    sensitivities: Δ₀, Δ₁ or Δ₂, Δ_∞; redundant ones are tightened, and rounding to the grid is counted. For Gaussian
    noise the claim has its ρ beside (ε, δ), as ρ-zCDP but for δ. A threshold below Δ_∞ is no error: then t > 1/2.

    >>> privacy(ThresholdParameters("laplace", 1.0, 10, "int64"), (1, 1, 1))
    Claim(epsilon=1.0, delta=9.021979596461533e-05)
    >>> privacy(ThresholdParameters("gaussian", 1.0, 20.0, "float64"), (1, 1, 1)).rho
    0.5
    """
    return promised(parameters, sensitivities, lambda start: tail(parameters, start)[1])


def promised(parameters: ThresholdParameters, sensitivities: Sensitivities, chance: Callable[[int], Fraction]) -> Claim:
    """Return the promise of noise for which chance(start) is said to be at least P(noise ≥ start), in steps."""
    keys, apart, most = steps_apart(parameters, sensitivities)
    if keys == 0:
        return Claim(0.0)
    one = chance(parameters.threshold_steps - most)
    # (1−t)^Δ₀ ≤ e^(−tΔ₀): below e^−64 it is no float's difference from 1, and its digits could fill the memory.
    none = power_bounds(1 - one, keys, DELTA_BITS)[0] if keys * one < 64 and one < 1 else Fraction(0)
    delta = min(1.0, float_up(1 - none))
    if parameters.noise == "gaussian":
        zcdp = Zcdp.of(apart / (2 * parameters.sigma**2))
        return ApproximateZcdp(zcdp.epsilon(float_down(one)), delta, zcdp.rho)
    rate = parameters.rate
    epsilon = noise_claim(rate, int(apart)).epsilon if isinstance(rate, Eta) else float_up(apart * rate)
    return Claim(epsilon, delta)


def with_delta(parameters: ThresholdParameters, delta: float) -> ThresholdParameters:
    """Return the parameters with the least |T| for which the promised δ is at most `delta`, and the limit as far above.

    Least among the multiples of the grid, or of a power of two near a 32nd of the scale where that is coarser. Raises
    ValueError for a δ of 0: none is promised, whatever T.

    >>> with_delta(ThresholdParameters("laplace", 1.0, 20), 1e-4).threshold
    10
    """
    if not 0 < delta <= 1:
        raise ValueError(f"delta must be above 0 for a threshold, and at most 1, got {delta}")
    scale = parameters.scale
    spread = 2.0**parameters.step / scale.nats if isinstance(scale, Eta) else float(scale)
    unit = Fraction(2) ** max(parameters.step, frexp(spread)[1] - 5)

    def at(multiple: int) -> ThresholdParameters:
        size = rational("threshold", parameters.threshold)
        chosen = multiple * unit if size > 0 else -multiple * unit
        limit = parameters.limit and _number(rational("limit", parameters.limit) + abs(chosen) - abs(size))
        return replace(parameters, threshold=_number(chosen), limit=limit)

    high = 1
    while privacy(at(high), parameters.sensitivities).delta > delta:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if privacy(at(middle), parameters.sensitivities).delta <= delta else (middle, high)
    return at(high)


def _number(value: Fraction) -> int | float:
    """Return a number that is an integer as one, and another as the nearest float."""
    return int(value) if value.denominator == 1 else float(value)


def float_down(value: Fraction) -> float:
    """Return the greatest float ≤ value > 0, or the least positive one."""
    return max(-float_up(-value), 5e-324)


@lru_cache(maxsize=1 << 12)
def tail(parameters: ThresholdParameters, start: int) -> Bounds:
    """Return bounds on P(noise ≥ start), in steps of the grid."""
    if parameters.noise == "laplace":
        return laplace_tail(parameters.rate, start)
    return gaussian_tail(parameters.sigma, start)


def claim(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise for the parameters' sensitivities."""
    return privacy(parameters, parameters.sensitivities)


def sample(data: Data, parameters: ThresholdParameters, bits: BitSource, n: int) -> list[Released]:
    """Return n releases: of each the sorted items of what passes the threshold. Of no keys nothing is released.

    Integers take one word a key and draw at a scale up to 64, and one more for every further 8 bits of it; floats at
    least six. Raises ValueError for a value that is no finite number, or not of the parameters' type.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> parameters = ThresholdParameters("laplace", 2.0, 20)
    >>> sample({"London": 71, "Ely": 1}, parameters, seeded_bits(1), 2)
    [(('London', 67),), (('London', 72),)]
    """
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    keys = sorted(data)
    values = vector([data[key] for key in keys], parameters)
    sign = 1 if parameters.threshold > 0 else -1  # noise is symmetric: minus the values keep what is at least −T
    outcomes: list[Released] = []
    finish, rows = _finish(parameters), max(1, JUDGED // max(1, len(keys)))
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
    digits, least = (24, -149) if parameters.values == "float32" else (53, -1074)
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
        raise NoLawError(f"the sums are rounded to {parameters.values}, and nobody counts what meets where")
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


def _mass(parameters: ThresholdParameters, at: int) -> Bounds:
    laplace = parameters.noise == "laplace"
    return laplace_mass(parameters.rate, at) if laplace else gaussian_mass(parameters.sigma, at)


EXACT: Mechanism[Data, ThresholdParameters, Released] = Mechanism(
    "threshold-exact", "threshold", sample, claim, law, exact=True
)
