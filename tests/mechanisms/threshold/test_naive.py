"""Naive thresholded noise: the law of float32 by every uniform that matters, and what its claim leaves out."""

from math import exp
from typing import Any

import numpy as np
import pytest

from subnormal import attack, member
from subnormal.attacks.threshold.rounding_before_threshold import rounding_before_threshold
from subnormal.attacks.threshold.uniform_floor import uniform_floor
from subnormal.audit.model import ExactEvidence, Verdict
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.product_law import Product
from subnormal.mechanisms.threshold import naive as threshold_naive
from subnormal.mechanisms.threshold.parameters import ThresholdParameters
from tests.support import walks
from tests.support.walks import law_of

AnyMechanism = Mechanism[Any, Any, Any]


def check_law(mechanism: AnyMechanism) -> None:
    """Both signs at the first and last uniforms of every outcome's range, and just outside of those that pass."""
    for threshold, value, values in (
        (9.0, 1.0, "float32"),
        (-12.5, 0.25, "float32"),
        (8, 1, "int64"),
        (14.0, 3.0, "float64"),
    ):
        given: Any = ThresholdParameters("laplace", 1.0, threshold, values)  # type: ignore[arg-type]
        law = law_of(mechanism, {"a": value}, given)
        assert isinstance(law, Product)
        part = law.part("a")
        passing = int((1 - part.probability(None)[0]) * 2**25)
        assert part.denominator == 2**25
        counts = np.unique(np.concatenate([np.arange(passing + 40), np.arange(2**24 - 40, 2**24)]))
        words = np.concatenate([counts, counts + 2**24])
        bits = scripted_bits("".join(f"{word:025b}" for word in words.tolist()))
        drawn = mechanism.sample({"a": value}, given, bits, len(words))
        found = [one[0][1] for one in drawn if one]
        assert len(found) == passing
        atoms, times = np.unique(np.array(found), return_counts=True)
        masses = dict(zip(part.atoms, part.low, strict=True))  # a block each, and exact
        assert part.low is part.high
        assert masses == {None: 2**25 - passing} | dict(zip(atoms.tolist(), times.tolist(), strict=True))


def evidence(name: str, against: Any) -> ExactEvidence:
    return walks.evidence(against, member(name))


def test_a_uniform_of_24_bits_has_a_floor() -> None:
    """Infinite noise once in 2^25 draws: 298 times a claimed δ of 1e-10. The exact member keeps its own."""
    against = uniform_floor()
    naive, exact_member = evidence("threshold-naive-float32", against), evidence("threshold-exact", against)
    claim = threshold_naive.claim(against.parameters, *against.worlds())
    assert 0.9e-10 < claim.delta <= 1e-10
    assert naive.verdict is Verdict.VIOLATED
    assert naive.delta == 2**-25 >= 250 * 1e-10
    assert naive.delta >= 250 * claim.delta
    assert (exact_member.verdict, exact_member.within) == (Verdict.HOLDS, 0)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_rounding_first_understates_delta_by_the_predicted_factor(epsilon: float) -> None:
    """e^(1/(2·scale)), to the step of a 24-bit uniform."""
    against = rounding_before_threshold(epsilon)
    claim = threshold_naive.claim(against.parameters, *against.worlds())
    assert claim.delta == pytest.approx(exp(-4 * epsilon) / 2, rel=1e-14)
    naive = evidence("threshold-naive-rounded-first", against)
    assert naive.verdict is Verdict.VIOLATED
    assert naive.delta / claim.delta == pytest.approx(exp(epsilon / 2), rel=2e-3 if epsilon == 2 else 2e-5)
    assert evidence("threshold-exact", against).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", ["boundary", "boundary@threshold=2"])
def test_the_boundary_is_worth_a_factor_of_e(name: str) -> None:
    against = attack(name)
    broken = evidence("threshold-naive-open-tail", against)
    claim = threshold_naive.open_tail_claim(against.parameters, *against.worlds())
    assert broken.verdict is Verdict.VIOLATED
    assert broken.delta / claim.delta == pytest.approx(exp(1), rel=1e-12)
    assert evidence("threshold-exact", against).verdict is Verdict.HOLDS


def test_infinite_noise_is_released() -> None:
    given = ThresholdParameters("laplace", 1.0, 9.0, "float32")
    zero = scripted_bits("0" * 25)
    assert threshold_naive.sample({"a": 1.0}, given, zero, 1, float_type=np.float32) == [(("a", np.inf),)]
    whole = ThresholdParameters("laplace", 1.0, 9, "int32")
    assert threshold_naive.sample({"a": 1}, whole, scripted_bits("0" * 25), 1, float_type=np.float32) == [
        (("a", 2**31 - 1),)
    ]


def test_gaussian_noise_and_several_keys() -> None:
    given = ThresholdParameters("gaussian", 1.0, 2.0, "float64")
    drawn = threshold_naive.sample({"b": 9.0, "a": 8.0, "c": -9.0}, given, seeded_bits(1), 20)
    assert all([key for key, _ in one] == ["a", "b"] for one in drawn)
