"""Discrete Laplace noise by counting Bernoulli trials: exact in its outputs, but its time grows with the noise.

The magnitude is the number of trials that succeed before the first that fails; then comes a sign, and −0 is drawn anew.
With a base-2 rate, q = 2^−η, a trial compares as many bits as q has: exactly, so that the outcome has the law of
laplace_exact. But the time reveals the number of trials, |Z| + 1 and one more for every −0: all of the noise except
its sign.

Sources: Canonne, Kamath, Steinke 2020, Algorithm 2 (the sign, and −0); Jin, McMurtry, Rubinstein, Ohrimenko 2021
(arXiv:2112.05307), the timing attack.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.additive.clamped_noise import clamped, law_of_one, on_grid, require_few_atoms, sample_of_each
from subnormal.mechanisms.additive.family import Data, LaplaceParameters, exact_values, laplace_claim
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Trace
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.laplace.exact import member_eta
from subnormal.mechanisms.numerics.grid import from_steps, l1_steps
from subnormal.mechanisms.numerics.mpfr import log_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers.float_weights import nats

RUNS = 4_000  # a draw is a loop in Python, and few are enough to convict
FAILURE_BITS = 40  # so many trials that all of them succeed with a probability of at most 2^−40
TRIALS_MAX = 1 << 14  # of these, for a member: work grows with the scale of the noise in steps
TRACE_BITS_MAX = 1 << 28  # of all probabilities of a law of traces together

Number = float | Fraction


@dataclass(frozen=True, slots=True)
class LaplaceTrials:
    """Noise by counting trials, P(Z = z) = (1−q)/(1+q)·q^|z|."""

    eta: Eta

    def draw(self, bits: BitSource, n: int) -> NDArray[np.int64]:
        """Return n integers, int64 of shape (n,). A try is a magnitude and a sign."""
        return np.array([self._one(bits) for _ in range(n)], dtype=np.int64)

    def _one(self, bits: BitSource) -> int:
        below, width = ratio(self.eta)
        while True:
            bits.tries += 1
            magnitude = 0
            bits.steps += 1
            while bits.take(width) < below:
                magnitude += 1
                bits.steps += 1
            negative = bits.take(1)
            if magnitude or not negative:
                return -magnitude if negative else magnitude


def ratio(eta: Eta) -> tuple[int, int]:
    """Return x and y with q = x/2^y: a trial succeeds when y bits lie below x."""
    return eta.x**eta.z, eta.y * eta.z


def trials_for(eta: Eta) -> int:
    """Return a T with q^T ≤ 2^−40, the least or one more. From public values only."""
    return _trials_for(eta, FAILURE_BITS)


@lru_cache(maxsize=64)
def _trials_for(eta: Eta, failure_bits: int) -> int:
    return ceil(failure_bits * log_bounds(Fraction(2))[1] / nats(eta)[0])


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
    """Return n noisy values with the law of laplace_exact.sample, shape (n,). Leaks: steps, |Z| + 1 at least.

    Raises ValueError for a negative n.

    >>> from subnormal.mechanisms.bits import seeded_bits
    >>> bits = seeded_bits(1)
    >>> sample(3, Eta.from_epsilon(0.1), bits, 1).tolist(), bits.steps
    ([0], 4)
    """
    return clamped(LaplaceTrials(eta), bits, n, grid, *on_grid(value, grid, lower, upper))


def trace_law(
    value: Number, eta: Eta, *, grid: int = 0, lower: Number, upper: Number, apart: int = 1
) -> Law[tuple[Any, Trace]]:
    """Return the exact distribution of (outcome, Trace) of single draws of `sample`, with a rest below 2^−39.

    A magnitude m after r draws of −0 takes 1 + r tries and m + 1 + r steps, with (1−q)/2·q^m·((1−q)/2)^r for each sign.
    Pairs that only a value `apart` steps away can show are named too, with probability 0: the rest might be anything.
    Raises NoLawError where it takes more than 2^28 bits.
    """
    center, low, high = on_grid(value, grid, lower, upper)
    require_few_atoms(low, high, grid)
    (x, y), again = ratio(eta), 0
    stop = (1 << y) - x
    while Fraction(stop, 2 << y) ** (again + 1) > Fraction(1, 1 << FAILURE_BITS):
        again += 1
    last = max(high - low, trials_for(eta))
    size = y * (last + 1) + 1 + (y + 1) * again
    if last * (again + 1) * size > TRACE_BITS_MAX:  # the ends alone
        raise NoLawError(f"magnitudes up to {last} and traces of {size} bits each take more than {TRACE_BITS_MAX} bits")
    signs: dict[tuple[int, int], int] = {}
    for place in (center - apart, center + apart):
        signs |= dict.fromkeys(_magnitudes(min(max(place, low), high), low, high, last), 0)
    signs |= _magnitudes(center, low, high, last)
    places = [(outcome, m, r) for outcome, m in signs for r in range(again + 1)]
    if len(places) * size > TRACE_BITS_MAX:
        raise NoLawError(f"{len(places)} probabilities of {size} bits take more than {TRACE_BITS_MAX} bits")
    values = from_steps(np.arange(low, high + 1), grid).tolist()
    kept = [(stop * x**m) << (y * (last - m)) for m in range(last + 1)]  # over 2^(y(last+1) + 1), for one sign
    redrawn = [stop**r << ((y + 1) * (again - r)) for r in range(again + 1)]  # over 2^((y+1)·again)
    atoms = [(values[outcome - low], Trace(1 + r, y * (m + 1 + r) + 1 + r, m + 1 + r)) for outcome, m, r in places]
    weights = [signs[outcome, m] * kept[m] * redrawn[r] for outcome, m, r in places]
    rest = Fraction((1 << size) - sum(weights), 1 << size)
    return Law(atoms, range(1, len(atoms) + 1), weights, weights, 1 << size, rest)


def _magnitudes(center: int, low: int, high: int, last: int) -> Counter[tuple[int, int]]:
    """Return how many signs of each magnitude up to `last` lead from the center to each outcome."""
    return Counter((min(max(center + z, low), high), abs(z)) for z in range(-last, last + 1))


def _trace_law_member(data: Data, parameters: LaplaceParameters) -> Law[tuple[Any, Trace]]:
    apart = l1_steps(parameters.sensitivity, parameters.grid)
    return law_of_one(partial(trace_law, apart=apart), member_eta)(data, parameters)


def _runs(data: Data, parameters: LaplaceParameters) -> int:
    """Return the largest number of runs: 0 where the noise is too large to be drawn trial by trial."""
    coordinates = len(exact_values(data, parameters.query))
    return RUNS if trials_for(member_eta(parameters, coordinates)) <= TRIALS_MAX else 0


TEXTBOOK: Mechanism[Data, LaplaceParameters, Any] = Mechanism(
    "laplace-textbook",
    "laplace",
    sample_of_each(sample, member_eta),
    laplace_claim,
    laplace_exact.BASE2.law,
    runs=_runs,
    trace_law=_trace_law_member,
    variant_of="laplace-exact",
)
