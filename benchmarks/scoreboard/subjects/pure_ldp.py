"""pure-LDP for the vectors: direct encoding, which is randomized response.

It takes categories from 1 on, and returns them from 0 on.
"""

import math
from fractions import Fraction

from pure_ldp.frequency_oracles.direct_encoding import DEClient


def draws(parameters, n):
    k, p = parameters["categories"], Fraction(parameters["probability"])
    if not Fraction(1, k) < p < 1:
        return None  # no positive ε
    client = DEClient(math.log(p * (k - 1) / (1 - p)), k)
    return [client.privatise(parameters["truth"] + 1) for _ in range(n)]


def response(parameters, data):
    return DEClient(parameters["epsilon"], parameters["categories"]).privatise(data + 1)


DRAWS = {"randomized-response": draws}
MECHANISMS = {"randomized-response": response}
