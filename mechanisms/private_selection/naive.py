"""Private selection with Laplace scores in float64, as people write it. Not private.

The choice of the candidate and the stop at a dyadic γ are as in the exact twin, and exact in floats. Only the scores
are rounded, and so the comparison of candidates.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike, NDArray

from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, of_member
from subnormal.mechanisms.core.validation import as_integers, epsilon_claim
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.private_selection import family as private_selection_family
from subnormal.mechanisms.private_selection.family import Outcome, PrivateSelectionParameters, Scores


def sample(scores: ArrayLike, scale: float, bits: BitSource, n: int, *, stop: Fraction, steps: int) -> NDArray[Any]:
    """Return n times (candidate, noisy score), float64 of shape (n, 2), lower scores being better."""
    values = as_integers(scores).tolist()
    return private_selection_family.sample(
        lambda candidate, draws: laplace_naive.sample(values[candidate], scale, bits, draws),
        len(values),
        bits,
        n,
        stop=stop,
        steps=steps,
    )


def law(scores: ArrayLike, scale: float, *, stop: Fraction, steps: int) -> Law[Outcome]:
    """Return the exact distribution of this code, where the scores have one (`laplace_naive.law`), else NoLawError."""
    laws = [laplace_naive.law(value, scale) for value in as_integers(scores).tolist()]
    return private_selection_family.law(laws, stop=stop, steps=steps)


def _arguments(parameters: PrivateSelectionParameters) -> tuple[float, dict[str, Any]]:
    scale = parameters.sensitivity / float(parameters.score_epsilon)
    return scale, {"stop": Fraction(parameters.stop), "steps": parameters.steps}


FLOAT64: Mechanism[Scores, PrivateSelectionParameters, Outcome] = Mechanism(
    "private-selection-naive",
    "private-selection",
    of_member(sample, _arguments),
    epsilon_claim,
    of_member(law, _arguments),
)
