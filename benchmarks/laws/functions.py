"""Functions whose laws are followed, in several tables: noise, and sparse vectors with it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

SLACK = 1e-9  # of ε and δ: floats have no exact e^ε, and noise from 53 bits ends
LAPLACE, DIFFERENCE, NUMPY = "textbook Laplace", "difference of exponentials", "numpy.random.laplace"


def textbook_laplace(scale: float) -> float:
    """Return Laplace noise as textbooks draw it."""
    u = random.random() - 0.5
    noise = -scale * math.log(1 - 2 * abs(u))
    return noise if u > 0 else -noise


NOISE: dict[str, Callable[[float], Any]] = {
    LAPLACE: textbook_laplace,
    DIFFERENCE: lambda scale: scale * random.expovariate(1) - scale * random.expovariate(1),
    NUMPY: lambda scale: np.random.laplace(scale=scale),
}


def sparse_vector(number: int, noise: Callable[[float], Any], positives: int) -> Callable[[Any], Any]:
    """Return Algorithm 1 to 6 of Lyu, Su, Li 2017 for ε = 1, Δ = 1 and thresholds 0; the numbers of 3 are rounded."""
    first = 1 / 4 if number == 4 else 1 / 2
    second = 1 - first
    scale = {1: 2 * positives / second, 2: 2 * positives / first, 3: positives / second, 5: 0.0}.get(number, 1 / second)

    def run(queries: list[int]) -> tuple[Any, ...]:
        threshold = noise(positives / first if number == 2 else 1 / first)
        answers: list[Any] = []
        for query in queries:
            noisy = query + noise(scale) if scale else query
            if noisy >= threshold:
                answers.append(round(noisy) if number == 3 else True)
                threshold = noise(positives / second) if number == 2 else threshold
                if number <= 4 and sum(answer is not False for answer in answers) == positives:
                    break
            else:
                answers.append(False)
        return tuple(answers)

    return run


def rounded(noise: Callable[[float], Any], x: int) -> Any:
    """Return a number with rounded noise."""
    return round(x + noise(2.0))


def geometric(ratio: float) -> int:
    """Return a geometric number by a loop."""
    count = 0
    while random.random() < ratio:
        count += 1
    return count


def noisy_maximum(scores: list[int]) -> int:
    """Return the place of the largest score with Gumbel noise."""
    noisy = [score - math.log(random.expovariate(1)) for score in scores]
    return max(range(len(scores)), key=noisy.__getitem__)
