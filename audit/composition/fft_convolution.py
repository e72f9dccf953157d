"""Convolution powers of masses on a grid of losses, with a bound on all rounding errors.

The fast Fourier transform errs by about 2^-53 of the *largest* masses, and what matters lies far out in a tail. So
masses are tilted first: multiplied by e^(λ·loss), with λ such that the losses asked about are the likeliest, which
convolution does not notice. Then one number bounds all errors, in the sum of absolute values (L1) of the tilted masses:
the transforms', the tails' that are cut off, every rounding's. A privacy bound never suffers by more than that number
times what the moments accountant would promise at the order 1 + λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.text import given

Floats = NDArray[np.float64]

UNIT = 2.0**-53
LIBRARY = 16  # units in which exp, expm1, log of a float may err: numpy documents at most 4 units in the last place
LEVEL = 16 * UNIT  # of the error of a transform, for each doubling of its length: see `_transform_error`
SUMS = 1 + 2.0**-30  # error bounds are sums of positive floats themselves: this is more than their own rounding
EXPONENT_MAX = 600.0  # of e that stays a float, with room for what it is multiplied by
LEAST = 1e-300  # a mass below that does not compose: tilted by e^690 at the most it is still a float
TRIMMED = 0.25  # of a product's transform error: tails together lighter than that are cut off


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """Masses on the losses width·(first + i), tilted by λ.

    masses: shape (rows, n); row k of the true masses is e^(−λ·loss)·2^shift·masses[k], with an L1 error of at most
    errors[k] before that factor. A constant factor that the caller knows is left out.
    """

    tilt: float
    width: float
    first: int
    masses: Floats
    errors: Floats
    shift: int = 0

    @property
    def losses(self) -> Floats:
        """The losses of the columns, shape (n,), each within two units."""
        return self.width * np.arange(self.first, self.first + self.masses.shape[1], dtype=np.float64)


Coarsen = Callable[[Tilted], Tilted]


def power(base: Tilted, runs: int, count: int, coarsen: Coarsen) -> Tilted:
    """Return the runs-fold convolution power, by repeated squaring; no vector keeps more than `count` columns.

    Where one would, tails that weigh no more than the transforms' errors are cut off, and if that is not enough the
    grid is coarsened: the factor of the buckets is squared.
    """
    result = base
    for digit in bin(runs)[3:]:
        result = product(result, result, count, coarsen)
        if digit == "1":
            while base.width < result.width:
                base = coarsen(base)
            result = product(result, base, count, coarsen)
    return result


def product(one: Tilted, other: Tilted, count: int, coarsen: Coarsen) -> Tilted:
    """Return the convolution of two vectors of the same grid and tilt, at most `count` columns wide."""
    columns = one.masses.shape[1] + other.masses.shape[1] - 1
    length = 1 << (columns - 1).bit_length()
    spectrum = np.fft.rfft(one.masses, length)
    spectrum = spectrum * (spectrum if other is one else np.fft.rfft(other.masses, length))
    masses = np.maximum(np.fft.irfft(spectrum, length)[:, :columns], 0.0)  # true masses are not negative
    (sum_one, root_one), (sum_other, root_other) = _norms(one.masses), _norms(other.masses)
    transforms = _transform_error(length) * math.sqrt(columns) * (sum_one * root_other + root_one * sum_other)
    errors = transforms + one.errors * sum_other + other.errors * sum_one + one.errors * other.errors
    made = Tilted(one.tilt, one.width, one.first + other.first, masses, errors * SUMS, one.shift + other.shift)
    made = scaled(_trimmed(made, TRIMMED * float(transforms.max())))
    while made.masses.shape[1] > count:
        made = coarsen(made)
    return made


def _transform_error(length: int) -> float:
    """Return ρ with ‖computed x⋆y − x⋆y‖₂ ≤ ρ·(‖x‖₁‖y‖₂ + ‖x‖₂‖y‖₁) for a convolution by transforms of this length.

    A transform of 2^k floats errs by at most k·η·‖result‖₂ with η ≈ 7.7 units, for twiddle factors within 2 (Higham
    2002, Theorem 24.2); passes of radix 4 and real input only save operations, and LEVEL is twice η. Forward errors
    meet spectra below ‖·‖₁, the backward one ‖x⋆y‖₂ ≤ ‖x‖₁‖y‖₂: together 3/2 of ρ/2. The rest of ρ is left for the
    products of spectra (4 units) and of the errors themselves.
    """
    return 2 * LEVEL * max(1, length.bit_length() - 1)


def _norms(masses: Floats) -> tuple[Floats, Floats]:
    return masses.sum(axis=1) * SUMS, np.sqrt((masses * masses).sum(axis=1)) * SUMS


def scaled(made: Tilted) -> Tilted:
    """Return the same with a largest sum between 1/2 and 1: a power of 2 is moved into the shift, without rounding."""
    exponent = math.frexp(float(made.masses.sum(axis=1).max()))[1]  # 0 where there are none
    masses, errors = np.ldexp(made.masses, -exponent), np.ldexp(made.errors, -exponent) + LEAST  # for what underflows
    return Tilted(made.tilt, made.width, made.first, masses, errors, made.shift + exponent)


def _trimmed(made: Tilted, allowed: float) -> Tilted:
    """Return the vector without its tails, each as long as it weighs at most `allowed`; that is added to the errors."""
    heaviest = made.masses.max(axis=0)
    begin = int(np.searchsorted(np.cumsum(heaviest), allowed, side="right"))
    end = len(heaviest) - int(np.searchsorted(np.cumsum(heaviest[::-1]), allowed, side="right"))
    if begin >= end:
        return made
    cut = made.masses[:, :begin].sum(axis=1) + made.masses[:, end:].sum(axis=1)
    kept = np.ascontiguousarray(made.masses[:, begin:end])
    return Tilted(made.tilt, made.width, made.first + begin, kept, (made.errors + cut) * SUMS, made.shift)


def split(fine: Tilted) -> Tilted:
    """Return the masses of a pair that tells more, on a grid of twice the width: for upper bounds. One row.

    Each odd index is split between its neighbours such that the masses of both worlds stay what they are: the mass of
    A's world goes up by the share 1/(1 + e^−width). Source: Doroshenko et al. 2022, "Connect the Dots".
    """
    even, odd, first = _pairs(fine, fine.first // 2 * 2)
    shrunk, grown = math.exp(-fine.width), _exponential(fine.tilt * fine.width)
    up, down = grown / (1 + shrunk), shrunk / (1 + shrunk) / grown
    masses = np.zeros((len(even), even.shape[1] + 1))
    masses[:, :-1] = even + odd * down
    masses[:, 1:] += odd * up
    return _coarser(fine, first, masses, np.full(len(even), max(1.0, up + down)))


def merge(fine: Tilted) -> Tilted:
    """Return the masses of a pair that tells less, on a grid of twice the width: for lower bounds. Two rows.

    The buckets 2j − 1 and 2j become j, in both worlds alike: that is post-processing. The second row, of B's world, is
    stored times e^loss. Where a step is so wide that this is no float, all events are given up: that tells less, too.
    """
    even, odd, first = _pairs(fine, (fine.first + 1) // 2 * 2 - 1)
    if fine.width > EXPONENT_MAX / 2:
        return Tilted(fine.tilt, 2 * fine.width, first + 1, np.zeros_like(even), np.full(len(even), LEAST), fine.shift)
    grown = np.array([_exponential((fine.tilt + row) * fine.width) for row in range(len(even))])
    # Here `even` holds the indices 2j − 1, which come first.
    return _coarser(fine, first + 1, even * grown[:, None] + odd, np.maximum(1.0, grown))


def _pairs(fine: Tilted, start: int) -> tuple[Floats, Floats, int]:
    """Return every other column from index `start` on, the columns between, and ⌊start/2⌋."""
    missing = fine.first - start
    columns = missing + fine.masses.shape[1]
    padded = np.pad(fine.masses, ((0, 0), (missing, columns % 2)))
    return padded[:, 0::2], padded[:, 1::2], start // 2


def _coarser(fine: Tilted, first: int, masses: Floats, growth: Floats) -> Tilted:
    """Return the coarser vector: errors grow no more than masses can, and each product adds its rounding."""
    rounding = (2 * abs(fine.tilt + 1) * fine.width + 4 * LIBRARY) * UNIT
    errors = (fine.errors * growth + rounding * masses.sum(axis=1)) * SUMS
    return scaled(Tilted(fine.tilt, 2 * fine.width, first, masses, errors, fine.shift))


def _exponential(exponent: float) -> float:
    if exponent > EXPONENT_MAX:
        raise OverflowError(f"a tilt by e^{given(exponent)} a step cannot be kept in floats")
    return math.exp(exponent)
