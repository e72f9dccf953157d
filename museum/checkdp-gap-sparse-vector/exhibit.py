"""Wang, Ding, Kifer and Zhang 2020, BadGapSVT beside GapSVT, both with integer noise.

Every query has sensitivity 1; the answer to the first query above the threshold 0 is released, and is the last.
"""

import math

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, within

EPSILON, POSITIVES = 1.0, 1

claim = Claim(EPSILON)
data = st.lists(st.integers(-100, 100), max_size=12)
adjacent = within(1)
rng = np.random.default_rng()


def noise(scale):
    """Return z with probability proportional to e^(-|z| / scale)."""
    first, second = rng.geometric(1 - math.exp(-1 / scale), 2)
    return int(first - second)


def sparse_vector(queries, gap):
    """Return None for each query below the noisy threshold, and the noisy query, or its gap, for the first above."""
    threshold, answers, positives = noise(2 / EPSILON), [], 0
    for query in queries:
        noisy = query + noise(4 * POSITIVES / EPSILON)
        if noisy < threshold:
            answers.append(None)
            continue
        answers.append(noisy - threshold if gap else noisy)
        positives += 1
        if positives == POSITIVES:
            break
    return answers


def releases_query(queries):
    return sparse_vector(queries, gap=False)


def releases_gap(queries):
    return sparse_vector(queries, gap=True)
