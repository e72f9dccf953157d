"""Unmodified samplers, as people write them, whose laws are known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np


def geometric(ratio: float) -> int:
    count = 0
    while random.random() < ratio:
        count += 1
    return count


def textbook_laplace(scale: float) -> float:
    u = random.random() - 0.5
    noise = -scale * math.log(1 - 2 * abs(u))
    return noise if u > 0 else -noise


def gumbel_argmax(scores: list[int]) -> int:
    noisy = [score - math.log(random.expovariate(1)) for score in scores]
    return max(range(len(scores)), key=noisy.__getitem__)


def algorithm_1(queries: list[int]) -> tuple[bool, ...]:
    """The sound sparse vector of Lyu, Su, Li 2017 for ε = 1, c = 1."""
    threshold, answers = textbook_laplace(2.0), []
    for query in queries:
        answers.append(query + textbook_laplace(4.0) >= threshold)
        if answers[-1]:
            break
    return tuple(answers)


def algorithm_4(queries: list[int]) -> tuple[bool, ...]:
    """Its Algorithm 4: noise that does not grow with c = 2."""
    threshold, answers = textbook_laplace(4.0), []
    for query in queries:
        answers.append(query + textbook_laplace(4.0 / 3.0) >= threshold)
        if sum(answers) >= 2:
            break
    return tuple(answers)


def algorithm_5(queries: list[int]) -> tuple[bool, ...]:
    """Its Algorithm 5: no noise on the queries; the threshold's noise is a difference of two exponentials."""
    threshold = 2 * random.expovariate(1) - 2 * random.expovariate(1)
    return tuple(query > threshold for query in queries)


HISTOGRAMS: list[Callable[[list[int]], Any]] = [
    lambda counts: [round(count + textbook_laplace(1.0)) for count in counts],
    lambda counts: {str(place): round(count + textbook_laplace(1.0)) for place, count in enumerate(counts)},
    lambda counts: np.rint(np.array(counts) + np.random.laplace(size=len(counts))),
    lambda counts: [float(count + round(float(np.random.laplace()))) for count in counts],
]
