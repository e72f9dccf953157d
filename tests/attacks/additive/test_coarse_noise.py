"""Coarse noise: what no finite ε explains, by the laws, and the event on outcomes of any kind."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Claim, Verdict
from subnormal.attacks.additive.coarse_noise import coarse_noise
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.audit.evidence import exact
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.core.mechanism import Refused
from subnormal.mechanisms.families import FAMILIES, absent, member
from tests.support.walks import law_of

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
