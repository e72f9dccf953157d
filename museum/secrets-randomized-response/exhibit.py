"""k-ary randomized response (Kairouz, Bonawitz and Ramage 2016) where e^epsilon is an integer: no float is rounded."""

import math
import secrets

from hypothesis import strategies as st

from subnormal import Claim

CATEGORIES = ("north", "east", "south", "west")
WEIGHT = 4  # of the truth, against 1 of each other category

claim = Claim(epsilon=math.log(WEIGHT))
data = st.sampled_from(CATEGORIES)


def adjacent(one, other):
    return one != other


def randomized_response(category):
    place = secrets.randbelow(WEIGHT + len(CATEGORIES) - 1)
    others = [one for one in CATEGORIES if one != category]
    return others[place] if place < len(others) else category
