"""A logistic regression of the world on the features of an outcome. An event compares its score with a threshold."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from subnormal.attacks.core.events import Term
from subnormal.attacks.core.outcome_features import BEYOND, FEATURES, Columns
from subnormal.attacks.core.outcome_paths import Path

RUNS = 1 << 14  # of each world, for the fit of the weights
PATHS = 4  # largest number of parts of an outcome in use


def terms(columns: tuple[Columns, Columns], places: list[Path]) -> tuple[Term, ...]:
    """Return the terms of a logistic regression of the world on the features: standardized, clipped, and ridged."""
    chosen, measured = [], []
    for path in places[:PATHS]:
        for feature in FEATURES:
            values = np.concatenate([world(path, feature)[:RUNS] for world in columns])
            known = values[
                np.isfinite(values)
                & (np.abs(values) < BEYOND if feature in ("grid", "exponent", "trailing-zeros") else True)
            ]
            low, high = np.quantile(known, [0.01, 0.99]) if len(known) else (0.0, 0.0)
            spread = float(np.clip(known, low, high).std()) if high > low else 0.0
            if 0 < spread < np.inf and feature != "kind":
                term = Term(feature, path, 1 / spread, float(low), float(high), 0.0)
                chosen.append(term)
                measured.append(np.nan_to_num(np.clip(values, low, high) / spread, nan=0.0))
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

    centred = table - table.mean(axis=0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = side * (centred @ weights)
        slope = -(side * expit(-margin)) @ centred / len(side) + 2e-4 * weights
        return float(np.logaddexp(0, -margin).mean() + 1e-4 * weights @ weights), slope

    optimum = minimize(loss, np.zeros(centred.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 50})
    return [float(weight) for weight in optimum.x]
