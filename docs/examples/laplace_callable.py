"""A naive Laplace mechanism as a Python callable.

In this folder: python -m audit run --target laplace_callable:release --family laplace
"""

import numpy as np


def release(data, parameters, runs):
    """Return `runs` outcomes for the data: numpy's float64 noise, the textbook way, which the audit finds broken."""
    scale = parameters["sensitivity"] / parameters["epsilon"]
    generator = np.random.default_rng()
    if parameters["query"] == "sum":
        data = np.sum(data)
    noise = generator.laplace(scale=scale, size=(runs, *np.shape(data)))
    return data + noise
