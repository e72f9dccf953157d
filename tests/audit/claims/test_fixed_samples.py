"""Samples without replacement: the bounds enclose what every pair of small datasets shows, sample by sample."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.claims.fixed_sample_kinds import _shares
from subnormal.audit.claims.holding import hold
from subnormal.audit.claims.kind import Kind
from subnormal.audit.claims.kinds import kind

GAUSSIAN, LAPLACE = kind("fixed-sample-gaussian"), kind("fixed-sample-laplace")
CELL = 0.01
PLACES = np.arange(-40, 40, CELL) + CELL / 2


def step(values: tuple[int, ...], sample: int, density: Callable[[Any], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the masses of cells: noise around the sum of every sample, each as likely."""
    sums = [sum(drawn) for drawn in combinations(values, sample)]
    masses: NDArray[np.float64] = CELL * np.mean([density(PLACES - one) for one in sums], axis=0)
    return masses


@pytest.mark.parametrize("sample", [1, 2])
@pytest.mark.parametrize(
    ("one", "name", "density"),
    [(GAUSSIAN, "sigma", stats.norm(scale=2.0).pdf), (LAPLACE, "scale", stats.laplace(scale=2.0).pdf)],
    ids=["gaussian", "laplace"],
)
def test_no_pair_of_datasets_exceeds_a_step_and_one_attains_it(
    one: Kind, name: str, density: Callable[[Any], NDArray[np.float64]], sample: int
) -> None:
    """All datasets of three values −1, 0 and 1, with the first value replaced by any other."""
    low, up = one.bounds(**{name: 2.0}, sample=sample, left_out=3 - sample, steps=1, delta=0.1)
    assert up == pytest.approx(low, rel=1e-9)
    leaks = []
    for others in product((-1, 0, 1), repeat=2):
        worlds = [step((first, *others), sample, density) for first in (-1, 0, 1)]
        leaks += [float(np.maximum(0, p - math.exp(low) * q).sum()) for p in worlds for q in worlds]
    assert max(leaks) == pytest.approx(0.1, rel=1e-4)


@pytest.mark.parametrize(("sample", "left_out"), [(1, 1), (3, 5), (2, 9)])
@pytest.mark.parametrize("delta", [0.05, 1e-4])
def test_two_steps_lie_between_the_bounds(sample: int, left_out: int, delta: float) -> None:
    """δ of two steps by quadrature over both outcomes, on two pairs of datasets: all others −1, or all others 0."""
    sigma, share, cell = 1.5, sample / (sample + left_out), 0.03
    low, up = GAUSSIAN.bounds(sigma=sigma, sample=sample, left_out=left_out, steps=2, delta=delta)
    places = np.arange(-12, 15, cell)
    noise = stats.norm(scale=sigma)

    def two_steps(record: float, other: float, epsilon: float) -> float:
        own, out = (cell * ((1 - share) * noise.pdf(places) + share * noise.pdf(places - at)) for at in (record, other))
        return float(np.maximum(0, np.outer(own, own) - math.exp(epsilon) * np.outer(out, out)).sum())

    assert max(two_steps(*pair, up) for pair in ((2, 0), (0, 2), (1, -1))) <= delta * (1 + 1e-3)
    assert max(two_steps(2, 0, low), two_steps(0, 2, low)) >= delta * (1 - 1e-3)
    assert up <= 1.1 * low + 0.02


def test_shares_enclose_the_fraction() -> None:
    for sample, left_out in ((1, 2), (1, 9), (7, 3), (1, 10**9)):
        least, most = _shares(sample, left_out)
        assert least < Fraction(sample, sample + left_out) < most
        assert most - least <= 4e-16
    assert _shares(0, 0) == _shares(0, 3) == (0.0, 0.0)
    assert _shares(3, 0) == (1.0, 1.0)


@pytest.mark.parametrize("one", [GAUSSIAN, LAPLACE], ids=lambda one: one.name)
def test_noise_for_a_sum_that_moves_by_one_is_too_little(one: Kind) -> None:
    poisson = kind(one.name.replace("fixed-sample", "sampled"))

    def said(sample: int, left_out: int, **rest: Any) -> float:
        return poisson.bounds(sampling=sample / max(1, sample + left_out), **rest)[1]

    few = {"sample": st.integers(1, 9), "left_out": st.integers(0, 9), "steps": st.just(1), "delta": st.just(1e-5)}
    once = replace(one, parameters={**one.parameters, **few})
    found = hold("own", said, once, examples=10).violated
    assert found is not None
    assert found.said < found.low
    assert hold("own", lambda **rest: one.bounds(**rest)[1], once, examples=10).violated is None
