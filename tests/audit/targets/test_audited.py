"""A target is audited from Python as from the command line: a callable, or the name of one."""

from typing import Any

import pytest

from subnormal.attacks.catalogue import attack
from subnormal.audit.model import Verdict
from subnormal.audit.targets.audited import audit_target
from subnormal.audit.targets.json_lines import TargetError

ATTACKS = [attack("absorption"), attack("grid-precision")]


def noiseless(data: Any, parameters: dict[str, Any], runs: int) -> list[float]:
    """Release the data as they are."""
    return [float(data)] * runs


def test_a_callable_is_convicted_like_its_name() -> None:
    given, named = (audit_target(one, ATTACKS, runs=500) for one in (noiseless, f"{__name__}:noiseless"))
    assert [row.attack for row in given.rows] == [one.name for one in ATTACKS]
    assert {row.verdict for row in given.rows} == {Verdict.VIOLATED}
    assert [row.sampled for row in given.rows] == [row.sampled for row in named.rows]
    assert {row.mechanism for row in given.rows} == {"noiseless"}
    assert given.alpha_per_row == 0.025


def test_rows_are_told_as_they_are_finished() -> None:
    unfinished: list[tuple[str, ...]] = []
    audit_target(noiseless, ATTACKS, runs=100, finished=lambda report: unfinished.append(report.unfinished))
    assert unfinished == [("grid-precision",)]


def test_attacks_are_of_one_family_and_a_target_exists() -> None:
    with pytest.raises(ValueError, match="attacks must be of one family, got exponential, laplace"):
        audit_target(noiseless, [attack("zero-rounding"), *ATTACKS])
    with pytest.raises(ValueError, match="attacks must be of one family, got none"):
        audit_target(noiseless, [])
    with pytest.raises(TargetError, match="'nowhere' is neither"):
        audit_target("nowhere", ATTACKS)
