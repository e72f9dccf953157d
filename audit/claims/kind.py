"""What a kind of claim is: a question that libraries answer with a number, and certified bounds on the true answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from scipy.optimize import brentq

from subnormal.mechanisms.numerics.interval import Interval

Bounds = tuple[float, float]  # low ≤ the true answer ≤ up

SMALLEST = 2.0**-40  # nats: below it, the search for ε begins at 0
GALLOP = 16.0  # factor between its steps
LEAST_EXCESS = -1e4  # of ln δ, where it may be 0


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of claim.

    asks: the quantity, such as "ε at δ". parameters: the strategy of each parameter.
    bounds(**parameters): certified bounds on the least number that is true; its docstring names the mechanism and the
    source. exact: whether the two bounds agree to about 12 digits, so that the factor of LOOSE means something; where
    not, a factor compares with a bound that may itself be loose.
    """

    name: str
    asks: str
    parameters: Mapping[str, SearchStrategy[Any]]
    bounds: Callable[..., Bounds]
    exact: bool = False

    def strategy(self, least_delta: float = 0.0, most_epsilon: float = math.inf) -> SearchStrategy[dict[str, Any]]:
        """Return the strategy of all parameters together. No `delta` is below least_delta, no `epsilon` above
        most_epsilon."""
        each = dict(self.parameters)
        if "delta" in each and least_delta > 0:
            each["delta"] = each["delta"].filter(lambda delta: delta >= least_delta)
        if "epsilon" in each and most_epsilon < math.inf:
            each["epsilon"] = each["epsilon"].filter(lambda epsilon: epsilon <= most_epsilon)
        return st.fixed_dictionaries(each)


def least_epsilon(delta_at: Callable[[float], Interval], delta: float) -> Bounds:
    """Return (low, up) around the least ε ≥ 0 with δ(ε) ≤ delta. delta_at falls with ε, and encloses δ(ε)."""
    if not delta_at(0.0).low > delta:
        return 0.0, _up(delta_at, delta, 0.0)
    low, high = _within_a_step(delta_at, delta)
    if math.isinf(high):
        return low, math.inf
    low, high = _narrowed(delta_at, delta, low, high)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if delta_at(middle).low > delta else (low, middle)
    return low, _up(delta_at, delta, high)


def _within_a_step(delta_at: Callable[[float], Interval], delta: float) -> Bounds:
    """Return a low end whose δ is larger, and a high end whose δ may not be, within a factor of 16."""
    low, high = 0.0, 1.0
    while delta_at(high).low > delta:
        low, high = high, high * GALLOP
        if math.isinf(high):
            return low, high
    while low == 0 and high > SMALLEST:
        low, high = (high / GALLOP, high) if delta_at(high / GALLOP).low > delta else (0.0, high / GALLOP)
    return low, high


def _narrowed(delta_at: Callable[[float], Interval], delta: float, low: float, high: float) -> Bounds:
    """Return ends as above that lie a few floats apart: they surround the place that scipy finds in floats."""

    def excess(epsilon: float) -> float:
        ratio = float(delta_at(epsilon).low / delta)
        return max(LEAST_EXCESS, math.log(ratio)) if ratio > 0 else LEAST_EXCESS

    near = brentq(excess, low, high, xtol=SMALLEST * 2.0**-52, disp=False)
    step = math.ulp(near)
    while near - step > low and not delta_at(near - step).low > delta:
        high, step = near - step, step * 4
    low, step = max(low, near - step), math.ulp(near)
    while near + step < high and delta_at(near + step).low > delta:
        low, step = near + step, step * 4
    return low, min(high, near + step)


def _up(delta_at: Callable[[float], Interval], delta: float, start: float) -> float:
    """Return an ε ≥ start, as near as may be, at which δ(ε) ≤ delta for certain; ∞ where none is found."""
    step = max(start, SMALLEST) * 2.0**-50
    for _ in range(60):
        if delta_at(start).high <= delta:
            return start
        start, step = start + step, step * 4
    return math.inf


def clipped(value: Interval) -> Bounds:
    """Return the bounds of an interval as floats, not below 0."""
    low, up = value.floats()
    return max(0.0, low), max(0.0, up)


def of_three_digits(value: float) -> float:
    """Return the nearest number of three significant digits.

    >>> of_three_digits(2.71828e-9)
    2.72e-09
    """
    return float(Context(prec=3).create_decimal_from_float(value))


def decades(low: float, high: float, *edges: float, whole: bool = False) -> SearchStrategy[Any]:
    """Return a strategy of numbers from 10^low to 10^high, as likely in each decade, and the edge values.

    Three significant digits, so that counterexamples can be read. whole: integers.
    """
    drawn = st.floats(low, high).map(lambda power: of_three_digits(10**power))
    every = st.one_of(st.sampled_from(edges), drawn) if edges else drawn
    return every.map(round) if whole else every


def deltas(*edges: float) -> SearchStrategy[Any]:
    """Return a strategy of δ between 0 and 1, most of them from 10^-15 to 10^-1, some down to 10^-300."""
    usual = st.floats(1, 15).map(lambda power: of_three_digits(10**-power))
    tiny = st.floats(15, 300).map(lambda power: of_three_digits(10**-power))
    return st.one_of(st.sampled_from([1e-5, 1e-6, 1e-9, 0.5, *edges]), usual, usual, usual, tiny)


STEPS = st.one_of(st.just(1), st.integers(1, 100), decades(0, 9, 1e9, whole=True))
DELTA, DELTA_OR_NONE = deltas(), deltas(0.0)
ALPHA = deltas(0.05, 0.01, 1.0)  # the chance that an accuracy is missed
WIDTH = decades(-3, 6, 1e-3, 1.0, 1e6)  # of noise
FAILURE = st.one_of(st.just(0.0), decades(-12, -2, 1e-6))
