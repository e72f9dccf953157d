"""Absorption: neighbouring counts never share an output of float64 noise, and always share those of integer noise."""

from typing import Any

import numpy as np

from subnormal.attacks.additive.absorption import absorption, absorption_gaussian
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.families import member
from subnormal.mechanisms.laplace.naive import FLOAT64
from tests.support.walks import law_of


def test_neighbours_never_share_an_output() -> None:
    attack = absorption()
    data_in, data_out = attack.worlds()
    assert (data_in, data_out) == (2**60 + 129, 2**60 + 128)
    law_in, law_out = (law_of(FLOAT64, data, attack.parameters) for data in (data_in, data_out))
    assert list(law_in.atoms) == [2.0**60 + 256]
    assert list(law_out.atoms) == [2.0**60]
    for data, float_count in ((data_in, 2.0**60 + 256), (data_out, 2.0**60)):
        assert set(FLOAT64.sample(data, attack.parameters, seeded_bits(1), 1000)) == {float_count}


def test_the_event_on_integers_is_that_of_their_float64() -> None:
    attack: Any = absorption()
    integers = np.array([2**60 + step for step in (-384, 0, 127, 128, 129, 256, 512)])
    assert attack.event(integers).tolist() == [False, False, False, False, True, True, True]
    assert attack.event(integers.tolist()).tolist() == attack.event(integers).tolist()


def test_a_smaller_epsilon_moves_outputs_but_not_into_the_other_world() -> None:
    attack = absorption(epsilon=0.3)
    assert attack.name == "absorption@epsilon=0.3"
    supports = [list(law_of(FLOAT64, data, attack.parameters).atoms) for data in attack.worlds()]
    assert supports == [[2.0**60 + 256], [2.0**60 - 128, 2.0**60]]


def test_gaussian_noise_in_float32_is_absorbed_too() -> None:
    attack = absorption_gaussian()
    assert attack.event is not None
    for name in ("gaussian-inverse-float32", "gaussian-ziggurat-float32"):
        mechanism = member(name)
        supports = [np.asarray(law_of(mechanism, data, attack.parameters).atoms).tolist() for data in attack.worlds()]
        assert supports == [[2.0**30 + 128], [2.0**30]]
    naive = member("gaussian-naive-float32")
    drawn = [
        np.unique(np.asarray(naive.sample(data, attack.parameters, seeded_bits(1), 1000))) for data in attack.worlds()
    ]
    assert [one.tolist() for one in drawn] == [[2.0**30 + 128], [2.0**30]]
    assert attack.statistic(drawn[0]).tolist() == [128]
    assert attack.statistic(np.array([2**30 + 65, 2**30])).tolist() == [65, 0]
