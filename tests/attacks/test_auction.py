"""The auction attack: its data are revenues of real bids, and one bid decides."""

from typing import Any

import numpy as np
import pytest

from subnormal import attack, member
from subnormal.audit.evidence import exact
from subnormal.mechanisms.exponential import score_functions

NAMES = ("auction", "auction@float_type=float16", "auction@epsilon=0.01", "auction@epsilon=20.0,float_type=float32")


@pytest.mark.parametrize("name", NAMES)
def test_the_data_are_revenues_of_bids_one_apart(name: str) -> None:
    made = attack(name)
    data_in, data_out = made.worlds()
    prices = np.arange(10, -1, -1)
    bids = -int(data_out[0]) // 10
    assert bids > 0
    assert np.array_equal(data_out, score_functions.price([10] * bids, prices))
    assert np.array_equal(data_in, score_functions.price([10] * (bids + 1), prices))
    assert made.parameters.sensitivity == score_functions.price_sensitivity(prices)


@pytest.mark.parametrize("name", NAMES)
def test_the_price_0_is_impossible_with_alice_only(name: str) -> None:
    made = attack(name)
    mechanism = member(made.breaks[0])
    law: Any = mechanism.law
    law_in, law_out = (law(data, made.parameters) for data in made.worlds())
    claim = mechanism.claim(made.parameters, *made.worlds())
    evidence: Any = exact.compare(law_in, law_out, claim, made.event)
    assert evidence.epsilon == np.inf
    assert evidence.event_in == (0, 0)
    assert evidence.event_out[0] > 0
