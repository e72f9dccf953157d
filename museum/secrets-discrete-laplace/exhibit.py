"""Canonne, Kamath and Steinke 2020, Algorithm 2, at scale 2: integers and `secrets` alone."""

import secrets

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

claim = Claim(epsilon=0.5)
data = st.lists(st.booleans())
adjacent = add_or_remove()


def count(records):
    return sum(records) + discrete_laplace(2)


def discrete_laplace(scale):
    """Return z with probability proportional to e^(-|z| / scale)."""
    while True:
        rest = secrets.randbelow(scale)
        if not bernoulli_exp(rest, scale):
            continue
        turns = 0
        while bernoulli_exp(1, 1):
            turns += 1
        size, negative = rest + scale * turns, secrets.randbelow(2)
        if size or not negative:
            return -size if negative else size


def bernoulli_exp(numerator, denominator):
    """Return True with probability e^(-numerator / denominator), at most 1: an even number of heads in a row."""
    k = 1
    while secrets.randbelow(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
