"""Noise that is an integer times a granularity; the number is rounded to the same granularity.

Integers within 1 stay within 1 there. The claim leaves room for the granularity, 2^-40, beside the sensitivity.
"""

from hypothesis import strategies as st
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

from subnormal import Claim, within

mechanism = LaplaceMechanism(1.0, 1.0)

claim = Claim(epsilon=1.0 + 2**-40)
data = st.integers(-1000, 1000)
adjacent = within(1)


def function(value):
    return mechanism.add_noise(float(value))
