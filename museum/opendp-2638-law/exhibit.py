"""An integer with Laplace noise of scale 3, and the distribution that the noise has by the documentation."""

import math

import opendp.prelude as dp
from hypothesis import strategies as st

dp.enable_features("contrib")

SCALE, REACH = 3.0, 150  # beyond, the mass is less than 10^-21

function = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=SCALE)
data = st.integers(-1000, 1000)


def law(value):
    p = math.exp(-1 / SCALE)
    return {value + z: (1 - p) / (1 + p) * p ** abs(z) for z in range(-REACH, REACH + 1)}
