"""Private selection over exact mechanisms: discrete Laplace scores in base 2, clamped to public bounds.

The number of steps does not depend on the data. Leaks: as a draw of `laplace_exact`, almost nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, of_member
from subnormal.mechanisms.core.validation import as_integers, epsilon_claim
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.privacy import Eta, noise_eta
from subnormal.mechanisms.private_selection import family as private_selection_family
from subnormal.mechanisms.private_selection.family import Outcome, PrivateSelectionParameters, Scores


def sample(
    scores: ArrayLike, eta: Eta, bits: BitSource, n: int, *, lower: int, upper: int, stop: Fraction, steps: int
) -> NDArray[np.int64]:
    """Return n times (candidate, noisy score), int64 of shape (n, 2), lower scores being better.

    eta: the rate of the noise on each score, which is Δη|2-DP. stop: a dyadic.
    """
    values = as_integers(scores).tolist()

    def noisy(candidate: int, draws: int) -> NDArray[np.int64]:
        drawn: NDArray[np.int64] = laplace_exact.sample(values[candidate], eta, bits, draws, lower=lower, upper=upper)
        return drawn

    return private_selection_family.sample(noisy, len(values), bits, n, stop=stop, steps=steps)


def law(scores: ArrayLike, eta: Eta, *, lower: int, upper: int, stop: Fraction, steps: int) -> Law[Outcome]:
    """Return the exact distribution of `sample`. Raises NoLawError where it would take too long."""
    values = as_integers(scores).tolist()
    first = laplace_exact.law(values[0], eta, lower=lower, upper=upper)
    private_selection_family.require_little_work(len(values) * len(first.atoms), len(values) * first.denominator, steps)
    laws = [first, *(laplace_exact.law(value, eta, lower=lower, upper=upper) for value in values[1:])]
    return private_selection_family.law(laws, stop=stop, steps=steps)


def _arguments(parameters: PrivateSelectionParameters) -> tuple[Eta, dict[str, Any]]:
    options = {"lower": parameters.lower, "upper": parameters.upper}
    eta = noise_eta(parameters.score_epsilon, parameters.sensitivity)
    return eta, options | {"stop": Fraction(parameters.stop), "steps": parameters.steps}


BASE2: Mechanism[Scores, PrivateSelectionParameters, Outcome] = Mechanism(
    "private-selection-exact",
    "private-selection",
    of_member(sample, _arguments),
    epsilon_claim,
    of_member(law, _arguments),
    exact=True,
)
