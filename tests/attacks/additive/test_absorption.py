"""Absorption: counts never share an output of float64 noise, and always those of integer noise; and coarse noise."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Verdict
from subnormal.attacks.additive.absorption import absorption, absorption_gaussian
from subnormal.attacks.additive.coarse_noise import coarse_noise
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.audit.evidence import exact
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.families import FAMILIES, absent, member
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


PARAMETERS = GaussianParameters(sigma=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("name", "expected", "mass"),
    [
        ("gaussian-inverse-bfloat16", Fraction(111, 128), 0.867),
        ("gaussian-inverse-float16", Fraction(907, 1024), 0.886),
        ("gaussian-inverse-float32", None, 0.889),
        ("jax-normal-bfloat16", Fraction(111, 128), 0.867),
        ("jax-normal-float16", Fraction(907, 1024), 0.886),
        ("jax-normal-float32", None, 0.889),
    ],
)
def test_delta_at_every_finite_epsilon(name: str, expected: Fraction | None, mass: float) -> None:
    """The mass of outcomes that the other world cannot release: no ε lowers it. Real noise of σ = C has δ(4) < 4.7e-5.

    From ε = ln 2 on it is all of δ: an outcome that both worlds release has at most two words in one of them."""
    if name in {one.name for family in FAMILIES for one in absent(family)}:
        pytest.skip(f"the package of {name} is not installed")
    attack, mechanism = coarse_noise(mechanism=name), member(name)
    law_in, law_out = (law_of(mechanism, world, attack.parameters) for world in attack.worlds())
    found: Any = [exact.compare(law_in, law_out, Claim(epsilon, 4.7e-5), attack.event) for epsilon in (4.0, 500.0)]
    assert {one.verdict for one in found} == {one.event_verdict for one in found} == {Verdict.VIOLATED}
    assert found[0].delta == found[1].delta
    assert found[0].delta == pytest.approx(mass, abs=1e-3)
    assert expected is None or found[0].delta == float(expected)
    assert found[0].event_in == (0, 0)
    assert found[0].event_out[0] <= found[0].delta


def test_outcomes_of_any_kind_are_judged() -> None:
    event = Unreachable("gaussian-inverse-bfloat16", 0.0, PARAMETERS)
    values = np.array([2.515625, 2.5, -2.890625, 2.515625, np.inf, np.nan, 0.0, -0.0])
    expected = [False, True, False, False, True, True, True, True]
    assert event(values).tolist() == expected
    assert event(values.astype(np.float32)).tolist() == expected
    assert event([2.515625, 2.5, Refused("ValueError: no")]).tolist() == [False, True, True]
    assert event([(0.0, 1.0)]).tolist() == [True]


def test_a_zero_is_a_zero_whatever_its_sign() -> None:
    event = Unreachable("gaussian-box-muller-bfloat16", 0.0, PARAMETERS)
    assert event(np.array([0.0, -0.0])).tolist() == [False, False]


def test_a_member_without_a_law_is_named() -> None:
    with pytest.raises(ValueError, match="mechanism must have a law, and gaussian-naive-float64 has none"):
        Unreachable("gaussian-naive-float64", 1.0, PARAMETERS)(np.array([1.0]))
