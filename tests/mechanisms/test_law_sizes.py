"""A law that would be too large is refused before it is computed: an estimate of its work decides, never the clock.

Each of these took minutes or gigabytes. Here a few seconds and some memory are all that there is.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from benchmarks.row_limits import limited
from subnormal.mechanisms.core.mechanism import NoLawError
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.partitions.family import PartitionParameters
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

MEMORY, SECONDS = 3 << 29, 30


def sparse(queries: int, **options: Any) -> tuple[Any, SparseVectorParameters]:
    return np.arange(queries) - queries // 2, SparseVectorParameters(**options)


def selection(utilities: Any) -> tuple[Any, ExponentialParameters]:
    return utilities, ExponentialParameters(0.5, Limits(0, int(utilities.max()), len(utilities)))


def partitions(rows: int, most: int) -> tuple[Any, PartitionParameters]:
    return np.full(rows, most), PartitionParameters(1.0, (0,) * rows, (most,) * rows)


CASES: list[tuple[str, tuple[Any, Any], str]] = [
    ("sparse-vector-exact", sparse(13, epsilon=1e-3, positives=3), "13 queries take too many products of 2926 bits"),
    ("sparse-vector-exact-gap", sparse(5, epsilon=1e-3, positives=3), "5 queries take too many products"),
    ("sparse-vector-clamped-noise", sparse(2000, epsilon=1.0), "2000 queries take too many products of 256 bits"),
    ("sparse-vector-algorithm-3", sparse(1, epsilon=30.0, grid=-10), "4369 positive answers and 4371 values of noise"),
    ("sparse-vector-algorithm-5", sparse(20, epsilon=30.0), "20 queries have more than 16384 outcomes"),
    ("private-selection-exact", (np.arange(1000), PrivateSelectionParameters(3.0, -1000, 1000)), "2001000 outcomes of"),
    ("partitions-exact", partitions(1, 100_000), "100001 weights of 3200000 bits take more than 1073741824 bits"),
    ("partitions-naive-float64", partitions(1 << 16, 1), "lists of 65536 counts between the bounds have more than"),
    (
        "threshold-naive-float32",
        ({"a": 5}, ThresholdParameters("laplace", 1e4, 20, "float64", (1, 1, 1), -10, 50.0)),
        r"noise of scale 10000.0 leads to \d{8} numbers, more than 2097152",
    ),
    (
        "randomized-response-naive-float32",
        (1, RandomizedResponseParameters(1.0, 10**8)),
        "100000000 categories are more",
    ),
    ("randomized-response-exact", (1, RandomizedResponseParameters(1.0, 10**8)), "10{8} categories are more"),
    (
        "dp-sgd-microbatch-noise",
        (np.full((6, 1), 0.5), DpSgdParameters(multiplier=2.0**-8, batch_size=3, grid=-20)),
        "1 released numbers have more than 65536 outcomes together",
    ),
    (
        "dp-sgd-microbatch-noise",
        (np.full((8, 1), 0.5), DpSgdParameters(multiplier=2.0**-3, batch_size=1, grid=-11)),
        "the noise of 8 draws, of 2570 steps each, takes more than 268435456 products",
    ),
    (
        "dp-sgd-norm-float16",
        (np.full((3000, 1), 0.5), DpSgdParameters(multiplier=2.0**-8, rate=0.1)),
        r"\d+ probabilities of 165001 bits are more than 16777216 bits",
    ),
    (
        "dp-sgd-exact",
        (2.0 ** -np.arange(1, 13)[:, None], DpSgdParameters(multiplier=0.25, rate=0.5, grid=-12)),
        "4096 states of all batches have more than 2097152 outcomes, one by one",
    ),
    ("permute-and-flip", selection(1_000_000 * np.arange(64)), "64 outcomes on 64 levels of utility, 63000000 apart"),
    ("exponential-exact", selection(1000 * np.arange(2000)), "2000 utilities from 0.0 to 1999000.0 need"),
]


@pytest.mark.parametrize(
    ("name", "of", "message"), CASES, ids=[f"{name} {at}" for at, (name, _, _) in enumerate(CASES)]
)
def test_a_law_that_is_too_large_is_refused(name: str, of: tuple[Any, Any], message: str) -> None:
    def said() -> str:
        try:
            member(name).law(*of)  # type: ignore[misc]
        except (NoLawError, MemoryError) as error:
            return f"{type(error).__name__}: {error}"
        return "it has a law"

    assert re.match(f"NoLawError: .*{message}", limited(said, MEMORY, SECONDS))
