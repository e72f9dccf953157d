"""The family `private-selection`: the best of several candidates, each of them scored by a mechanism that is private.

Data: a vector of integer scores, one a candidate, lower is better, each of sensitivity Δ. Outcome: (candidate, noisy
score). At each step a candidate is chosen uniformly and its score is drawn with noise, ε₁-DP; the best so far is kept,
of equal scores that of the first candidate; with probability γ it is released, and after T steps in any case.
Source: Liu, Talwar, "Private selection from private candidates", STOC 2019 (arXiv:1811.07971), with hard stopping: for
T ≥ max(ln(2/ε₀)/γ, 1 + 1/(eγ)) it is 3(ε₁ + ε₀)-DP.

Where the 3 comes from: let a draw be no better than x with probability A. The best of t draws is no better with A^t, so
with h(A) = Σ_t P(t draws)·A^t, x is released with h(A) − h(A⁻), A⁻ for what is worse than x. Without a last step
h(A) = γA/(1 − (1−γ)A), and h(A) − h(A⁻) = γ·P(x)/((1 − (1−γ)A)·(1 − (1−γ)A⁻)): three factors, each moved by e^ε₁.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.domain import Domain, box, by_moves, moves_within, options_text
from subnormal.mechanisms.core.law import Law, exact_law, integers
from subnormal.mechanisms.core.mechanism import Family, NoLawError
from subnormal.mechanisms.core.validation import adjacent, epsilon_claim
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds, plain
from subnormal.mechanisms.privacy import require_positive
from subnormal.mechanisms.samplers.normalized import uniform_below

STOP_UNITS = 1 << 64  # of γ: a word decides
LAW_WORK_MAX = 1 << 41  # squared bits times atoms of a law: seconds

Scores: TypeAlias = NDArray[np.int64]  # shape (candidates,)
Outcome: TypeAlias = tuple[int, int | float]


@dataclass(frozen=True, slots=True)
class PrivateSelectionParameters:
    """What is public: the budget ε (nats), the sensitivity Δ of each score, and when to stop.

    lower, upper: bounds to which exact members clamp noisy scores; naive ones ignore them. stop: γ, a dyadic below 1.
    reserve: ε₀, the part of ε/3 that is spent on stopping after T steps; the rest, ε₁, is spent on each score.
    Raises ValueError for a field outside its range, named in the message.
    """

    epsilon: float
    lower: int
    upper: int
    sensitivity: int = 1
    stop: float = 0.125
    reserve: float = 0.0625

    def __post_init__(self) -> None:
        for name in ("epsilon", "stop", "reserve"):
            object.__setattr__(self, name, plain(name, getattr(self, name)))
        require_positive("epsilon", self.epsilon)
        for name in ("lower", "upper", "sensitivity"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ValueError(f"{name} must be an integer, got {value!r}")
        require_positive("sensitivity", self.sensitivity)
        if self.lower > self.upper:
            raise ValueError(f"lower = {self.lower} must not be above upper = {self.upper}")
        if not 0 < self.stop < 1:
            raise ValueError(f"stop must lie between 0 and 1, got {self.stop}")
        if Fraction(self.stop).denominator > STOP_UNITS:
            raise ValueError(f"stop must be a multiple of 2^-64, got {self.stop}")
        if not 0 < 3 * Fraction(self.reserve) < Fraction(self.epsilon):
            raise ValueError(f"reserve must lie between 0 and epsilon/3 = {self.epsilon / 3}, got {self.reserve}")

    @property
    def score_epsilon(self) -> Fraction:
        """ε₁ = ε/3 − ε₀, exactly."""
        return Fraction(self.epsilon) / 3 - Fraction(self.reserve)

    @property
    def steps(self) -> int:
        """T, the least that the theorem allows."""
        return least_steps(Fraction(self.stop), Fraction(self.reserve))


def least_steps(stop: Fraction, reserve: Fraction) -> int:
    """Return the least integer T ≥ max(ln(2/ε₀)/γ, 1 + 1/(eγ)).

    >>> least_steps(Fraction(1, 2), Fraction(1)), least_steps(Fraction(1, 8), Fraction(1, 16))
    (2, 28)
    """
    return ceil(max(log_bounds(2 / reserve)[1] / stop, 1 + exp_bounds(Fraction(-1))[1] / stop))


def sample(
    noisy: Callable[[int, int], NDArray[Any]], candidates: int, bits: BitSource, n: int, *, stop: Fraction, steps: int
) -> NDArray[Any]:
    """Return n times (candidate, noisy score), shape (n, 2), in the type of the scores.

    noisy(candidate, m) draws m noisy scores. stop is a dyadic. The number of steps does not depend on the data.
    Raises ValueError for a negative n, and for a stop that is no multiple of 2^−64.
    """
    require_draws(n)
    width = stop.denominator.bit_length() - 1
    if stop.denominator != 1 << width or stop.denominator > STOP_UNITS:
        raise ValueError(f"stop must be a multiple of 2^-64, got {stop}")
    best = np.stack([np.zeros(n), np.zeros(n)], axis=1).astype(noisy(0, 0).dtype)
    running = np.arange(n)
    for step in range(steps):
        chosen = uniform_below(np.full(len(running), candidates), (candidates - 1).bit_length(), bits)
        drawn = np.empty((len(running), 2), dtype=best.dtype)
        drawn[:, 0] = chosen
        for candidate in range(candidates):
            at = np.flatnonzero(chosen == candidate)
            drawn[at, 1] = noisy(candidate, len(at))
        kept = best[running]
        better = (drawn[:, 1] < kept[:, 1]) | ((drawn[:, 1] == kept[:, 1]) & (drawn[:, 0] < kept[:, 0]))
        better |= step == 0
        best[running[better]] = drawn[better]
        if step < steps - 1:
            running = running[bits.words(len(running), width) >= stop.numerator]
        if not len(running):
            break
    return best


def law(scores: Sequence[Law[Any]], *, stop: Fraction, steps: int) -> Law[Outcome]:
    """Return the exact law of `sample` from the exact laws of the candidates' noisy scores: Σ_t P(t)·(A^t − A⁻^t).

    Raises NoLawError where it would take too long.
    """
    denominators = {law.denominator for law in scores}
    assert len(denominators) == 1  # the candidates share their bounds and their noise
    atoms = [
        (candidate, value.item(), int(weight))
        for candidate, law in enumerate(scores)
        for value, weight in zip(np.asarray(law.atoms), np.repeat(integers(law.low), law.counts()), strict=True)
    ]
    total = denominators.pop() * len(scores)
    require_little_work(len(atoms), total, steps)
    goes_on = stop.denominator - stop.numerator
    # P(t)·total^(T−t)·denominator^T, the coefficient of (a draw's weight)^t
    coefficients = [
        (stop.numerator if t < steps else stop.denominator)
        * goes_on ** (t - 1)
        * stop.denominator ** (steps - t)
        * total ** (steps - t)
        for t in range(1, steps + 1)
    ]
    worst_first = sorted(atoms, key=lambda atom: (atom[1], atom[0]), reverse=True)
    weights, no_better, before = [], 0, 0
    for _, _, weight in worst_first:
        no_better += weight
        after = _evaluated(coefficients, no_better)
        weights.append(after - before)
        before = after
    named: list[Outcome] = [(candidate, value) for candidate, value, _ in worst_first]
    return exact_law(named, range(1, len(named) + 1), weights, (stop.denominator * total) ** steps)


def require_little_work(outcomes: int, total: int, steps: int) -> None:
    """Raise NoLawError where a law of so many outcomes would take too long. total: of the weights of one draw."""
    if outcomes * (steps * total.bit_length()) ** 2 > LAW_WORK_MAX:
        raise NoLawError(f"{outcomes} outcomes of {steps * total.bit_length()} bits")


def _evaluated(coefficients: list[int], at: int) -> int:
    """Return Σ_t coefficient_t·at^t, t from 1."""
    result = 0
    for coefficient in reversed(coefficients):
        result = result * at + coefficient
    return result * at


def score_lists(
    most: int = 5,
    candidates: int = 5,
    epsilon: float = 3.0,
    sensitivity: int = 1,
    stop: float = 0.5,
    reserve: float = 0.25,
) -> Domain[Scores, PrivateSelectionParameters]:
    """Return the lists of so many scores from 0 to `most`, which are the bounds, too."""
    points = box(0, most, candidates)
    options: dict[str, Any] = {"epsilon": epsilon, "sensitivity": sensitivity, "stop": stop, "reserve": reserve}
    return Domain(
        options_text("scores", most=most, candidates=candidates, **options),
        PrivateSelectionParameters(lower=0, upper=most, **options),
        points,
        lambda point: point,
        by_moves(points, moves_within(min(sensitivity, most), candidates)),
    )


FAMILY: Family[Scores, PrivateSelectionParameters] = Family(
    name="private-selection",
    parameters=PrivateSelectionParameters,
    adjacent=adjacent,  # as many candidates, and no score moves by more than Δ
    claim=epsilon_claim,
    members=(
        "subnormal.mechanisms.private_selection.naive:FLOAT64",
        "subnormal.mechanisms.private_selection.exact:BASE2",
    ),
    domain=score_lists,
    order=5,
)
