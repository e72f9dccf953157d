"""Sums of floats move many times further than their records do. Everything here is deterministic, and exact."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.sensitivity_underestimation import Worlds, repeated_rounding_worlds, rounding_worlds
from subnormal.mechanisms.additive.family import LAPLACE, LaplaceParameters, exact_values
from subnormal.mechanisms.additive.float_sums import sequential
from tests.support.float_sums import correctly_rounded, jump, pairwise

Summation = Callable[[Any], Any]
SEQUENTIAL, PAIRWISE, CORRECT = (
    partial(one, float_type=np.float32) for one in (sequential, pairwise, correctly_rounded)
)


def rational(records: Any) -> Any:
    return exact_values(records, "sum")[0]


@pytest.mark.parametrize(
    ("worlds", "summation", "times"),
    [
        (rounding_worlds(), SEQUENTIAL, 2**17),
        (rounding_worlds(), PAIRWISE, 0),
        (rounding_worlds(), CORRECT, 2**17),
        (repeated_rounding_worlds(), SEQUENTIAL, 257),
        (repeated_rounding_worlds(), PAIRWISE, 1),
        (repeated_rounding_worlds(), CORRECT, 1),
        *((worlds, rational, 1) for worlds in (rounding_worlds(), repeated_rounding_worlds())),
    ],
)
def test_how_many_times_the_claimed_sensitivity_a_sum_moves(worlds: Worlds, summation: Summation, times: int) -> None:
    assert jump(summation, worlds) == times


@pytest.mark.parametrize(
    ("kind", "bits"), [(np.float32, 20), (np.float64, 17), *((np.float64, p) for p in range(3, 11))]
)
def test_one_rounding_moves_the_sum_by_a_unit_in_its_last_place(kind: Any, bits: int) -> None:
    worlds = rounding_worlds(bits, kind)
    assert jump(partial(sequential, float_type=kind), worlds) == 2**bits
    assert jump(partial(correctly_rounded, float_type=kind), worlds) == 2**bits


def test_pairwise_sums_do_not_escape_another_number_of_records() -> None:
    """Without its first record the same attack moves numpy's own sum as far."""
    data_in, data_out, claimed = rounding_worlds()
    assert jump(PAIRWISE, Worlds(data_in[1:], data_out[1:], claimed)) == 2**17


@pytest.mark.parametrize("make", [rounding_worlds, repeated_rounding_worlds])
def test_the_claimed_sensitivity_is_that_of_the_records(make: Callable[[], Worlds]) -> None:
    """Replaced within [L, U]: U − L. Added: the largest magnitude. And the worlds are adjacent at no less."""
    worlds = make()
    records = np.unique(np.concatenate([worlds.data_in, worlds.data_out])).tolist()
    replaced = len(worlds.data_in) == len(worlds.data_out)
    assert worlds.claimed == (records[-1] - records[0] if replaced else max(map(abs, records)))
    for factor, expected in ((1.0, True), (0.99, False)):
        parameters = LaplaceParameters(epsilon=1.0, sensitivity=float(worlds.claimed) * factor, query="sum")
        assert LAPLACE.adjacent(parameters, worlds.data_in, worlds.data_out) is expected
