"""Every exact member keeps its claim at random parameters: its exact law on all pairs of a small domain, the worst too.

Each domain is small, and its public parameters are drawn: ε from 10^-4 to 30, sensitivities, grids, widths, thresholds.
`make claims` draws a thousand of them for each member.
"""

import os
from dataclasses import replace
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal.audit.evidence import every_pair
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.families import FAMILIES, family, members
from subnormal.mechanisms.privacy import Claim
from tests.support.family_cases import family_cases

DRAWN = int(os.environ.get("SUBNORMAL_PARAMETERS", "25"))  # sets of parameters of each member

EXACT = [one for kind in FAMILIES for one in members(kind) if one.exact and one.law is not None and kind.domain]


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda one: one.name)
def test_a_claim_holds_at_random_parameters(mechanism: AnyMechanism) -> None:
    build, decided = family(mechanism.family).domain, []
    assert build is not None

    @hypothesis.seed(1)
    @settings(max_examples=DRAWN, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.fixed_dictionaries(dict(family_cases()[mechanism.family].options)))
    def holds(options: dict[str, Any]) -> None:
        try:
            domain = build(**options)
            found = every_pair.decide(mechanism, domain)
        except ValueError:  # parameters that do not fit together, or a domain without neighbours
            hypothesis.reject()
        decided.append(found.verdict)
        assert found.verdict is not DomainVerdict.VIOLATED, found

    holds()
    assert decided.count(DomainVerdict.HOLDS) >= max(2, 0.9 * len(decided))


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda one: one.name)
def test_a_third_of_its_claim_is_refuted(mechanism: AnyMechanism) -> None:
    """The same domains tell a claim that is too small."""

    def third(*given: Any) -> Claim:
        claim = mechanism.claim(*given)
        return Claim(claim.epsilon / 3, claim.delta / 3)

    build: Any = family(mechanism.family).domain
    found = every_pair.decide(replace(mechanism, claim=third), build(**family_cases()[mechanism.family].tight))
    assert found.verdict is DomainVerdict.VIOLATED


def test_only_members_of_families_without_a_domain_are_left_out() -> None:
    """Of steps of DP-SGD, the claim is a bound on a composition: `tests/mechanisms/dp_sgd` has its loss."""
    every = {one.name for kind in FAMILIES for one in members(kind) if one.exact and one.law is not None}
    assert every - {one.name for one in EXACT} == {"dp-sgd-exact"}
