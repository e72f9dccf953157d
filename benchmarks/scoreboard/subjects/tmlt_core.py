"""Tumult Core for the vectors: its noise, and what it says of its privacy."""

from functools import cache

from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import (
    AddDiscreteGaussianNoise,
    AddGaussianNoise,
    AddGeometricNoise,
    AddLaplaceNoise,
)
from tmlt.core.utils.exact_number import ExactNumber

FLOATS = NumpyFloatDomain()


def drawing(noise, name):
    """Return draws of a noise, whose parameter is written as a rational."""

    def draws(parameters, n):
        function = noise(parameters[name])
        return [int(function(0)) for _ in range(n)]

    return draws


def exact(number):
    return ExactNumber.from_float(float(number), round_up=False)


def is_exact(data):
    """Return whether the data are an integer that a float can hold: rounding others is not the library's fault."""
    return isinstance(data, int) and abs(data) <= 2**53


@cache
def float_noise(noise, parameter):
    return noise(FLOATS, exact(parameter))


def laplace(parameters, data):
    return float_noise(AddLaplaceNoise, 1 / parameters["epsilon"])(float(data)) if is_exact(data) else None


def gaussian(parameters, data):
    return float_noise(AddGaussianNoise, parameters["sigma"] ** 2)(float(data)) if "sigma" in parameters else None


def zcdp(sigma):
    return AddGaussianNoise(FLOATS, exact(sigma) * exact(sigma)).privacy_function(1).to_float(round_up=True)


DRAWS = {
    "discrete-laplace": drawing(AddGeometricNoise, "scale"),
    "discrete-gaussian": drawing(AddDiscreteGaussianNoise, "variance"),
}
MECHANISMS = {"laplace": laplace, "gaussian": gaussian}
MAPS = {"gaussian-zcdp": zcdp}
