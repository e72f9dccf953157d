"""What single draws of exact noise leave: one trace, but for a rest that is counted; and the same outcomes with it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Eta, Verdict, member
from subnormal.audit.evidence import exact, side_channels
from subnormal.mechanisms.additive import clamped_noise
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import image
from subnormal.mechanisms.core.mechanism import Trace
from subnormal.mechanisms.samplers import discrete_laplace
from tests.support.walks import law_of

LAPLACE = LaplaceParameters(epsilon=0.7, sensitivity=1.3, grid=-2, lower=-8.0, upper=8.0)
GAUSSIAN = GaussianParameters(sigma=2.0, delta=1e-6, sensitivity=1.3, grid=-2, lower=-8.0, upper=8.0)
MEMBERS: list[tuple[str, Any]] = [
    ("laplace-exact", LAPLACE),
    ("laplace-exact-base-e", LAPLACE),
    ("gaussian-exact", GAUSSIAN),
]


@pytest.mark.parametrize(("name", "parameters"), MEMBERS)
@pytest.mark.parametrize("data", [0.3, -8, 40])
def test_the_trace_is_always_the_same_but_for_the_rest(name: str, parameters: Any, data: float) -> None:
    mechanism: Any = member(name)
    law, traced = law_of(mechanism, data, parameters), mechanism.trace_law(data, parameters)
    assert 0 < traced.rest < 2.0**-50
    pairs: Sequence[Any] = traced.atoms
    (trace,) = {pair[1] for pair in pairs}
    outcomes = image(traced, lambda pair: pair[0])
    for atom in law.atoms:
        (low, high), (least, most) = law.probability(atom), outcomes.probability(atom)
        assert least <= high
        assert low <= most + traced.rest
    seen = side_channels.traced(mechanism).sample(data, parameters, seeded_bits(1), 200)
    assert {pair[1] for pair in seen} == {trace}


@pytest.mark.parametrize(("name", "parameters"), MEMBERS)
def test_the_promise_for_pairs_adds_what_the_rest_costs(name: str, parameters: Any) -> None:
    """At the same ε, and with a δ near 2^−50 more, the pairs keep it to the last bit."""
    seen = side_channels.traced(member(name))
    law_in, law_out = (law_of(seen, data, parameters) for data in (0.3, 1.6))
    promised, own = seen.claim(parameters, 0.3, 1.6), member(name).claim(parameters, 0.3, 1.6)
    assert promised.epsilon == own.epsilon
    assert 0 < promised.delta - own.delta < 2.0**-48
    evidence = exact.compare(law_in, law_out, promised)
    assert (evidence.verdict, evidence.within) == (Verdict.HOLDS, 0)
    pair = seen.claim(parameters, np.array([0.3, 0.0]), np.array([0.3, 0.0]))
    assert pair.delta > promised.delta


def test_words_are_counted_for_each_outcome() -> None:
    """q = 1/2: clamped to −1, 0, 1 each has a third, but for the words that hold a boundary."""
    noise = discrete_laplace.laplace(Eta(1, 1))
    law = clamped_noise.trace_law(0, noise, lower=-1, upper=1)
    assert law.atoms == [(value, Trace(0, 64, 1)) for value in (-1, 0, 1)]
    third = 2**64 // 3  # both boundaries beside 0 lie inside a word; further out they end in rounded bounds
    assert law.probability((0, Trace(0, 64, 1)))[0] == Fraction(third - 1, 2**64)
    for end in (-1, 1):
        assert Fraction(third - 200, 2**64) <= law.probability((end, Trace(0, 64, 1)))[0] <= Fraction(third, 2**64)
    assert law.rest == noise.undecided() < Fraction(400, 2**64)
