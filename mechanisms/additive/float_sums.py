"""Sums of floats, as people write them, and the members that add noise to them in floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.mechanisms.additive.family import Data, GaussianParameters, LaplaceParameters, Query, require_number
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Outcomes
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import Claim

P = TypeVar("P", LaplaceParameters, GaussianParameters)


def sequential(records: NDArray[Any], float_type: DTypeLike) -> float:
    """Return the sum of the records, one after the other, each partial sum rounded to the float type."""
    kind = float_types.of(float_type)
    return float(np.cumsum(records.astype(kind), dtype=kind)[-1]) if len(records) else 0.0


def released(data: Data, query: Query, float_type: DTypeLike) -> NDArray[Any]:
    """Return what is released without noise, in the float type: the number, the coordinates, or the sequential sum.

    Shape () or (coordinates,).
    """
    with np.errstate(over="ignore"):  # beyond the type's largest number: ∞, as the cast has it
        values = sequential(np.atleast_1d(data), float_type) if query == "sum" else data
        return np.asarray(values, dtype=float_types.of(float_type))


def float_member(
    name: str,
    family: str,
    claim: Callable[[P, Data, Data], Claim],
    float_type: DTypeLike,
    sample: Callable[[NDArray[Any], P, BitSource, int], Outcomes],
    law: Callable[[float, P], Law[Any]] | None = None,
) -> Mechanism[Data, P, Any]:
    """Return the mechanism that draws about what is `released` in the float type; law: that of a number."""

    def sample_member(data: Data, parameters: P, bits: BitSource, n: int) -> Outcomes:
        return sample(released(data, parameters.query, float_type), parameters, bits, n)

    def law_member(data: Data, parameters: P) -> Law[Any]:
        require_number(data, parameters.query)
        assert law is not None
        return law(float(released(data, parameters.query, float_type)), parameters)

    return Mechanism(name, family, sample_member, claim, law_member if law else None)
