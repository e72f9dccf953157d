"""Claims about choices: randomized response, the exponential mechanism, permute-and-flip and the noisy maximum.

A choice is among any number of candidates, whose scores one record changes by at most 1 each.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from subnormal.audit.claims.kind import Bounds, Kind, clipped, decades
from subnormal.mechanisms.numerics.interval import exp, interval, log, log1p

FAR = 100  # scales by which one score lies below the other: e^−100 is far below the rounding of a float
FAR_LAPLACE = 10**15  # scales: the loss approaches its largest as slowly as 1/x


def _randomized_response(categories: int, probability: float) -> Bounds:
    """ln(p·(k − 1)/(1 − p)), or the negative of that where a lie is likelier. Source: Warner 1965."""
    if probability == 1:
        return float("inf"), float("inf")
    odds = Fraction(probability) * (categories - 1) / (1 - Fraction(probability))
    return clipped(log(max(odds, 1 / odds)))


def _exponential(scale: float) -> Bounds:
    """Of two candidates, one lies FAR scales below the other after it gained 1 and the other lost 1. At most 2/s.

    Gumbel noise of this scale on the scores makes the same choice. Source: McSherry, Talwar 2007.
    """
    loss = 2 / interval(scale)
    return (loss + log1p(exp(-FAR - loss)) - log1p(exp(-interval(FAR)))).floats()[0], loss.floats()[1]


def _permute_and_flip(scale: float) -> Bounds:
    """Of two candidates, one that is worse by d ≥ 0 has the probability e^(−d/s)/2: from d + 2 to d, 2/s exactly.

    Exponential noise of this scale on the scores makes the same choice (Ding et al. 2021). Source: McKenna, Sheldon
    2020.
    """
    return (2 / interval(scale)).floats()


def _noisy_max_laplace(scale: float) -> Bounds:
    """Of two candidates, one that is worse by d has the probability e^(−d/s)·(2 + d/s)/4. At most 2/s.

    Source: Dwork, Roth 2014, Claim 3.9.
    """
    loss = 2 / interval(scale)
    return (loss - log1p(loss / (2 + interval(FAR_LAPLACE)))).floats()[0], loss.floats()[1]


SCALE = {"scale": decades(-3, 6, 1e-3, 0.5, 1.0, 1e6)}
RESPONSE = {
    "categories": st.integers(2, 10) | decades(1, 6, 2.0, whole=True),
    "probability": st.floats(0.5, 1, exclude_max=True) | decades(-15, -1).map(lambda lie: 1 - lie),
}
SELECTION_KINDS = (
    Kind("randomized-response", "ε", RESPONSE, _randomized_response, exact=True),
    Kind("exponential", "ε", SCALE, _exponential, exact=True),
    Kind("permute-and-flip", "ε", SCALE, _permute_and_flip, exact=True),
    Kind("noisy-max-laplace", "ε", SCALE, _noisy_max_laplace, exact=True),
)
