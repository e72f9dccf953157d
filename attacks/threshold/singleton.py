"""Shared by the attacks on thresholded releases: one person alone holds a key; the event is its release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import Releases
from subnormal.attacks.core.outcome_paths import part
from subnormal.mechanisms.core.mechanism import Outcomes
from subnormal.mechanisms.threshold.parameters import Data, Released, ThresholdParameters

KEY = "Alice's"


def released_value(key: str) -> Callable[[Outcomes], NDArray[np.float64]]:
    """Return the statistic: the value of a key in each outcome, −∞ where it is not released."""

    def statistic(outcomes: Outcomes) -> NDArray[np.float64]:
        values = part(outcomes, (key,)).values
        return np.where(np.isnan(values), -np.inf, values)

    return statistic


def singleton(
    name: str, parameters: ThresholdParameters, breaks: tuple[str, ...], source: str, description: str
) -> Attack[Data, ThresholdParameters, Released]:
    """Return the attack: one key with the value Δ_∞ that Alice alone holds, against no key. The event is its release.

    Without her the key is never released, so with her the claim allows a probability of δ.
    """
    most = parameters.sensitivities[2]
    data: Data = {KEY: int(most) if parameters.integers else float(most)}
    return Attack(
        name=name,
        family="threshold",
        worlds=lambda: (dict(data), {}),
        parameters=parameters,
        event=Releases(KEY),
        statistic=released_value(KEY),
        breaks=breaks,
        source=source,
        description=description,
        axis="value released for her key",
    )
