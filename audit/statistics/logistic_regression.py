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
STEPS = 50  # at most; where the worlds are far apart, any direction near the best tells them apart
SMALL = 1e-9  # nats that a last step wins


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
    """Return the weights that minimize the mean logistic loss plus a small ridge; side is 1 or −1, the world.

    Newton's method, with a bound on the second derivative in its place (Böhning, Lindsay 1988, "Monotonicity of
    quadratic-approximation algorithms"): each step lowers the loss. For small losses three or four steps are enough.
    """
    from scipy.special import expit

    centred, ridge = table - table.mean(axis=0), RIDGE / len(side)
    bound = centred.T @ centred / (4 * len(side)) + 2 * ridge * np.eye(centred.shape[1])
    inverse, weights = np.linalg.inv(bound), np.zeros(centred.shape[1])
    for _ in range(STEPS):
        slope = -(side * expit(-side * (centred @ weights))) @ centred / len(side) + 2 * ridge * weights
        step = inverse @ slope
        weights -= step
        if step @ slope < SMALL:
            break
    return [float(weight) for weight in weights]
