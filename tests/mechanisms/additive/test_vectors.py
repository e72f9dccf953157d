"""Every member of the additive families: of a vector each coordinate gets noise, a sum is one number with a law."""

from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.families import family, members

MEMBERS = [
    one
    for name in ("laplace", "gaussian")
    for one in members(family(name))
    if one.package in ("", "jax", "torch", "ml_dtypes")
]
VECTOR = np.array([0.0, 4.0, -8.0])  # of numbers that every float type holds


def parameters_of(mechanism: AnyMechanism, query: Any) -> Any:
    if mechanism.family == "laplace":
        return LaplaceParameters(epsilon=1.0, grid=0, query=query)
    return GaussianParameters(sigma=0.5, delta=1e-6, grid=0, query=query)


@pytest.mark.parametrize("mechanism", MEMBERS, ids=lambda one: one.name)
def test_each_coordinate_has_noise_of_its_own_and_a_sum_is_one_number(mechanism: AnyMechanism) -> None:
    each, total = (parameters_of(mechanism, query) for query in ("value", "sum"))
    drawn = np.asarray(mechanism.sample(VECTOR, each, seeded_bits(1), 60)).astype(np.float64)
    assert drawn.shape == (60, 3)
    assert np.abs(np.median(drawn, axis=0) - VECTOR).max() <= 2
    noise = drawn - VECTOR
    assert (noise != noise[:, [1, 2, 0]]).any(axis=0).all()
    if mechanism.package in ("", "ml_dtypes"):  # the members of libraries take no records
        summed = mechanism.sample(VECTOR, total, seeded_bits(1), 60)
        assert np.asarray(summed).tolist() == np.asarray(mechanism.sample(-4.0, each, seeded_bits(1), 60)).tolist()
    if mechanism.law is not None:
        with pytest.raises(NoLawError):
            mechanism.law(VECTOR, each)
