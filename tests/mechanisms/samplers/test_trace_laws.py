"""Trace laws against every string of bits through the samplers, at sizes where that can be done."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.core.events import Between, Part
from subnormal.attacks.side_channels.rejection_tries import rejection_tries, rejection_tries_two_outcomes
from subnormal.audit.evidence import exhaustive, side_channels
from subnormal.mechanisms.bits import BitSource
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Trace
from subnormal.mechanisms.exponential import base2, base2_side_channels
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family, member
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import trace_laws
from tests.support.walks import law_of

VECTORS = ([0], [2], [0, 1], [2, 0, 1], [1, 1, 1], [1, 1, 1, 1], [0, 2, 2, 1], [2, 1, 2, 2])
HALF, THREE_QUARTERS = Eta(1, 1, 1), Eta(3, 2, 1)


def walked(draw: Callable[[BitSource], Any], depth: int, word_bits: int = 64) -> Law[Any]:
    """Every string of `depth` bits through one draw and the counters of its source."""
    member: Mechanism[Any, Any, Any] = Mechanism(
        "drawn",
        "none",
        lambda data, parameters, bits, n: [draw(bits)],
        lambda *given: None,  # type: ignore[arg-type]
    )
    seen = side_channels.traced(member)
    return exhaustive.law(lambda bits: seen.sample(None, None, bits, 1)[0], depth, word_bits)


def assert_decided_is_the_law(walk: Law[Any], law: Law[Any], depth: int) -> None:
    """The strings that end a draw within the depth weigh, trace by trace, what the law says, and it misses none."""
    assert walk.rest < Fraction(1, 2)
    for atom in walk.atoms:
        low, high = law.probability(atom)
        assert low == high == walk.probability(atom)[0], atom
    within = [atom for atom in law.atoms if isinstance(atom, tuple) and atom[1].bits <= depth]
    assert sum(law.probability(atom)[0] for atom in within) == 1 - walk.rest


DEPTH = 10


CASES = [
    *(("all-bits", 1, THREE_QUARTERS, vector) for vector in VECTORS),
    *(("most-significant-first", 1, THREE_QUARTERS, vector) for vector in VECTORS),
    *(("all-bits", 3, HALF, vector) for vector in VECTORS[:5]),
    *(("most-significant-first", 2, HALF, vector) for vector in VECTORS[:5]),
    *(("bit-by-bit", 1, eta, vector) for vector in VECTORS for eta in (HALF, THREE_QUARTERS)),
]


@pytest.mark.parametrize(("sampler", "minimum_tries", "eta", "vector"), CASES)
def test_every_string_through_the_paper_s_samplers(
    monkeypatch: pytest.MonkeyPatch, sampler: Any, minimum_tries: int, eta: Eta, vector: list[int]
) -> None:
    limits = Limits(0, 2, max(3, len(vector)))
    precision = base2.working_precision(eta, limits, "empirical")  # the law must not depend on which
    monkeypatch.setattr(base2_side_channels, "working_precision", lambda *public: precision)
    law = base2_side_channels.trace_law(vector, eta, limits=limits, sampler=sampler, minimum_tries=minimum_tries)

    def draw(bits: BitSource) -> int:
        options: dict[str, Any] = {"limits": limits, "precision_method": "empirical"}
        options |= {"sampler": sampler, "minimum_tries": minimum_tries}
        return int(base2.sample(vector, eta, bits, 1, **options)[0])

    depth = DEPTH if sampler == "bit-by-bit" else minimum_tries * precision
    assert_decided_is_the_law(walked(draw, depth), law, depth)
    assert law.rest <= Fraction(1, 1 << 60)


@pytest.mark.parametrize("vector", [[0], [0, 0], [0, 1], [1, 1, 1], [2, 0, 1]])
def test_every_string_through_a_precision_on_demand(monkeypatch: pytest.MonkeyPatch, vector: list[int]) -> None:
    monkeypatch.setattr(base2_side_channels, "FIRST_PRECISION", 2)
    limits, eta = Limits(0, 2, 3), Eta(3, 2, 1)
    law = base2_side_channels.trace_law_on_demand(vector, eta, limits=limits)
    draw = lambda bits: int(base2_side_channels.sample_on_demand(vector, eta, bits, 1, limits=limits)[0])  # noqa: E731
    depth = max(atom[1].bits for atom in law.atoms if isinstance(atom, tuple) and atom[1].tries == 1)
    assert_decided_is_the_law(walked(draw, depth), law, depth)


@pytest.mark.parametrize("rate", [Eta(1, 1, 1), Eta(3, 2, 1), 0.3, 2.0])
@pytest.mark.parametrize("vector", [[0], [0, 1], [2, 0, 1], [1, 1, 1], [0, 5, 1, 1]])
def test_every_string_through_the_rejection_free_sampler(rate: Eta | float, vector: list[int]) -> None:
    """Words of 3 bits: one decides, or a boundary lies inside its cell; in base e the law's bounds meet here too."""
    law = trace_laws.one_word(exponential_exact.law(vector, rate), word_bits=3)
    assert law.rest <= Fraction(len(vector) - 1, 1 << 3)
    walk = walked(lambda bits: int(exponential_exact.sample(vector, rate, bits, 1)[0]), 3, word_bits=3)
    assert walk.rest == law.rest
    for index in range(len(vector)):
        atom = index, Trace(0, 3, 0)
        assert law.probability(atom)[0] == walk.probability(atom)[0]


