"""No row of `run --all` takes more than 2 GB or a minute alone; worst pairs are at least as bad as the attacks."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks import row_limits
from benchmarks.row_limits import failure
from benchmarks.worst_pairs import EVERY, PAGE, QUICK, at_least_as_strong, known, searched, start_of
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.dp_sgd.no_number import norm_overflow
from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.attacks.exponential.rounded_addition import rounded_addition_float32
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine.pairs import Crossing
from subnormal.audit.model import DomainEvidence, DomainVerdict
from subnormal.mechanisms.core.law import exact_law
from subnormal.mechanisms.families import member


@pytest.mark.parametrize("attack", [rounded_addition_float32(), gumbel_ties()], ids=lambda attack: attack.name)
def test_gumbel_noise_keeps_the_limits_with_millions_of_outcomes(attack: AnyAttack) -> None:
    assert failure(Crossing(attack, member("noisy-max-naive-float32"))) is None


@pytest.mark.parametrize(
    ("attack", "mechanism"),
    [
        (zero_rounding(), "exponential-naive-float16"),  # refuses in both worlds
        (zero_rounding(), "exponential-naive-float32"),
        (norm_overflow(), "dp-sgd-float16"),  # every sum is no number
    ],
)
def test_a_row_that_tells_nothing_is_no_error(attack: AnyAttack, mechanism: str) -> None:
    assert failure(Crossing(attack, member(mechanism))) is None


def test_what_takes_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_law(law: Any) -> Crossing:
        return Crossing(zero_rounding(), replace(member("exponential-exact"), law=law))

    def endless(data: Any, parameters: Any) -> Any:
        while True:
            pass

    def large(data: Any, parameters: Any) -> Any:
        return exact_law(range(1), [1], [int(np.zeros(3 << 30, dtype=np.uint8)[0])], 1)

    monkeypatch.setattr(row_limits, "SECONDS", 1)
    assert failure(with_law(endless)) == "it was ended after 1 s of a processor"
    assert "MemoryError" in (failure(with_law(large)) or "")


@cache
def found_on_each() -> tuple[list[DomainEvidence], list[str]]:
    return searched(QUICK)


def test_the_search_imports_no_attack() -> None:
    assert {name.split(".")[2] for name in found_on_each()[1] if name.count(".") > 1} == {"core"}


@pytest.mark.parametrize("at", range(len(QUICK)), ids=[f"{one.attack}-{one.mechanism}" for one in QUICK])
def test_the_worst_pair_is_at_least_as_bad_as_the_attack(at: int) -> None:
    case, found = QUICK[at], found_on_each()[0][at]
    attacked, claim = known(case)
    assert (found.claim.epsilon, found.claim.delta) == (claim.epsilon, claim.delta)  # else the numbers are not alike
    assert found.verdict is DomainVerdict.VIOLATED
    assert found.delta >= attacked.delta > claim.delta
    assert found.epsilon[0] >= attacked.epsilon
    assert at_least_as_strong(found, attacked, claim)


def test_the_page_has_a_line_for_every_domain() -> None:
    said = PAGE.read_text()
    assert all(start_of(case) in said for case in EVERY)
    assert all(
        f"{start_of(case)} " in said and "| yes |" in said.partition(start_of(case))[2].split("\n")[0] for case in QUICK
    )
