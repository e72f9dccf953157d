"""Lyu, Su and Li 2017, Algorithm 3 (Roth's lecture notes), beside their Algorithm 1, both with integer noise.

Every query has sensitivity 1; above the threshold 0 the answer is true, and there are at most two such answers.
"""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON, POSITIVES = 1.0, 2

claim = Claim(EPSILON)
data = st.lists(st.integers(-100, 100), max_size=12)
adjacent = within(1)
rng = np.random.default_rng()


def noise(scale):
    """Return z with probability proportional to e^(-|z| / scale)."""
    first, second = rng.geometric(1 - math.exp(-1 / scale), 2)
    return int(first - second)


def algorithm_3(queries):
    threshold, answers, positives = noise(2 / EPSILON), [], 0
    for query in queries:
        noisy = query + noise(2 * POSITIVES / EPSILON)
        answers.append(noisy if noisy >= threshold else None)
        positives += noisy >= threshold
        if positives == POSITIVES:
            break
    return answers


def algorithm_1(queries):
    threshold, answers = noise(2 / EPSILON), []
    for query in queries:
        answers.append(query + noise(4 * POSITIVES / EPSILON) >= threshold)
        if sum(answers) == POSITIVES:
            break
    return answers
