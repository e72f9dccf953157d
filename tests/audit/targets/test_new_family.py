"""A family that audit has never heard of: all that the audit of a target needs is in the fields of `Family`."""

from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any

import pytest

from subnormal.attacks.core.attack import Attack, index_statistic
from subnormal.attacks.core.events import OneOf
from subnormal.audit import vectors
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.engine.scheduler import examine_all
from subnormal.audit.model import Verdict
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor
from subnormal.audit.targets.stated_claim import SEARCH, StatedClaim, search_attacks
from subnormal.audit.targets.target import CallableTarget, mechanism
from subnormal.mechanisms import families
from subnormal.mechanisms.core.input_patterns import Neighbours
from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.privacy import Claim


@dataclass(frozen=True)
class Parameters:
    """A budget under another name, and a number of bits from which δ follows."""

    nats: float
    bits: int


def with_delta(parameters: Parameters, delta: float) -> Parameters:
    if not delta > 0:
        raise ValueError(f"delta must be above 0, got {delta}")
    return replace(parameters, bits=ceil(-log2(delta)))


def check_outcome(parameters: Parameters, data: int, outcome: int) -> None:
    if outcome >= 1 << parameters.bits:
        raise ValueError(f"{outcome}, which has more than {parameters.bits} bits")


FAMILY: Family[int, Parameters, int] = Family(
    name="unheard-of",
    parameters=Parameters,
    adjacent=lambda parameters, data_in, data_out: {data_in, data_out} == {0, 1},
    claim=lambda parameters, data_in, data_out: Claim(parameters.nats, 2.0**-parameters.bits),
    outcome=lambda value: int(str(value)),
    search=lambda epsilon, delta, sensitivity, domain: (Parameters(epsilon or 0.25, 4), (Neighbours("a bit", 0, 1),)),
    members=(),
    check_outcome=check_outcome,
    with_sensitivity=None,
    with_delta=with_delta,
)
ATTACK: Attack[int, Parameters, int] = Attack(
    name="told",
    family=FAMILY.name,
    worlds=lambda: (0, 1),
    parameters=Parameters(0.25, 4),
    event=OneOf((0,)),
    statistic=index_statistic,
    breaks=(),
    source="a test",
    description="the datum is told",
)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "FAMILIES", (*families.FAMILIES, FAMILY))


def target(outcome: int | None, stated: StatedClaim) -> Any:
    """Return a target that tells its datum, or always the same outcome."""

    def release(data: int, parameters: dict[str, Any], runs: int) -> list[int]:
        return [data if outcome is None else outcome] * runs

    return mechanism("a target", FAMILY.name, CallableTarget(release), stated, OutcomeMonitor())


def test_a_stated_claim_makes_the_attack_and_is_what_is_claimed() -> None:
    made = StatedClaim(delta=1e-3).attack(ATTACK)
    assert (made.name, made.parameters) == ("told@delta=0.001", Parameters(0.25, 10))
    assert StatedClaim().claim(FAMILY, made.parameters, 0, 1) == Claim(0.25, 2.0**-10)
    assert StatedClaim(0.5, 1e-3).claim(FAMILY, made.parameters, 0, 1) == Claim(0.5, 1e-3)
    with pytest.raises(ValueError, match="--delta 0: told cannot be made for it: delta must be above 0"):
        StatedClaim(delta=0.0).attack(ATTACK)
    with pytest.raises(ValueError, match="--sensitivity 1: told has none, as any data are adjacent"):
        StatedClaim(sensitivity=1.0).attack(ATTACK)


@pytest.mark.parametrize(("outcome", "verdict"), [(None, Verdict.VIOLATED), (3, Verdict.NOT_REFUTED)])
def test_a_target_is_judged_by_the_claim_of_its_family(outcome: int | None, verdict: Verdict) -> None:
    """Both by the attack and by the usual inputs. False-alarm rate: none, as outcomes do not depend on the datum."""
    told: list[str] = []
    tried = target(outcome, StatedClaim())
    (searching,) = search_attacks(tried, StatedClaim(), 1, 1000, told.append)
    assert (searching.name, told) == (SEARCH, [])
    rows = examine_all([Crossing(one, tried) for one in (ATTACK, searching)], seed=1, runs=1000, alpha=1e-6).rows
    assert [row.sampled and row.sampled.verdict for row in rows] == [verdict, verdict]


def test_an_outcome_that_cannot_be_is_refused() -> None:
    with pytest.raises(TargetError, match="answered with 16, which has more than 4 bits"):
        target(16, StatedClaim()).sample(0, ATTACK.parameters, None, 2)


def test_its_attack_is_a_vector() -> None:
    written = vectors.vector(ATTACK)
    assert (written["family"], written["claim"]["epsilon"]["decimal"]) == ("unheard-of", 0.25)
