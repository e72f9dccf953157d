"""The family `threshold`: noise on every value of a mapping whose keys are private, and only what passes is released.

Data: a mapping from key to number; the keys are those that somebody holds, and nobody knows them beforehand. Outcome: a
mapping too, as its sorted items: keys whose noisy value is at least the threshold T > 0 (at most T, for T < 0), with
that value. A key that one person alone holds must not be released but with probability δ.

Two mappings are adjacent when they differ in at most Δ₀ keys, by at most Δ_∞ in any one and at most Δ₁ (Gaussian
noise: Δ₂) in total; a key that one of them does not have counts as 0 there, and as one of the Δ₀ even where its value
is 0.

What exact noise promises (`privacy`). Let t = P(noise ≥ T − Δ_∞), a bound on the chance that a key is released which a
neighbour does not have. For Laplace noise (Δ₁/scale, 1 − (1−t)^Δ₀). Proof: let a be the chance that none of the keys of
x alone is released, b that of x' alone, both at least (1−t)^Δ₀, and P ≤ e^ε·Q the laws of the common keys. The
hockey-stick divergence is at most (1 − a) + Σ(a·P − e^ε·b·Q)₊ ≤ (1 − a) + (a − b)₊ = 1 − min(a, b). It is attained by
Δ₀ keys with the value Δ_∞ that the neighbour does not have. For Gaussian noise the common keys are ρ-zCDP, ρ =
(Δ₂/σ)²/2, and the δ is the same; with j keys apart and δ' that of the rest at ε, it is at most 1 − (1−t)^j·(1−δ'), and
δ' = 0 at j = Δ₀. So ε(t) on the curve of ρ, beside the same δ, is a claim too.

The boundary. Who keeps what is *at least* T must count P(noise = T − Δ_∞) in t: with integers, scale 1, T = 10 and
sensitivities (1, 1, 1), t = P(noise ≥ 9) = B^9/(1+B) with B = e^−1: 9.022e-5. OpenDP 0.16 says 3.319e-5 there, which is
P(noise > 9) = B^10/(1+B), and keeps 10 all the same: its figure is a factor of e too small (its issue 2922 says so).
On the grid of all floats the boundary has a probability below 2^−1074, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from string import ascii_lowercase

import numpy as np

from subnormal.mechanisms.core.domain import Domain, Points, Symmetry, box, options_text
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.numerics.mpfr import float_up, power_bounds, rational
from subnormal.mechanisms.privacy import ApproximateZcdp, Claim, Eta, Zcdp, noise_claim
from subnormal.mechanisms.samplers.noise_tails import ProbabilityBounds, gaussian_tail, laplace_tail
from subnormal.mechanisms.threshold.parameters import (
    Data,
    Sensitivities,
    ThresholdParameters,
    checked,
    steps_apart,
)

DELTA_BITS = 1 << 11  # a relative 2^−900 of a δ that a float holds


def adjacent(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> bool:
    """Return whether the mappings are as near as the parameters' sensitivities say, compared exactly.

    Raises ValueError for what is no mapping.
    """
    for data in (data_in, data_out):
        if not isinstance(data, Mapping):
            raise ValueError(f"data must be a mapping from keys to numbers, got a {type(data).__name__}")
    keys, total, most = checked(parameters.sensitivities)
    shared = data_in.keys() & data_out.keys()
    apart = [abs(rational("value", data_in[key]) - rational("value", data_out[key])) for key in shared]
    apart = [distance for distance in apart if distance]
    alone = (data[key] for data in (data_in, data_out) for key in data.keys() - shared)
    apart += [abs(rational("value", value)) for value in alone]
    order = 1 if parameters.noise == "laplace" else 2
    moved = sum((distance**order for distance in apart), Fraction(0))
    return len(apart) <= keys and moved <= total**order and all(distance <= most for distance in apart)


def privacy(parameters: ThresholdParameters, sensitivities: Sensitivities) -> Claim:
    """Return what a release promises for mappings so far apart, rounded up: see above.

    sensitivities: Δ₀, Δ₁ or Δ₂, Δ_∞; redundant ones are tightened, and rounding to the grid is counted. For Gaussian
    noise the claim has its ρ beside (ε, δ), as ρ-zCDP except for δ. A threshold below Δ_∞ is no error: then t > 1/2.

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


def float_down(value: Fraction) -> float:
    """Return the greatest float ≤ value > 0, or the least positive one."""
    return max(-float_up(-value), 5e-324)


@lru_cache(maxsize=1 << 12)
def tail(parameters: ThresholdParameters, start: int) -> ProbabilityBounds:
    """Return bounds on P(noise ≥ start), in steps of the grid."""
    if parameters.noise == "laplace":
        return laplace_tail(parameters.rate, start)
    return gaussian_tail(parameters.sigma, start)


def claim(parameters: ThresholdParameters, data_in: Data, data_out: Data) -> Claim:
    """Return the promise for the parameters' sensitivities."""
    return privacy(parameters, parameters.sensitivities)


def mappings(
    most: int = 20,
    keys: int = 3,
    scale: float = 4.0,
    threshold: int = 12,
    limit: int = 14,
    changed: int = 2,
    apart: int = 4,
) -> Domain[Data, ThresholdParameters]:
    """Return the mappings from at most so many keys to integers from 0 to `most`, for Laplace noise of that scale.

    Neighbours differ in at most `changed` keys, by at most `apart` in each.
    """
    points = box(0, most + 1, keys)  # 0: the key is missing; v + 1: its value is v
    values = np.maximum(points - 1, 0)

    def neighbours(point: Points) -> Points:
        differ = points != point
        near = (np.abs(values - np.maximum(point - 1, 0)) <= apart).all(axis=1)
        count = differ.sum(axis=1)
        found: Points = points[near & (count > 0) & (count <= changed)]
        return found

    return Domain(
        options_text(
            "mappings",
            most=most,
            keys=keys,
            scale=scale,
            threshold=threshold,
            limit=limit,
            changed=changed,
            apart=apart,
        ),
        ThresholdParameters("laplace", scale, threshold, "int64", (changed, changed * apart, apart), limit=limit),
        points,
        lambda point: {key: int(code) - 1 for key, code in zip(ascii_lowercase, point.tolist(), strict=False) if code},
        neighbours,
    )


def _without_common(points_in: Points, points_out: Points) -> tuple[Points, Points]:
    differ = points_in != points_out
    return points_in * differ, points_out * differ


COMMON_KEYS = Symmetry("common keys", _without_common)  # keys are independent: those with equal values cancel

FAMILY: Family[Data, ThresholdParameters] = Family(
    name="threshold",
    parameters=ThresholdParameters,
    adjacent=adjacent,
    claim=claim,
    members=(
        "subnormal.mechanisms.threshold.naive:FLOAT64",
        "subnormal.mechanisms.threshold.naive:FLOAT32",
        "subnormal.mechanisms.threshold.naive:ROUNDED_FIRST",
        "subnormal.mechanisms.threshold.naive:OPEN_TAIL",
        "subnormal.mechanisms.threshold.exact:EXACT",
        "subnormal.mechanisms.libraries.opendp:THRESHOLD",
    ),
    domain=mappings,
    order=7,
)
