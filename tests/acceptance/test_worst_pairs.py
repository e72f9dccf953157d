"""The other side of the catalogue: without it, the worst pair of a small domain is found, and is at least as bad.

For the quickest; `python -m benchmarks.worst_pairs` tries all, and writes benchmarks/worst_pairs.md.
"""

from functools import cache

import pytest

from benchmarks.worst_pairs import LONG, PAGE, QUICK, Case, at_least_as_strong, known, searched
from subnormal.audit.model import DomainEvidence, DomainVerdict

SHARE = 0.8  # of the attacks whose worlds lie in a finite domain


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


def test_four_attacks_in_five_are_found_again() -> None:
    rows = {
        tuple(line.split(" | ")[:3]): line.split(" | ")[-1] for line in PAGE.read_text().splitlines() if "`" in line
    }
    lost: set[str] = set()
    cases: tuple[Case, ...] = (*QUICK, *LONG)
    for case in cases:
        said = rows[f"| `{case.attack}`", f"`{case.mechanism}`", f"`{case.domain}`"]
        assert said in ("yes |", "no |")
        lost |= {case.attack} if said == "no |" else set()
    every = {case.attack for case in cases}
    assert len(every - lost) / len(every) >= SHARE
