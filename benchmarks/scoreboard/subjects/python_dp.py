"""PyDP for the vectors: Google's noise on numbers."""

from functools import cache

from pydp.algorithms.numerical_mechanisms import LaplaceMechanism


def is_exact(data):
    """Return whether the data are an integer that a float can hold: rounding others is not the library's fault."""
    return isinstance(data, int) and abs(data) <= 2**53


@cache
def noise(epsilon):
    return LaplaceMechanism(epsilon=epsilon, sensitivity=1.0)


def laplace(parameters, data):
    return noise(parameters["epsilon"]).add_noise(float(data)) if is_exact(data) else None


MECHANISMS = {"laplace": laplace}
