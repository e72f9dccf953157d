"""The house's own families as plain functions: without noise each is found, its exact members are not accused.

False alarms: ALPHA for each exact member. A function without noise has certain outcomes: nothing is left to chance.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours.relations import within
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import FAMILIES, exact_members, family
from subnormal.mechanisms.partitions.family import PartitionParameters
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6


@dataclass(frozen=True)
class Case:
    """A family's parameters, the domain of its data, its relation (None: the family's own), and no noise at all."""

    parameters: Any
    data: st.SearchStrategy[Any] | None
    relation: Any
    noiseless: Callable[[Any], Any]


VECTORS = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(np.array)
COUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(1, 9), max_size=2)
ONE_KEY = st.builds(
    lambda data, key: (data | {key: data.get(key, 0) + 1}, data), COUNTS, st.sampled_from("abc")
)  # in one key, by 1
RECORDS = st.lists(st.lists(st.integers(-1, 1), min_size=2, max_size=2), min_size=1, max_size=3)
ONE_RECORD = RECORDS.map(
    lambda rows: tuple(np.array(some, dtype=np.float64).reshape(-1, 2) for some in (rows, rows[1:]))
)
CASES = {
    "exponential": Case(ExponentialParameters(1.0, Limits(-4, 4, 3)), VECTORS, None, lambda data: int(data.argmin())),
    "laplace": Case(LaplaceParameters(epsilon=1.0), st.integers(-9, 9), within(1), lambda data: data),
    "gaussian": Case(GaussianParameters(sigma=1.0, delta=1e-3), st.integers(-9, 9), within(1), lambda data: data),
    "sparse-vector": Case(SparseVectorParameters(epsilon=1.0), VECTORS, None, lambda data: tuple(data >= 1)),
    "private-selection": Case(
        PrivateSelectionParameters(1.0, -64, 64, 1, reserve=1 / 16), VECTORS, None, lambda data: int(data.argmin())
    ),
    "partitions": Case(
        PartitionParameters(1.0, (0, 0), (4, 4)),
        st.lists(st.integers(0, 4), min_size=2, max_size=2).map(lambda data: np.array(sorted(data, reverse=True))),
        None,
        lambda data: data,
    ),
    "threshold": Case(
        ThresholdParameters("laplace", 1.0, 6, "int64"),
        None,
        ONE_KEY,
        lambda data: {key: count for key, count in data.items() if count >= 6},
    ),
    "dp-sgd": Case(DpSgdParameters(multiplier=1.0), None, ONE_RECORD, lambda data: tuple(data.sum(axis=0))),
    "randomized-response": Case(RandomizedResponseParameters(1.0, 4), st.integers(0, 3), None, lambda data: data),
}


def examined(name: str, function: Callable[..., Any], **options: Any) -> Any:
    of, case = family(name), CASES[name]
    claim = partial(of.claim, case.parameters)
    relation = partial(of.adjacent, case.parameters) if case.relation is None else case.relation
    return check(function, case.data, relation, claim, **options)


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_a_function_without_noise_is_found_unaided(name: str) -> None:
    found = examined(name, CASES[name].noiseless, seconds=10)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "stability")


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_an_exact_member_is_not_accused(name: str) -> None:
    member, parameters = next(iter(exact_members(family(name)))), CASES[name].parameters

    def release(data: Any, runs: int) -> Any:
        return member.sample(data, parameters, system_bits(), runs)

    found = examined(name, release, batch=True, seconds=1, runs=2_000, alpha=ALPHA)
    assert found.error is None
    assert found.verdict in (Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
