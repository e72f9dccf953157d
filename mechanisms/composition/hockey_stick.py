"""Bounds on the hockey-stick divergence δ(ε) = Σ(A − e^ε·B)₊ of many runs, from tilted convolution powers.

At a tilt λ, an error E of the tilted masses changes δ(ε) by at most E·e^(r·K − λε)·sup_{x ≥ 0} e^(−λx)(1 − e^−x), where
K is the logarithm of the moment of e^(λ·loss): with E = 1 that is the moments accountant's bound at the order 1 + λ
(Canonne, Kamath, Steinke 2020, Proposition 12).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from subnormal.mechanisms.composition.fft_convolution import (
    EXPONENT_MAX,
    SUM_ROUNDING,
    UNIT,
    Floats,
    Tilted,
    merge,
    power,
    scaled,
    split,
)
from subnormal.mechanisms.composition.privacy_buckets import LOSS_MAX, ROUNDING, Buckets

LOG2 = math.log(2)

Bound = Callable[[float], float]


def at_some_run(chance: float, runs: int) -> float:
    """Return 1 − (1 − chance)^runs."""
    return 1.0 if chance >= 1 else -math.expm1(runs * math.log1p(-chance))


def conversion(tilt: float) -> float:
    """Return ln sup_{x ≥ 0} e^(−λx)·(1 − e^−x) for λ > 0: the most that a unit of tilted mass above ε adds to δ(ε)."""
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)


def log_moment(one: Buckets, tilt: float) -> float:
    """Return ln Σ upper·e^(λ·loss), the finite part: λ times the Rényi divergence of order 1 + λ, of the upper pair."""
    return _log_sum(one.upper, tilt * one.losses)


def _log_sum(masses: Floats, exponents: Floats) -> float:
    positive = masses > 0
    if not positive.any():
        return 0.0
    exponents = exponents[positive] + np.log(masses[positive])
    largest = float(exponents.max())
    return largest + math.log(float(np.exp(exponents - largest).sum()))


@lru_cache(maxsize=16)
def _powers(one: Buckets, runs: int, tilt: float) -> tuple[float, Tilted, Tilted]:
    """Return c, and the powers of both kinds of masses tilted by e^(λ·loss − c); λ is halved while it is too large."""
    constant = _log_sum(np.maximum(one.upper, one.lower[0]), tilt * one.losses)
    exponents = tilt * one.losses - constant
    weights = np.exp(np.minimum(exponents, LOSS_MAX))  # larger exponents only where there is no mass
    relative = one.error + ROUNDING + 4 * (np.abs(tilt * one.losses) + abs(constant)) * UNIT
    upper, lower = (
        scaled(
            Tilted(tilt, one.width, one.first, rows * weights, (rows * weights * relative).sum(axis=1) * SUM_ROUNDING)
        )
        for rows in (one.upper[None, :], one.lower)
    )
    try:
        return constant, power(upper, runs, one.count, split), power(lower, runs, one.count, merge)
    except OverflowError:
        return _powers(one, runs, tilt / 2)


def _logarithms(made: Tilted, runs: int, constant: float, losses: Floats) -> tuple[Floats, Floats]:
    """Return ln(true mass/tilted mass) at some losses, and bounds on the errors of these logarithms."""
    known = runs * constant + made.shift * LOG2
    error = 4 * (abs(runs * constant) + abs(made.shift) + np.abs(made.tilt * losses)) * UNIT + ROUNDING
    return known - made.tilt * losses, error


def upper_bound(one: Buckets, runs: int, tilt: float) -> Bound:
    """Return the function of ε that bounds δ(ε) from above. Sound for every λ."""
    constant, made, _ = _powers(one, runs, tilt)
    losses, masses = made.losses, made.masses[0]
    logarithms, errors = _logarithms(made, runs, constant, losses)
    certain = at_some_run(one.infinite, runs) * (1 + ROUNDING)

    def bound(epsilon: float) -> float:
        reached = epsilon - runs * one.excess * (1 + ROUNDING)
        near = (losses > reached - made.width) & (masses > 0)  # a loss may lie above ε, and its float below
        beyond_it = np.maximum(0.0, -np.expm1(np.minimum(0.0, reached - losses[near]))) * (1 + ROUNDING)
        beyond_it += 4 * (np.abs(losses[near]) + abs(reached)) * UNIT
        with np.errstate(over="ignore"):  # a bound of ∞ is a bound of 1
            parts = np.exp(logarithms[near]) * masses[near] * beyond_it * (1 + errors[near])
            at, error = _logarithms(made, runs, constant, np.array([reached]))
            lost = float(np.exp(at + error + conversion(made.tilt) + math.log(made.errors[0]))[0])
        total = (certain + math.fsum(parts) + lost * SUM_ROUNDING) * (1 + ROUNDING)
        return min(1.0, math.nextafter(total, 1.0))  # masses that underflowed are not 0

    return bound


def lower_bound(one: Buckets, runs: int, tilt: float) -> Bound:
    """Return the function of ε that bounds δ(ε) from below, by the best event that takes indices from some k on.

    Sound for every event and every λ. The errors of its masses are at most e^(−λ·loss) at its least index.
    """
    constant, _, made = _powers(one, runs, tilt)
    losses, (own, other) = made.losses, made.masses
    logarithms, errors = _logarithms(made, runs, constant, losses)
    certain = at_some_run(one.distinguishing, runs) * (1 - ROUNDING)

    def bound(epsilon: float) -> float:
        paying = epsilon - losses
        usable = np.maximum(logarithms, paying) + np.maximum(0.0, np.minimum(logarithms, paying)) < EXPONENT_MAX
        if not usable.any():
            return certain
        weights, ratios = np.exp(logarithms[usable]), np.exp(paying[usable])
        gained, paid = weights * own[usable], weights * ratios * other[usable]
        slack = 4 * (np.abs(losses[usable]) + epsilon) * UNIT + ROUNDING
        proved = np.maximum(0.0, gained - paid - slack * paid - 4 * UNIT * gained) * (1 - errors[usable])
        with np.errstate(over="ignore"):  # an error of ∞ proves nothing
            lost = weights * (made.errors[0] + ratios * made.errors[1] * (1 + slack)) * (1 + errors[usable])
        from_here = np.cumsum(proved[::-1])[::-1] * (1 - len(proved) * UNIT)
        return min(1.0, (certain + max(0.0, float((from_here - lost * SUM_ROUNDING).max()))) * (1 - ROUNDING))

    return bound
