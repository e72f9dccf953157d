"""Discrete Laplace noise by counting a fixed number of Bernoulli trials: fixed work, with a stated failure probability.

Z = A − B, the difference of two magnitudes, has the law of laplace_exact. The textbook stops at the first trial that
fails; here all T trials are made for each magnitude, with all their bits and without a table. A magnitude that T trials
do not end is T. This failure has probability q^T for each (see `failure`). T is public, as η is; it keeps the failure
below 2^−40, and the promise contains it as its δ. The promise also covers bits and steps, which are constant.

Use laplace_exact instead: it takes one word in place of 2·T trials, and needs more with a probability near 2^−50.
Sources: Ghosh, Roughgarden, Sundararajan 2009 (two-sided geometric noise); Jin et al. 2021 (arXiv:2112.05307), who ask
for noise in constant time.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.clamped_noise import (
    claim_with_failures,
    clamped,
    law_of_one,
    on_grid,
    require_few_atoms,
    sample_of_each,
)
from subnormal.mechanisms.additive.family import Data, LaplaceParameters, laplace_claim
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law, exact_law, image
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Trace
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace.bernoulli_trials import TRIALS_MAX, Number, ratio, runs, trials_for
from subnormal.mechanisms.laplace.exact import LAW_BITS_MAX, member_eta
from subnormal.mechanisms.numerics.grid import from_steps
from subnormal.mechanisms.privacy import Claim, Eta, with_failures

TRIALS_AT_ONCE = 1 << 16  # trials made at a time


@dataclass(frozen=True, slots=True)
class FixedWork:
    """The difference of two magnitudes, each the successes before the first failure in exactly `trials` trials."""

    eta: Eta
    trials: int

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). Takes the same bits and steps for each, whatever they are."""
        below, width = ratio(self.eta)
        each = 2 * self.trials
        drawn = np.empty(n, dtype=np.int64)
        rows = max(1, TRIALS_AT_ONCE // each)
        for start in range(0, n, rows):
            part = drawn[start : start + rows]
            bits.steps += each * len(part)
            words = bits.words(each * len(part), width).reshape(len(part), 2, self.trials)
            # Every trial is compared and every product taken: a search for the first failure would stop there.
            magnitudes = np.logical_and.accumulate(words < np.uint64(below), axis=2).sum(axis=2)
            np.subtract(magnitudes[:, 0], magnitudes[:, 1], out=part)
        return drawn


def failure(eta: Eta) -> Fraction:
    """Return a bound on the probability that one of two magnitudes does not end in T trials: 2·q^T."""
    return 2 * eta.base ** trials_for(eta)


def sample(
    value: Number,
    eta: Eta,
    bits: BitSource,
    n: int,
    *,
    grid: int = 0,
    lower: Number | None = None,
    upper: Number | None = None,
) -> NDArray[Any]:
    """Return n noisy values, shape (n,): those of laplace_exact, but with a probability of failure(eta) each.

    Raises ValueError where q has more than 64 fractional bits, or T is above 2^14: both are public.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> bits = seeded_bits(1)
    >>> sample(3, Eta(15, 4), bits, 5).tolist(), bits.consumed == 5 * 2 * trials_for(Eta(15, 4)) * 4
    ([5, 5, 0, 15, 21], True)
    """
    trials = trials_for(eta)
    if trials > TRIALS_MAX:
        raise ValueError(f"eta = {eta} takes {trials} trials, more than {TRIALS_MAX}: choose a coarser grid")
    return clamped(FixedWork(eta, trials), bits, n, grid, *on_grid(value, grid, lower, upper))


def claim(eta: Eta, sensitivity: float, *, grid: int = 0, coordinates: int = 1) -> Claim:
    """Return what `sample` promises, bits and steps included: ε of laplace_exact, and a δ for what may fail.

    By coupling: this noise and exact noise from the same trials differ only where a magnitude does not end.

    >>> claim(Eta(1, 1), 1.0).delta < 2**-36
    True
    """
    promised = laplace_exact.claim(eta, sensitivity, grid=grid, coordinates=coordinates)
    return with_failures(promised, coordinates * failure(eta))


def law(value: Number, eta: Eta, *, grid: int = 0, lower: Number, upper: Number) -> Law[Any]:
    """Return the exact distribution of `sample`. Raises NoLawError where it takes more than 2^31 bits.

    With p_k = (1−q)·q^k for k < T and p_T = q^T, P(Z = z) = Σ p_(z+b)·p_b = (1−q)²·q^z·Σ_{b<T−z} q^(2b) + p_T·p_(T−z).
    """
    center, low, high = on_grid(value, grid, lower, upper)
    require_few_atoms(low, high, grid)
    released = [0] * (high - low + 1)
    masses = _masses(eta, len(released))
    for z in range(1 - len(masses), len(masses)):
        released[min(max(center + z, low), high) - low] += masses[abs(z)]
    atoms: Any = from_steps(np.arange(low, high + 1), grid)
    return exact_law(atoms, range(1, len(released) + 1), released, 1 << _denominator_bits(eta))


def _denominator_bits(eta: Eta) -> int:
    return 2 * ratio(eta)[1] * trials_for(eta)


def _masses(eta: Eta, outcomes: int) -> list[int]:
    """Return P(Z = z) for z = 0, …, T as integers over 2^(2yT), where q = x/2^y."""
    (x, y), trials, size = ratio(eta), trials_for(eta), _denominator_bits(eta)
    if (outcomes + trials) * size > LAW_BITS_MAX:
        raise NoLawError(f"{outcomes} outcomes and {trials} trials of {size} bits each take more than {LAW_BITS_MAX}")
    stop = (1 << y) - x
    masses = [0] * (trials + 1)
    squares, power = 0, 1 << size  # Σ_{b<T−z} q^(2b), and the next to be added
    for z in range(trials, 0, -1):
        masses[z] = (squares * stop**2 * x**z >> y * (2 + z)) + (x ** (2 * trials - z) * stop << y * (z - 1))
        squares, power = squares + power, power * x * x >> 2 * y
    masses[0] = (squares * stop**2 >> 2 * y) + x ** (2 * trials)
    return masses


def _failure(parameters: LaplaceParameters, coordinates: int) -> Fraction:
    return failure(member_eta(parameters, coordinates))


_law_member = law_of_one(law, member_eta)


def _trace_law_member(data: Data, parameters: LaplaceParameters) -> Law[tuple[Any, Trace]]:
    eta = member_eta(parameters)
    trace = Trace(0, _denominator_bits(eta), 2 * trials_for(eta))
    return image(_law_member(data, parameters), lambda outcome: (outcome, trace))


FIXED_WORK: Mechanism[Data, LaplaceParameters, Any] = Mechanism(
    "laplace-fixed-work",
    "laplace",
    sample_of_each(sample, member_eta),
    claim_with_failures(laplace_claim, _failure),
    _law_member,
    runs=runs,
    trace_law=_trace_law_member,
)
