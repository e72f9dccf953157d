"""The house's own families as plain functions: without noise each is found, its exact members are not accused.

False alarms: ALPHA for each exact member. A function without noise has certain outcomes: nothing is left to chance.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from subnormal import Verdict, check, system_bits
from subnormal.mechanisms.families import FAMILIES, exact_members, family
from tests.support.family_cases import family_cases

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6


def examined(name: str, function: Callable[..., Any], **options: Any) -> Any:
    of, case = family(name), family_cases()[name]
    claim = partial(of.claim, case.parameters)
    relation = partial(of.adjacent, case.parameters) if case.relation is None else case.relation
    return check(function, case.data, relation, claim, **options)


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_a_function_without_noise_is_found_unaided(name: str) -> None:
    found = examined(name, family_cases()[name].noiseless, seconds=10)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "stability")


@pytest.mark.parametrize("name", [one.name for one in FAMILIES])
def test_an_exact_member_is_not_accused(name: str) -> None:
    member, parameters = next(iter(exact_members(family(name)))), family_cases()[name].parameters

    def release(data: Any, runs: int) -> Any:
        return member.sample(data, parameters, system_bits(), runs)

    found = examined(name, release, batch=True, seconds=1, runs=2_000, alpha=ALPHA)
    assert found.error is None
    assert found.verdict in (Verdict.NOT_REFUTED, Verdict.UNDERPOWERED)
