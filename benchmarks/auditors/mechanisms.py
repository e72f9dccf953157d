"""Scores of canaries from mechanisms whose ε at δ is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.claims.kinds import kind

DELTA = 1e-5
GRID = 2.0**-20  # of scores: the last bits of noise in floats would tell more than the formulas say

Draw = Callable[[NDArray[np.int64], np.random.Generator], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """draw: the scores of canaries, of which 1 says included. epsilon: certified bounds on the least ε at DELTA.

    is_gaussian: whether its trade-off curve is Gaussian, as some auditors assume.
    """

    name: str
    canaries: int
    draw: Draw
    epsilon: tuple[float, float]
    is_gaussian: bool = False

    def scores(self, repetitions: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return scores on the grid, and who was included by a fair coin, each (repetitions, canaries)."""
        random = np.random.default_rng(seed)
        included = random.integers(0, 2, (repetitions, self.canaries))
        return np.array([np.round(self.draw(one, random) / GRID) * GRID for one in included]), included == 1


def gaussian(distance: float, canaries: int) -> Mechanism:
    """Return Gaussian noise of deviation 1 on inclusion times distance."""
    epsilon = kind("gaussian").bounds(sigma=1 / distance, steps=1, delta=DELTA)
    return Mechanism(f"Gaussian, distance {distance:g}", canaries, _gaussian(distance), epsilon, True)


def _gaussian(distance: float) -> Draw:
    return lambda included, random: random.normal(size=len(included)) + distance * included


def laplace(budget: float, canaries: int) -> Mechanism:
    """Return Laplace noise of scale 1 on inclusion times the budget."""
    epsilon = kind("laplace").bounds(scale=1 / budget, steps=1, delta=DELTA)
    return Mechanism(
        f"Laplace, ε = {budget:g}",
        canaries,
        lambda included, random: random.laplace(size=len(included)) + budget * included,
        epsilon,
    )


def discrete_laplace(budget: float, canaries: int) -> Mechanism:
    """Return integer Laplace noise on inclusion: few values, so many ties."""
    epsilon = kind("discrete-laplace").bounds(scale=1 / budget, steps=1, delta=DELTA)
    share = -math.expm1(-budget)

    def draw(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        ups, downs = (random.geometric(share, len(included)) for _ in range(2))
        return (included + ups - downs).astype(np.float64)

    return Mechanism(f"integer Laplace, ε = {budget:g}", canaries, draw, epsilon)


def response(budget: float, canaries: int) -> Mechanism:
    """Return randomized response: δ(ε) = (e^budget − e^ε)/(1 + e^budget)."""
    epsilon = math.log(math.exp(budget) - DELTA * (1 + math.exp(budget)))

    def draw(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        true = random.random(len(included)) < 1 / (1 + math.exp(-budget))
        return np.where(true, included, 1 - included).astype(np.float64)

    near = (math.nextafter(epsilon, 0), epsilon * (1 + 1e-12))
    return Mechanism(f"randomized response, ε = {budget:g}", canaries, draw, near)


def sampled(distance: float, share: float, canaries: int) -> Mechanism:
    """Return Gaussian noise where an included canary takes part with a probability alone."""
    epsilon = kind("sampled-gaussian").bounds(sigma=1 / distance, sampling=share, steps=1, delta=DELTA)

    def draw(included: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
        taken = included * (random.random(len(included)) < share)
        return random.normal(size=len(included)) + distance * taken

    return Mechanism(f"Gaussian of a sample of {share:g}, distance {distance:g}", canaries, draw, epsilon)


def identical(canaries: int) -> Mechanism:
    """Return scores that inclusion does not change."""
    return Mechanism("identical worlds", canaries, _gaussian(0.0), (0.0, 0.0), True)


def coins(canaries: int) -> Mechanism:
    """Return scores of two values that inclusion does not change."""
    return Mechanism(
        "identical worlds, two values",
        canaries,
        lambda included, random: random.integers(0, 2, len(included)).astype(np.float64),
        (0.0, 0.0),
        True,
    )


MECHANISMS = (
    identical(50),
    identical(1_000),
    identical(50_000),
    coins(50),
    coins(1_000),
    gaussian(1, 50),
    gaussian(1, 1_000),
    gaussian(1, 50_000),
    gaussian(3, 1_000),
    laplace(1, 1_000),
    laplace(3, 50),
    discrete_laplace(1, 50),
    discrete_laplace(1, 1_000),
    response(1, 50),
    response(1, 50_000),
    response(3, 1_000),
    sampled(4, 0.1, 1_000),
)
