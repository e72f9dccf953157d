"""The geometric mechanism (Ghosh, Roughgarden and Sundararajan 2009) at base 2: the number of heads before a tail."""

import math
import secrets

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

claim = Claim(epsilon=math.log(2))
data = st.lists(st.booleans())
adjacent = add_or_remove()


def count(records):
    return sum(records) + heads() - heads()


def heads():
    number = 0
    while secrets.randbelow(2):
        number += 1
    return number
