"""Wang, Ding, Kifer and Zhang 2020, BadAdaptiveSVT beside AdaptiveSVT, both with integer noise.

Every query has sensitivity 1. A query that is far above the threshold 0 is answered with more noise, for half of the
privacy: the budget is spent in parts of epsilon / (4 POSITIVES).
"""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON, POSITIVES, FAR = 1.0, 1, 16

claim = Claim(EPSILON)
data = st.lists(st.integers(-100, 100), max_size=12)
adjacent = within(1)
rng = np.random.default_rng()


def noise(scale):
    """Return z with probability proportional to e^(-|z| / scale)."""
    first, second = rng.geometric(1 - math.exp(-1 / scale), 2)
    return int(first - second)


def sparse_vector(queries, gap):
    """Return None for a query below the noisy threshold, its gap above, and, far above, its gap or its noisy value."""
    threshold, answers, spent = noise(2 / EPSILON), [], 2 * POSITIVES
    for query in queries:
        far = query + noise(8 * POSITIVES / EPSILON)
        near = query + noise(4 * POSITIVES / EPSILON)
        if far - threshold >= FAR:
            answers.append(far - threshold if gap else far)
            spent += 1
        elif near >= threshold:
            answers.append(near - threshold)
            spent += 2
        else:
            answers.append(None)
        if spent > 4 * POSITIVES - 2:
            break
    return answers


def releases_query(queries):
    return sparse_vector(queries, gap=False)


def releases_gap(queries):
    return sparse_vector(queries, gap=True)
