"""multi-freq-ldpy for the vectors: generalized randomized response."""

import math
from fractions import Fraction

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client


def draws(parameters, n):
    k, p = parameters["categories"], Fraction(parameters["probability"])
    if not Fraction(1, k) < p < 1:
        return None  # no positive ε
    epsilon = math.log(p * (k - 1) / (1 - p))
    return [int(GRR_Client(parameters["truth"], k, epsilon)) for _ in range(n)]


def response(parameters, data):
    return int(GRR_Client(data, parameters["categories"], parameters["epsilon"]))


DRAWS = {"randomized-response": draws}
MECHANISMS = {"randomized-response": response}
