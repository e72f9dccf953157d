"""Every exact member keeps its claim at random parameters: its exact law on all pairs of a small domain, the worst too.

Each domain is small, and its public parameters are drawn: ε from 10^-4 to 30, sensitivities, grids, widths, thresholds.
`make claims` draws a thousand of them for each member.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from subnormal.audit.claims.kind import decades
from subnormal.audit.evidence import every_pair
from subnormal.audit.model import DomainVerdict
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.families import FAMILIES, family, members
from subnormal.mechanisms.privacy import Claim

DRAWN = int(os.environ.get("SUBNORMAL_PARAMETERS", "25"))  # sets of parameters of each member

SMALL = st.integers(1, 3)
EPSILON = decades(-4, 1.5, 1.0)
DYADIC = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0])

# options of each family's domain
OPTIONS: Mapping[str, Mapping[str, SearchStrategy[Any]]] = {
    "exponential": {"most": SMALL, "outcomes": st.integers(2, 3), "epsilon": EPSILON, "sensitivity": SMALL},
    "laplace": {
        "most": SMALL,
        "epsilon": EPSILON,
        "sensitivity": DYADIC,
        "grid": st.integers(-4, 0),
        "resolution": st.integers(-2, 0),
    },
    "gaussian": {
        "most": SMALL,
        "sigma": decades(-0.5, 1, 1.0),
        "delta": decades(-9, -1, 1e-6),
        "sensitivity": DYADIC,
        "grid": st.integers(-2, 0),
        "resolution": st.integers(-2, 0),
    },
    "sparse-vector": {
        "most": st.integers(1, 2),
        "queries": st.integers(1, 3),
        "epsilon": EPSILON,
        "sensitivity": st.integers(1, 2),
        "positives": st.integers(1, 2),
        "width": st.integers(1, 6),
    },
    "private-selection": {
        "most": SMALL,
        "candidates": st.integers(1, 3),
        "epsilon": EPSILON,
        "sensitivity": st.integers(1, 2),
        "stop": st.sampled_from([0.125, 0.5, 0.75]),
    },
    "partitions": {
        "most": st.integers(2, 8),
        "rows": st.integers(2, 3),
        "epsilon": EPSILON,
        "sensitivity": st.integers(1, 6),
    },
    "threshold": {
        "most": st.integers(2, 4),
        "keys": st.integers(1, 2),
        "scale": decades(-1, 2, 1.0),
        "threshold": st.integers(1, 8),
        "limit": st.integers(2, 12),
        "changed": st.integers(1, 2),
        "apart": st.integers(1, 3),
    },
    "randomized-response": {"categories": st.integers(2, 9), "epsilon": EPSILON},
}

USUAL: Mapping[str, Mapping[str, Any]] = {
    "exponential": {"most": 2, "outcomes": 3},
    "laplace": {"most": 1, "grid": 0, "resolution": -1},
    "gaussian": {"most": 4, "grid": 0, "resolution": 0},
    "sparse-vector": {"most": 1, "queries": 2},
    "private-selection": {"most": 2, "candidates": 2},
    "partitions": {"most": 4, "rows": 2, "sensitivity": 1},
    "threshold": {"most": 3, "keys": 1, "changed": 1, "apart": 1},
    "randomized-response": {"categories": 3},
}

EXACT = [one for kind in FAMILIES for one in members(kind) if one.exact and one.law is not None and kind.domain]


@pytest.mark.parametrize("mechanism", EXACT, ids=lambda one: one.name)
def test_a_claim_holds_at_random_parameters(mechanism: AnyMechanism) -> None:
    build, decided = family(mechanism.family).domain, []
    assert build is not None

    @hypothesis.seed(1)
    @settings(
        max_examples=DRAWN,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.fixed_dictionaries(dict(OPTIONS[mechanism.family])))
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

    build = family(mechanism.family).domain
    assert build is not None
    found = every_pair.decide(replace(mechanism, claim=third), build(**USUAL[mechanism.family]))
    assert found.verdict is DomainVerdict.VIOLATED


def test_only_members_of_families_without_a_domain_are_left_out() -> None:
    """Of steps of DP-SGD, the claim is a bound on a composition: `tests/mechanisms/dp_sgd` has its loss."""
    every = {one.name for kind in FAMILIES for one in members(kind) if one.exact and one.law is not None}
    assert every - {one.name for one in EXACT} == {"dp-sgd-exact"}
