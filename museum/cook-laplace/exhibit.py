"""The noise of https://www.johndcook.com/blog/2018/03/13/generating-laplace-random-variables/ on a clipped sum."""

from fractions import Fraction
from math import log
from random import random

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove, system_bits
from subnormal.mechanisms.laplace import exact as laplace

claim = Claim(epsilon=1.0)
data = st.lists(st.floats(0, 1))
adjacent = add_or_remove()


def difference_of_logarithms(records):
    return sum(records) + exponential(1.0) - exponential(1.0)


def exponential(mean):
    return -mean * log(1.0 - random())


def exact(records):
    return laplace.sample(sum(map(Fraction, records)), 1.0, system_bits(), 1, grid=-10, lower=-64, upper=64)[0]