@pytest.mark.parametrize("minimum_tries", [1, 10])
def test_a_law_of_long_weights_is_an_enclosure(monkeypatch: pytest.MonkeyPatch, minimum_tries: int) -> None:
    """The same law in full and rounded outwards, at a size where both can be had."""
    vector, eta, limits = [3, 2, 0, 7], Eta(5, 3, 2), Limits(0, 7, 4)
    full = base2_side_channels.trace_law(vector, eta, limits=limits, minimum_tries=minimum_tries)
    assert full.high is full.low
    monkeypatch.setattr(trace_laws, "EXACT_BITS", 16)
    short = base2_side_channels.trace_law(vector, eta, limits=limits, minimum_tries=minimum_tries)
    assert short.denominator == 1 << trace_laws.ENCLOSED
    assert short.atoms == full.atoms
    monkeypatch.setattr(trace_laws, "ENCLOSED", 70)  # narrower than the weights themselves
    narrow = base2_side_channels.trace_law(vector, eta, limits=limits, minimum_tries=minimum_tries)
    for law, width in ((short, Fraction(1, 1 << 250)), (narrow, Fraction(1, 1 << 60))):
        for atom in full.atoms:
            low, high = law.probability(atom)
            assert low <= full.probability(atom)[0] <= high <= low + width


def test_two_outcomes_at_a_small_rate() -> None:
    """The advantage tends to 1/2. No count is impossible, but they get ever less likely in one world alone."""
    attack = rejection_tries_two_outcomes()
    assert attack.worlds()[0].tolist() == [22_713, 22_713]
    assert attack.parameters.epsilon == pytest.approx(6.1e-5, rel=1e-3)
    assert base2_side_channels.member_eta(attack.parameters).base == Fraction((1 << 15) - 1, 1 << 15)
    assert rejection_tries_two_outcomes(epsilon=2.0).worlds()[0].tolist() == [1, 1]


def test_the_promise_of_ten_tries_is_kept_at_the_worst_rejection() -> None:
    """Proposition 3.8, for pairs: δ stays below 2^−10 even where nearly half of all tries are rejected."""
    of = member("exponential-base2-ten-tries")
    seen = side_channels.traced(of, "tries")
    parameters = ExponentialParameters(rejection_tries().parameters.epsilon, Limits(0, 1, 1 << 9))
    data_in, data_out = np.ones(1 << 9, dtype=np.int64), np.ones(1 << 9, dtype=np.int64)
    data_out[0] = 0
    assert family("exponential").adjacent(parameters, data_in, data_out)
    law = law_of(seen, data_out, parameters)
    beyond = law.rest + Fraction(law.measure(Part(1, Between(11, np.inf))(law.atoms))[0], law.denominator)
    assert 0.97 * 2**-10 < beyond < 2**-10 == seen.claim(parameters, data_in, data_out).delta
