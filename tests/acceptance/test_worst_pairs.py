"""The other side of the catalogue: without it, the worst pair of a small domain is found, and is at least as bad.

For the quickest; `python -m benchmarks.worst_pairs` tries all, and writes benchmarks/worst_pairs.md.
"""

from functools import cache

import pytest

from benchmarks.worst_pairs import EVERY, PAGE, QUICK, at_least_as_strong, known, searched, start_of
from subnormal.audit.model import DomainEvidence, DomainVerdict


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
