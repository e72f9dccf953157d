"""diffprivlib for the vectors: its noise, its choices and its quantile."""

from fractions import Fraction
from functools import cache

from diffprivlib import mechanisms
from diffprivlib.tools import quantile


def geometric(parameters, n):
    function = mechanisms.Geometric(epsilon=float(1 / Fraction(parameters["scale"])), sensitivity=1).randomise
    return [function(0) for _ in range(n)]


def permute_and_flip(parameters, n):
    epsilon = 2 * float(Fraction(parameters["rate"]))  # of a choice that is not monotonic
    made = mechanisms.PermuteAndFlip(epsilon=epsilon, sensitivity=1, utility=parameters["scores"])
    return [made.randomise() for _ in range(n)]


def is_exact(data):
    """Return whether the data are an integer that a float can hold: rounding others is not the library's fault."""
    return isinstance(data, int) and abs(data) <= 2**53


@cache
def noise(epsilon):
    return mechanisms.Laplace(epsilon=epsilon, sensitivity=1.0)


def laplace(parameters, data):
    return noise(parameters["epsilon"]).randomise(float(data)) if is_exact(data) else None


@cache
def choice(epsilon, sensitivity, utilities):
    scores = [-float(one) for one in utilities]  # the smallest utility is the best candidate's
    return mechanisms.Exponential(epsilon=epsilon, sensitivity=sensitivity, utility=scores)


def exponential(parameters, data):
    small = len(data) <= 100
    return choice(parameters["epsilon"], parameters["sensitivity"], tuple(data)).randomise() if small else None


@cache
def words(epsilon):
    return mechanisms.Binary(epsilon=epsilon, value0="0", value1="1")


def response(parameters, data):
    return int(words(parameters["epsilon"]).randomise(str(data))) if parameters["categories"] == 2 else None


def quantile_of(parameters, data):
    bounds = parameters["lower"], parameters["upper"]
    return float(quantile(data, parameters["quantile"], epsilon=parameters["epsilon"], bounds=bounds))


DRAWS = {"discrete-laplace": geometric, "permute-and-flip": permute_and_flip}
MECHANISMS = {
    "laplace": laplace,
    "exponential": exponential,
    "randomized-response": response,
    "quantile": quantile_of,
}
