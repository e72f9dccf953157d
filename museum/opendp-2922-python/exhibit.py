"""The rule and the privacy map of OpenDP's integer threshold (issue 2922), on noise from Python's `random`.

A record with a key of its own is seen where 1 + noise is at least the threshold, or above it: δ is that of the latter.
"""

import math
import random
from collections import Counter

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

SCALE, THRESHOLD = 1.0, 5

claim = Claim(1 / SCALE, math.exp(-THRESHOLD / SCALE) / (1 + math.exp(-1 / SCALE)) * (1 + 1e-9))
data = st.lists(st.text(max_size=3))
adjacent = add_or_remove()


def geometric():
    return math.floor(-SCALE * math.log(1.0 - random.random()))


def noisy(records):
    return {key: count + geometric() - geometric() for key, count in Counter(records).items()}


def at_threshold(records):
    return {key: count for key, count in noisy(records).items() if count >= THRESHOLD}


def above_threshold(records):
    return {key: count for key, count in noisy(records).items() if count > THRESHOLD}
