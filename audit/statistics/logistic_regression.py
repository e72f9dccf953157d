"""A logistic regression of the world on the features of an outcome. An event compares its score with a threshold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Term
from subnormal.attacks.core.outcome_features import BEYOND, FEATURES, Columns
from subnormal.attacks.core.outcome_paths import Path

RUNS = 1 << 14  # of each world, for the fit of the weights
RIDGE = 2.0  # of the weights, over the number of outcomes: weights of about 1/2 are expected
BOUNDED = ("grid", "exponent", "trailing-zeros")  # features whose value for 0 is no size
WHOLE = (0.01, 0.99)  # quantiles between which a feature counts
BENDS = (0.02, 1 / 6, 1 / 3, 0.5, 2 / 3, 5 / 6, 0.98)  # the loss of Laplace noise is flat outside two of them
HALVES = (0.02, 0.4, 0.6, 0.98)


def terms(
    columns: tuple[Columns, Columns],
    places: list[Path],
    features: Sequence[str] = tuple(FEATURES),
    quantiles: Sequence[float] = WHOLE,
) -> tuple[Term, ...]:
    """Return the terms of a logistic regression of the world on the features: standardized, clipped, and ridged.

    quantiles: of a feature. Each two neighbouring ones bound a term of it, so that its score is a line with bends.
    """
    chosen, measured = list[Term](), list[NDArray[np.float64]]()
    for path in places:
        for feature in features:
            values = np.concatenate([world(path, feature)[:RUNS] for world in columns])
            known = values[np.isfinite(values) & (np.abs(values) < BEYOND if feature in BOUNDED else True)]
            ends = np.unique(np.quantile(known, quantiles)) if len(known) else np.zeros(0)
            for low, high in pairwise(ends.tolist()):
                inside = np.clip(values, low, high)
                spread = float(inside[np.isfinite(values)].std())
                if 0 < spread < np.inf and feature != "kind":
                    chosen.append(Term(feature, path, 1 / spread, low, high, 0.0))
                    measured.append(np.nan_to_num(inside / spread, nan=0.0))
    if not chosen:
        return ()
    table = np.stack(measured, axis=1)
    sizes = [len(world(places[0], "kind")[:RUNS]) for world in columns]
    weights = _weights(table, np.repeat([1.0, -1.0], sizes))
    return tuple(
        dataclasses.replace(term, weight=term.weight * weight) for term, weight in zip(chosen, weights, strict=True)
    )


def _weights(table: NDArray[np.float64], side: NDArray[np.float64]) -> list[float]:
    """Return the weights that minimize the mean logistic loss plus a small ridge; side is 1 or −1, the world."""
    from scipy.optimize import minimize
    from scipy.special import expit

    centred, ridge = table - table.mean(axis=0), RIDGE / len(side)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = side * (centred @ weights)
        slope = -(side * expit(-margin)) @ centred / len(side) + 2 * ridge * weights
        return float(np.logaddexp(0, -margin).mean() + ridge * weights @ weights), slope

    optimum = minimize(loss, np.zeros(centred.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 50})
    return [float(weight) for weight in optimum.x]
