"""Grid precision: 1 + noise lies on a coarse grid, noise alone does not, so an output off the grid proves f = 0.

In a float type of p binary digits, fl(1 + n) is a multiple of 2^−p for every float n. Every float of
magnitude 1/2 or more is such a multiple. For a smaller output, 1 + n is one before rounding: rounding is monotone and
1/2 is a float, so n lies in (−3/2, −1/2), where every float is a multiple of 2^−p. With f = 0 the output is n itself,
whose small values have all their digits. Noise of higher precision does not help, because the sum is rounded.

Source: Haney, Desfontaines, Hartman, Shrestha, Hay 2022 (arXiv:2207.13793), precision-based attacks.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import DTypeLike

from subnormal.attacks.additive.public_bounds import laplace_parameters
from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OffGrid
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.samplers.noise_tails import ProbabilityBounds

SOURCE = "Haney et al. 2022 (arXiv:2207.13793): precision-based attacks"

BREAKS = {
    "float64": ("laplace-rounded", "laplace-naive-float64"),
    "float32": ("laplace-naive-float32",),
    "float16": ("laplace-rounded-float16",),
}
PRECISION = 320  # bits; differences of e^−x over cells of 2^−106 lose 106 + log₂ λ of them


ONE: ProbabilityBounds = Fraction(1), Fraction(1)


@constructor("grid-precision", ({}, {"epsilon": 0.1}))
def grid_precision(name: str, epsilon: float = 1.0, float_type: DTypeLike = np.float64) -> AnyAttack:
    """Return the attack: a count of 1 with Alice and of 0 without her. The event is an output off the grid 2^−p.

    p is 53, 24 or 11. With Alice the event is impossible; `off_grid_probability` is its probability without her.

    epsilon: nats. Raises ValueError unless it is positive and finite, or for a type that is not float64, float32 or
    float16.
    """
    kind = np.dtype(float_type).name
    if kind not in BREAKS:
        raise ValueError(f"float_type must be one of {', '.join(BREAKS)}, got {kind}")
    of_its_own = {"float32": grid_precision_float32, "float16": grid_precision_float16}
    return of_its_own[kind](epsilon) if kind in of_its_own else _attack(name, epsilon, kind)


def _attack(name: str, epsilon: float, kind: str) -> AnyAttack:
    return Attack(
        name=name,
        family="laplace",
        worlds=lambda: (1, 0),
        parameters=laplace_parameters(epsilon),
        event=OffGrid(-float_types.digits(kind)),
        breaks=BREAKS[kind],
        source=SOURCE,
        description=(
            "a count of 1 with Alice, 0 without: 1 + noise lies on a coarse grid, so an output off the grid proves a 0"
        ),
        fixes=("laplace-snapping",) if kind == "float64" else (),
        slow=kind != "float64",
    )


@constructor("grid-precision-float16")
def grid_precision_float16(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack on float16, for a budget of `epsilon` nats. Raises ValueError unless it is positive."""
    return _attack(name, epsilon, "float16")


@constructor("grid-precision-float32", ())
def grid_precision_float32(name: str, epsilon: float = 1.0) -> AnyAttack:
    """Return the attack on float32, for a budget of `epsilon` nats. Raises ValueError unless it is positive."""
    return _attack(name, epsilon, "float32")


@constructor("grid-precision-gaussian")
def grid_precision_gaussian(name: str, sigma: float = 1.0) -> AnyAttack:
    """Return the attack on Gaussian noise in float32: the sum of gradients is 1 with Alice, and 0 without her.

    sigma: the standard deviation. Raises ValueError unless it is positive and finite.
    """
    require_positive("sigma", sigma)
    bound = 16.0 * ceil(sigma)
    worlds = 1.0, 0.0
    return Attack(
        name=name,
        family="gaussian",
        worlds=lambda: worlds,
        parameters=GaussianParameters(sigma=sigma, delta=1e-6, sensitivity=1.0, grid=-4, lower=-bound, upper=bound),
        event=OffGrid(-float_types.digits(np.float32)),
        breaks=("gaussian-ziggurat-float32", "gaussian-naive-float32"),
        source=SOURCE,
        description=(
            "the sum is 1 with Alice, 0 without: 1 + noise lies on a coarse grid, so an output off the grid proves a 0"
        ),
    )


def off_grid_probability(scale: Fraction, float_type: DTypeLike = np.float64) -> ProbabilityBounds:
    """Return certified bounds on the probability that Laplace noise, perfectly rounded, is no multiple of 2^−p.

    It is near Σ_{e≤−2} (e^(−2^e/λ) − e^(−2^(e+1)/λ))·(1 − 2^(e+1)), if the noise is uniform inside each
    [2^e, 2^(e+1)). Exactly, it is 1 − Σ P(|n| = g) over the multiples g of 2^−p: 0, all from 1/2 on, and 2^(e+p) of
    them in [2^e, 2^(e+1)), e from −p to −2. There floats lie 2h = 2^(e−p+1) apart, and e^(−(g−h)/λ) − e^(−(g+h)/λ) sums
    to a geometric series. The first one, g = 2^e, differs: below it floats lie half as far apart, so it receives the
    noise above g − h/2.
    """
    digits, last = float_types.digits(float_type), float_types.least_positive_exponent(float_type)

    def tail(place: Fraction) -> ProbabilityBounds:
        return exp_bounds(-place / scale, PRECISION)

    grid = Fraction(1, 1 << digits)
    large = tail(Fraction(1, 2) - grid / 4)  # from halfway to the float below 1/2
    zero = _difference(ONE, tail(Fraction(2) ** (last - 1)))
    on_grid = [large, zero]
    step = _difference(ONE, tail(grid))
    for exponent in range(-digits, -1):
        begin = Fraction(2) ** exponent
        h = begin * grid
        floats, each = _difference(tail(begin), tail(2 * begin)), _difference(tail(-h), tail(h))
        alike = floats[0] * each[0] / step[1], floats[1] * each[1] / step[0]
        too_much = _difference(tail(begin - h), tail(begin - h / 2))
        on_grid.append(_difference(alike, too_much))
    return 1 - sum((high for _, high in on_grid), Fraction(0)), 1 - sum((low for low, _ in on_grid), Fraction(0))


def _difference(one: ProbabilityBounds, other: ProbabilityBounds) -> ProbabilityBounds:
    return one[0] - other[1], one[1] - other[0]
