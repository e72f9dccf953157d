"""The members of Ilvento's mechanism that options build: a chosen rate, precision method, sampler, number of tries."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import attack, member
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.privacy import Eta, selection_claim, selection_eta

DATA = np.array([0, 3, 1, 1, 2])
PARAMETERS = ExponentialParameters(1.0, Limits(0, 3, 8))
BUDGETED = selection_eta(1.0)
CASES: dict[str, tuple[Eta, dict[str, Any]]] = {
    "exponential-base2": (BUDGETED, {}),
    "exponential-base2@eta=3/4^2": (Eta(3, 2, 2), {}),
    "exponential-base2@eta=1/2,precision=empirical": (Eta(1, 1, 1), {"precision_method": "empirical"}),
    "exponential-base2@sampler=bit-by-bit": (BUDGETED, {"sampler": "bit-by-bit"}),
    "exponential-base2@eta=7/8,tries=3": (Eta(7, 3, 1), {"minimum_tries": 3}),
}


def of(name: str) -> Mechanism[Any, Any, Any]:
    return member(name)


@pytest.mark.parametrize("name", CASES)
def test_a_member_with_options_is_base_2_with_these_arguments(name: str) -> None:
    eta, options = CASES[name]
    made = of(name)
    law, settings = made.law, made.settings
    assert law is not None
    assert settings is not None
    expected = base2.law(DATA, eta, limits=PARAMETERS.limits)
    for index in range(len(DATA)):
        assert law(DATA, PARAMETERS).probability(index) == expected.probability(index)
    drawn, other = (seeded_bits(1, "attack", "mechanism", "in", 0) for _ in range(2))
    for n in (1, 50):
        outcomes = base2.sample(DATA, eta, other, n, limits=PARAMETERS.limits, **options)
        assert np.array_equal(made.sample(DATA, PARAMETERS, drawn, n), outcomes)
    assert (drawn.consumed, drawn.tries) == (other.consumed, other.tries)
    precision = base2.working_precision(eta, PARAMETERS.limits, options.get("precision_method", "theoretical"))
    assert settings(PARAMETERS) == {"eta": eta.text, "precision": precision}
    assert Eta.parse(eta.text) == eta


@pytest.mark.parametrize("sensitivity", [1.0, 1.5, 2.0])
def test_a_chosen_rate_claims_what_it_promises_whatever_the_budget(sensitivity: float) -> None:
    """Reals that are 1.5 apart may be rounded to integers that are 2 apart."""
    parameters = ExponentialParameters(0.01, Limits(0, 3, 8), sensitivity)
    claim = of("exponential-base2@eta=3/4^2").claim(parameters, DATA, DATA)
    assert claim == selection_claim(Eta(3, 2, 2), {1.0: 1, 1.5: 2, 2.0: 2}[sensitivity])
    assert of("exponential-base2").claim(parameters, DATA, DATA).epsilon == 0.01


def test_a_chosen_rate_keeps_its_claim_with_equality() -> None:
    """One utility moves by Δ and all others by −Δ: the loss tends to 2Δη·ln 2 with the number of outcomes."""
    made, eta = of("exponential-base2@eta=1/2"), Eta(1, 1, 1)
    parameters = ExponentialParameters(1.0, Limits(0, 2, 1 << 12))
    data_in, data_out = np.ones(1 << 12, dtype=np.int64), np.full(1 << 12, 2)
    data_in[0], data_out[0] = 1, 0
    law: Any = made.law
    ratio = law(data_out, parameters).probability(0)[0] / law(data_in, parameters).probability(0)[0]
    assert Fraction(399, 100) < ratio < 4 == 1 / eta.base**2


def test_the_law_of_traces_has_the_precision_that_was_chosen() -> None:
    made: Any = of("exponential-base2@eta=1/2,precision=empirical")
    precision = base2.empirical_precision(Eta(1, 1, 1), PARAMETERS.limits)
    assert precision < base2.theoretical_precision(Eta(1, 1, 1), PARAMETERS.limits)
    traces = [atom[1] for atom in made.trace_law(DATA, PARAMETERS).atoms if isinstance(atom, tuple)]
    assert [trace.bits for trace in traces] == [precision * trace.tries for trace in traces]
    assert traces


def test_more_tries_promise_a_smaller_delta_of_their_own() -> None:
    for name, tries in (("exponential-base2@tries=3", 3), ("exponential-base2@eta=1/2,tries=20", 20)):
        made: Any = of(name)
        claim = made.trace_claim(PARAMETERS, DATA, DATA)
        assert (claim.epsilon, claim.delta) == (made.claim(PARAMETERS, DATA, DATA).epsilon, 2.0**-tries)
    assert of("exponential-base2@eta=1/2").trace_claim is None


def test_only_another_sampler_or_more_tries_make_a_variant() -> None:
    assert of("exponential-base2@eta=1/2").variant_of == of("exponential-base2@precision=empirical").variant_of == ""
    assert of("exponential-base2@sampler=bit-by-bit").variant_of == "exponential-base2"
    assert of("exponential-base2@eta=1/2,tries=3").variant_of == "exponential-base2@eta=1/2"


def test_each_is_built_once_and_is_sent_to_workers_by_its_name() -> None:
    made = of("exponential-base2@tries=1,precision=empirical,eta=2/4")
    assert made is of("exponential-base2@eta=2/4,precision=empirical")
    assert of("exponential-base2@eta=budget") is of("exponential-base2")
    sent = pickle.loads(pickle.dumps(Crossing(attack("zero-rounding"), made)))
    assert sent.mechanism is made


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("eta=3/5", "eta must be a fraction for 2.-eta, such as 1/2, or 3/4.2 for .3/4..2, got '3/5'"),
        ("eta=4/4", "eta must be .* got '4/4'"),
        ("eta=1/2^0", "eta must be .* got '1/2.0'"),
        ("eta=0/2", "eta must be .* got '0/2'"),
        ("eta", "eta must be .* got ''"),
        ("precision=low", "precision must be one of theoretical, empirical, got 'low'"),
        ("sampler=all", "sampler must be one of .*, got 'all'"),
        ("tries=0", "tries must be at least 1, got 0"),
        ("tries=2,sampler=bit-by-bit", "tries must be 1 unless sampler=all-bits, got 2"),
        ("rate=1", "unknown option of exponential-base2 'rate'; known: eta, precision, sampler, tries"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(options: str, error: str) -> None:
    with pytest.raises((LookupError, ValueError), match=error):
        of(f"exponential-base2@{options}")


def test_it_meets_the_attacks_that_the_member_meets() -> None:
    attacks = [attack(name) for name in ("zero-rounding", "rejection-tries", "rejection-time", "precision-retry")]
    met = {
        name: [one.attack.name for one in crossings(attacks, mechanisms=[name])]
        for name in ("exponential-base2", "exponential-base2@eta=3/4^2")
    }
    assert met["exponential-base2"] == met["exponential-base2@eta=3/4^2"]
    assert "rejection-tries" in met["exponential-base2"]
    assert crossings([attack("grid-precision")], mechanisms=["exponential-base2@eta=3/4^2"]) == []
