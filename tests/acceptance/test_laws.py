"""No law may drift from its code: every bit string, or every boundary between two, through `sample` against `law`."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.families import FAMILIES, absent, member, members
from subnormal.mechanisms.samplers import float_uniforms
from tests.support.family_cases import family_cases

CHECKS = {name: check for cases in family_cases().values() for name, check in cases.laws.items()}


@pytest.mark.parametrize("name", CHECKS)
def test_the_law_is_that_of_the_code(name: str) -> None:
    left_out = {one.name: one.package for family in FAMILIES for one in absent(family)}
    if name in left_out:
        pytest.skip(f"{left_out[name]} is not installed")
    CHECKS[name](member(name))


def test_every_law_is_checked() -> None:
    declared = [mechanism for family in FAMILIES for mechanism in (*members(family), *absent(family))]
    with_laws = {mechanism.name for mechanism in declared if mechanism.law is not None}
    unchecked, unknown = with_laws - set(CHECKS), set(CHECKS) - with_laws
    where = "laws in CASES of its family's test_family.py"
    assert not unchecked, f"{where}: no proof for {unchecked}; a member that never has a law has law=None"
    assert not unknown, f"{where}: {unknown} have no law, or no line in the members of their family"


def test_a_law_that_drifts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break the code, not the law: round the running sums to the nearest uniform."""
    sums = float_uniforms.running_sums

    def drifted(law: Callable[[Any, Any], Any], data: Any, parameters: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(exponential_naive, "running_sums", lambda weight: sums(weight) * (1 - 2**-10))
            return law(data, parameters)

    for name in ("exponential-naive-float16", "exponential-naive-float64"):
        mechanism = member(name)
        assert mechanism.law is not None
        with pytest.raises(AssertionError):
            CHECKS[name](replace(mechanism, law=partial(drifted, mechanism.law)))


def test_half_the_strings_of_a_fair_coin() -> None:
    assert exhaustive.law(lambda bits: bits.take(1), depth=1).probability(1)[0] == Fraction(1, 2)
