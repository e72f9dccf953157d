"""Claims as a user states them, and the attacks that are made for them."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.box_muller_inversion import box_muller_inversion
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.catalogue import at_epsilon, attacks, on_outcomes
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.exponential.rounded_addition import rounded_addition
from subnormal.attacks.private_selection.absorbed_scores import selection_absorption
from subnormal.attacks.randomized_response.uneven_choice import uneven_choice
from subnormal.attacks.threshold.boundary import boundary
from subnormal.audit.evidence import exact
from subnormal.audit.model import Verdict
from subnormal.audit.targets.stated_claim import StatedClaim, attacks_for_claim
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.threshold import exact as threshold_exact

THRESHOLDED = [attack for attack in attacks() if attack.family == "threshold"]
WITH_A_BUDGET = [attack for attack in on_outcomes() if hasattr(attack.parameters, "epsilon")]


@pytest.mark.parametrize("attack", WITH_A_BUDGET, ids=lambda attack: attack.name)
def test_an_attack_made_for_its_own_budget_is_itself(attack: Attack[Any, Any, Any]) -> None:
    made = at_epsilon(attack, attack.parameters.epsilon)
    assert made is not attack
    assert made.name == attack.name
    assert made.parameters == attack.parameters
    assert attack.event is None or (made.event is not None and made.event.to_json() == attack.event.to_json())


@pytest.mark.parametrize("attack", THRESHOLDED, ids=lambda attack: attack.name)
def test_a_thresholded_attack_has_its_budget_in_the_scale(attack: Attack[Any, Any, Any]) -> None:
    assert at_epsilon(attack, 1.0).parameters == attack.parameters
    made = StatedClaim(epsilon=0.5).attack(attack)
    assert StatedClaim().claim(family(made.family), made.parameters, *made.worlds()).epsilon == 0.5
    assert StatedClaim(delta=1e-3).claim(family(made.family), made.parameters, *made.worlds()).delta == 1e-3
    with pytest.raises(ValueError, match=r"--sensitivity 2: .* has three, fixed with its threshold"):
        StatedClaim(sensitivity=2.0).attack(attack)


def test_a_stated_budget_makes_the_attack_anew() -> None:
    made = StatedClaim(epsilon=2.0).attack(grid_precision())
    assert made.name == "grid-precision@epsilon=2.0"
    assert made.parameters.epsilon == 2.0
    assert StatedClaim(epsilon=2.0).claim(family(made.family), made.parameters, 1, 0) == Claim(2.0)


def test_a_stated_delta_is_claimed() -> None:
    assert StatedClaim(delta=1e-9).claim(family("laplace"), grid_precision().parameters, 1, 0) == Claim(1.0, 1e-9)


def test_noise_given_by_sigma_is_asked_for_as_it_is() -> None:
    attack, stated = box_muller_inversion(), StatedClaim(epsilon=3.0, delta=1e-5)
    made = stated.attack(attack)
    assert (made.name, made.parameters.sigma, made.parameters.delta) == (attack.name, 1.0, 1e-5)
    assert stated.claim(family(made.family), made.parameters, *made.worlds()) == Claim(3.0, 1e-5)
    usual = StatedClaim(delta=1e-5).claim(family(made.family), made.parameters, *made.worlds())
    assert usual.delta == 1e-5
    assert 4 < usual.epsilon < 6  # ρ = 1/2: √(2ρ·2·ln(1/δ)) + ρ is 5.3


def test_a_larger_sensitivity_covers_the_same_inputs_and_a_smaller_one_does_not() -> None:
    made = StatedClaim(sensitivity=3.0).attack(grid_precision())
    assert made.parameters.sensitivity == 3.0
    with pytest.raises(ValueError, match=r"--sensitivity 0\.5: the inputs of grid-precision lie further apart"):
        StatedClaim(sensitivity=0.5).attack(grid_precision())


def test_categories_have_no_sensitivity() -> None:
    with pytest.raises(ValueError, match="--sensitivity 1: uneven-choice has none, as any data are adjacent"):
        StatedClaim(sensitivity=1.0).attack(uneven_choice())


def test_attacks_that_become_one_are_run_once() -> None:
    both = [grid_precision(1.0), grid_precision(0.1)]
    assert [made.name for made in attacks_for_claim(both, StatedClaim(epsilon=0.1))] == ["grid-precision@epsilon=0.1"]
    assert [made.name for made in attacks_for_claim(both, StatedClaim())] == [attack.name for attack in both]


def test_an_attack_that_cannot_be_made_is_left_out_and_told_of_or_refused() -> None:
    told: list[str] = []
    coarse = rounded_addition(epsilon=0.02, outcomes=1025, float_type=np.float16)
    assert attacks_for_claim([coarse], StatedClaim(epsilon=1e-9), told.append) == []
    assert told[0].startswith("--epsilon 1e-09: rounded-addition-float16 cannot be made for it: epsilon = 1e-09 has no")
    with pytest.raises(ValueError, match="cannot be made for it"):
        attacks_for_claim([coarse], StatedClaim(epsilon=1e-9))


@pytest.mark.parametrize("attack", THRESHOLDED, ids=lambda attack: attack.name)
@pytest.mark.parametrize(
    "stated", [StatedClaim(delta=1e-9), StatedClaim(0.5, 1e-5), StatedClaim(2.0, 0.75), StatedClaim()], ids=str
)
def test_an_exact_member_keeps_a_stated_claim(attack: Attack[Any, Any, Any], stated: StatedClaim) -> None:
    made = stated.attack(attack)
    law_in, law_out = (threshold_exact.law(data, made.parameters) for data in made.worlds())
    claim = stated.claim(family(made.family), made.parameters, *made.worlds())
    assert exact.compare(law_in, law_out, claim, made.event).verdict is Verdict.HOLDS
    assert stated.delta in (None, claim.delta)


def test_a_stated_delta_asks_for_the_least_threshold_that_promises_it() -> None:
    made = StatedClaim(delta=1e-4).attack(boundary(threshold=2))
    assert (made.name, made.parameters.threshold) == ("boundary@delta=0.0001", 10)  # P(noise ≥ 9): 9.022e-5
    assert made.parameters.limit == 74
    assert [one.name for one in attacks_for_claim([boundary(), boundary(threshold=2)], StatedClaim(delta=1e-4))] == [
        made.name
    ]
    coarser = dataclasses.replace(made.parameters, threshold=9, limit=73)
    assert StatedClaim().claim(family(made.family), coarser, *made.worlds()).delta > 1e-4
    with pytest.raises(ValueError, match=r"--delta 0: boundary cannot be made for it: delta must be above 0"):
        StatedClaim(delta=0.0).attack(boundary())


def test_a_sensitivity_of_scores_is_an_integer() -> None:
    made = StatedClaim(sensitivity=2.0).attack(selection_absorption())
    assert repr(made.parameters.sensitivity) == "2"
    with pytest.raises(ValueError, match=r"sensitivity must be an integer, got 2\.5"):
        StatedClaim(sensitivity=2.5).attack(selection_absorption())
