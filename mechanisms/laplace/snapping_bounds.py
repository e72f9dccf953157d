"""The arithmetic of the snapping mechanism in p-bit floats, and bounds on its privacy loss.

Source: Mironov 2012, Section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.numerics.mpfr import above, float_up, nearest
from subnormal.mechanisms.privacy import require_positive

BINARY64 = 53
PRECISION_MAX = 25  # 53 ≥ 2·25 + 2: a sum or product rounded to binary64 and then to p bits is as if rounded once
MAGNITUDE = 900  # λ and B from 2^−900 to 2^900, so that nothing overflows binary64, nor underflows
SLACK = 20  # the factor of (B + λ)η in `loss_bound`, derived there
RELATIVE_MAX = Fraction(1, 256)  # (1 + B/λ)η up to which that derivation holds

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Snapping:
    """A snapping mechanism: the scale λ and the bound B, both floats of `precision` bits (2 to 25, or 53).

    Raises ValueError for another precision, and for a scale or a bound that is no such float or outside its range.
    """

    scale: float
    bound: float
    precision: int = BINARY64

    def __post_init__(self) -> None:
        if self.precision != BINARY64 and not 2 <= self.precision <= PRECISION_MAX:
            raise ValueError(f"precision must be 53 bits, or from 2 to {PRECISION_MAX}, got {self.precision}")
        for name in ("scale", "bound"):
            value = getattr(self, name)
            require_positive(name, value)
            if nearest(Fraction(value), self.precision) != value:
                raise ValueError(f"{name} must be a float of {self.precision} bits, got {value}")
            if not 2.0**-MAGNITUDE <= value <= 2.0**MAGNITUDE:
                raise ValueError(f"{name} must lie between 2^-{MAGNITUDE} and 2^{MAGNITUDE}, got {value}")
        if Fraction(self.bound) >= Fraction(self.step) * 2**self.precision:
            raise ValueError(f"bound must be below 2^{self.precision} steps of {self.step}, got {self.bound}")

    @property
    def step(self) -> float:
        """Λ, the least power of two ≥ λ."""
        return above(Fraction(self.scale), 1)

    @property
    def cutoff(self) -> int:
        """The number of exponents: where U* < 2^(1−cutoff), the noise exceeds 2B + Λ, and the outcome is ±B."""
        return 2 + ceil(Fraction(3, 2) * (2 * Fraction(self.bound) + 2 * Fraction(self.step)) / Fraction(self.scale))

    def clamped(self, value: Fraction) -> float:
        """Return clamp_B(value) as a float of p bits."""
        bound = Fraction(self.bound)
        return nearest(max(-bound, min(bound, value)), self.precision)

    def rounded(self, values: Floats) -> Floats:
        """Return the values, shape (n,), rounded to p bits, ties to even."""
        if self.precision == BINARY64:
            return values
        fractions, exponents = np.frexp(values)
        result: Floats = np.ldexp(np.rint(np.ldexp(fractions, self.precision)), exponents - self.precision)
        return result

    def snapped(self, values: Floats) -> Floats:
        """Return clamp_B(round_Λ(values)), shape (n,). Exact."""
        steps = values / self.step
        whole = np.floor(steps)
        result: Floats = np.clip((whole + (steps - whole >= 0.5)) * self.step, -self.bound, self.bound)
        return result

    def released(self, value: float, signs: Floats | float, logs: Floats) -> Floats:
        """Return the outcomes of a clamped value for given S and LN(U*), shape (n,): the mechanism's own arithmetic."""
        noise = self.rounded(self.scale * logs)
        return self.snapped(self.rounded(value + signs * noise))


def loss_bound(mechanism: Snapping, sensitivity: float | Fraction = 1, coordinates: int = 1) -> float:
    """Return a bound on the privacy loss, (Δ + 20c(B + λ)η)/λ for c coordinates, rounded up. In nats, η = 2^−p.

    For any real f, any Δ and any B with κ = (1 + B/λ)η ≤ 2^−8 (else raises ValueError), every coordinate being rounded
    to p bits and getting noise of its own. Derivation, for one coordinate:

    1. Rounding the sum, round_Λ and clamp_B are monotone. So an outcome is an interval of f + S·W in real numbers, with
       W = |λ ⊗ LN(U*)|, the same interval whatever f is: ⊕ costs nothing. Its ends lie within 2B + Λ/2 of f, and it is
       infinite or of a length ℓ of Λ, up to (B + λ)η.
    2. Let U be uniform and U* the float below it, so that N = −λ·ln U is exact. U* ≤ U < U*(1 + 2η), and each of the
       two roundings of W changes it by at most a part η/(1 + η), so W(1 − 2η) − 2ηλ ≤ N ≤ W(1 + η)².
    3. Hence Pr[W ≥ d] lies between e^(−d/λ−β) and e^(−d/λ+α), with β = (2η + η²)d/λ and α = 2ηd/λ + 2η. At the
       largest d, α + β = 8ηB/λ + (2Λ/λ + 2)η =: θ, up to terms in η².
    4. For an f' at a distance t, an infinite interval loses at most t/λ + θ. A finite one, on one side of both, has
       P = ½Pr[W ≥ a] − ½Pr[W ≥ a + ℓ] and loses at most t/λ + θ + 2θ/(e^(ℓ/λ−θ) − 1): the errors of the difference
       are up to coth(Λ/2λ) ≤ coth ½ < 2.164 times those of the ends. Around f it is the same, and at most 3.2η more.
    5. coth(½)·8 < 17.4; (2Λ/λ + 2)·coth(Λ/2λ) + 3.2 < 12; for κ ≤ 2^−8 what was left out is below 3.6 %: in all at
       most t/λ + 18(B + λ)η/λ.
    6. Rounding f and f' to p bits moves each by at most Bη: t ≤ Δ + 2Bη.
    """
    scale, bound, unit = Fraction(mechanism.scale), Fraction(mechanism.bound), Fraction(1, 1 << mechanism.precision)
    if (bound + scale) * unit > RELATIVE_MAX * scale:
        raise ValueError(f"bound must be below 2^{mechanism.precision - 8} λ, got {mechanism.bound}")
    return float_up((Fraction(sensitivity) + SLACK * coordinates * (bound + scale) * unit) / scale)


def scale_for(
    epsilon: float,
    bound: float,
    *,
    sensitivity: float | Fraction = 1,
    coordinates: int = 1,
    precision: int = BINARY64,
) -> float:
    """Return the least λ of p bits with `loss_bound` ≤ ε: (Δ + 20cBη)/(ε − 20cη), rounded up.

    Where Δ/ε is a power of two λ lies just above it, and so the step Λ is twice as large: a little more budget pays.
    Raises ValueError where ε is too small for the precision.
    """
    require_positive("epsilon", epsilon)
    excess = SLACK * coordinates * Fraction(1, 1 << precision)
    if Fraction(epsilon) <= excess:
        raise ValueError(f"epsilon must exceed {float(excess)} at {precision} bits, got {epsilon}")
    return above((Fraction(sensitivity) + excess * Fraction(bound)) / (Fraction(epsilon) - excess), precision)
