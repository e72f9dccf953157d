"""Convolution powers of masses on a grid of losses, with a bound on all rounding errors.

The fast Fourier transform has errors of about 2^-53 of the *largest* masses, but the result is needed in a far tail.
Masses are therefore tilted first: they are multiplied by e^(λ·loss), with λ such that the losses of interest have the
largest masses. Convolution commutes with tilting. One number then bounds the sum of the absolute errors (L1) of the
tilted masses: those of the transforms, of the tails that are cut off, and of every rounding. A privacy bound changes by
at most that number times the bound of the moments accountant at the order 1 + λ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

UNIT = 2.0**-53
LIBRARY = 16  # units in which exp, expm1, log of a float may err: numpy documents at most 4 units in the last place
LEVEL = 16 * UNIT  # of the error of a transform, for each doubling of its length: see `_transform_error`
SUM_ROUNDING = 1 + 2.0**-30  # error bounds are sums of positive floats; this factor exceeds their own rounding
EXPONENT_MAX = 600.0  # e^600 is a float, with room for factors
LEAST_MASS = 1e-300  # smaller masses are dropped: tilted by at most e^690, this one is still a float
TRIMMED = 0.25  # of a product's transform error: tails with less mass in all are cut off


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """Masses on the losses width·(first + i), tilted by λ.

    masses: shape (rows, n); row k of the true masses is e^(−λ·loss)·2^shift·masses[k], with an L1 error of at most
    errors[k] before that factor. A constant factor is left to the caller.
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
    """Return the runs-fold convolution power, by repeated squaring; every vector has at most `count` columns.

    In a longer vector, tails with no more mass than the transforms' errors are cut off. If that is not enough, the grid
    is coarsened: the factor of the buckets is squared.
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
    made = Tilted(one.tilt, one.width, one.first + other.first, masses, errors * SUM_ROUNDING, one.shift + other.shift)
    made = scaled(_trimmed(made, TRIMMED * float(transforms.max())))
    while made.masses.shape[1] > count:
        made = coarsen(made)
    return made


def _transform_error(length: int) -> float:
    """Return ρ with ‖computed x⋆y − x⋆y‖₂ ≤ ρ·(‖x‖₁‖y‖₂ + ‖x‖₂‖y‖₁) for a convolution by transforms of this length.

    A transform of 2^k floats errs by at most k·η·‖result‖₂ with η ≈ 7.7 units, for twiddle factors within 2 (Higham
    2002, Theorem 24.2); passes of radix 4 and real input only save operations, and LEVEL is twice η. Forward errors are
    multiplied by spectra below ‖·‖₁, the backward one by ‖x⋆y‖₂ ≤ ‖x‖₁‖y‖₂: together 3/2 of ρ/2. The rest of ρ covers
    the products of spectra (4 units) and of the errors themselves.
    """
    return 2 * LEVEL * max(1, length.bit_length() - 1)


def _norms(masses: Floats) -> tuple[Floats, Floats]:
    return masses.sum(axis=1) * SUM_ROUNDING, np.sqrt((masses * masses).sum(axis=1)) * SUM_ROUNDING


def scaled(made: Tilted) -> Tilted:
    """Return the same masses with a largest sum from 1/2 to 1: a power of 2 moves into the shift, without rounding."""
    exponent = math.frexp(float(made.masses.sum(axis=1).max()))[1]  # 0 where there are none
    masses, errors = np.ldexp(made.masses, -exponent), np.ldexp(made.errors, -exponent) + LEAST_MASS  # for underflow
    return Tilted(made.tilt, made.width, made.first, masses, errors, made.shift + exponent)


def _trimmed(made: Tilted, allowed: float) -> Tilted:
    """Return the vector without its tails, each of a mass of at most `allowed`, which is added to the errors."""
    heaviest = made.masses.max(axis=0)
    begin = int(np.searchsorted(np.cumsum(heaviest), allowed, side="right"))
    end = len(heaviest) - int(np.searchsorted(np.cumsum(heaviest[::-1]), allowed, side="right"))
    if begin >= end:
        return made
    cut = made.masses[:, :begin].sum(axis=1) + made.masses[:, end:].sum(axis=1)
    middle = np.ascontiguousarray(made.masses[:, begin:end])
    return Tilted(made.tilt, made.width, made.first + begin, middle, (made.errors + cut) * SUM_ROUNDING, made.shift)


def split(fine: Tilted) -> Tilted:
    """Return a pair that is easier to distinguish, on a grid of twice the width: for upper bounds. One row.

    Each odd index is split between its neighbours such that the masses of both worlds do not change: the upper
    neighbour gets the share 1/(1 + e^−width) of A's mass. Source: Doroshenko et al. 2022, "Connect the Dots".
    """
    even, odd, first = _pairs(fine, fine.first // 2 * 2)
    shrunk, grown = math.exp(-fine.width), _exponential(fine.tilt * fine.width)
    up, down = grown / (1 + shrunk), shrunk / (1 + shrunk) / grown
    masses = np.zeros((len(even), even.shape[1] + 1))
    masses[:, :-1] = even + odd * down
    masses[:, 1:] += odd * up
    return _coarser(fine, first, masses, np.full(len(even), max(1.0, up + down)))


def merge(fine: Tilted) -> Tilted:
    """Return a pair that is harder to distinguish, on a grid of twice the width: for lower bounds. Two rows.

    The buckets 2j − 1 and 2j become j, in both worlds alike: that is post-processing. The second row, of B's world, is
    stored times e^loss. Where a step is too wide for floats, all masses become 0, which is a valid lower bound as well.
    """
    even, odd, first = _pairs(fine, (fine.first + 1) // 2 * 2 - 1)
    if fine.width > EXPONENT_MAX / 2:
        return Tilted(
            fine.tilt, 2 * fine.width, first + 1, np.zeros_like(even), np.full(len(even), LEAST_MASS), fine.shift
        )
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
    """Return the coarser vector: errors grow at most by the factor of masses, and each product adds its rounding."""
    rounding = (2 * abs(fine.tilt + 1) * fine.width + 4 * LIBRARY) * UNIT
    errors = (fine.errors * growth + rounding * masses.sum(axis=1)) * SUM_ROUNDING
    return scaled(Tilted(fine.tilt, 2 * fine.width, first, masses, errors, fine.shift))


def _exponential(exponent: float) -> float:
    if exponent > EXPONENT_MAX:
        raise OverflowError(f"a tilt by e^{exponent:.12g} a step cannot be kept in floats")
    return math.exp(exponent)
