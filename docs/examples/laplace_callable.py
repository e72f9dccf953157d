"""A naive Laplace mechanism as a Python function.

In this folder: subnormal check laplace_callable:release --in 1 --out 0 --epsilon 1
"""

import numpy as np

generator = np.random.default_rng()


def release(data):
    """Return one outcome: a count and numpy's float64 noise, the textbook way, which the check finds broken."""
    return data + generator.laplace(scale=1.0)
