"""Pairs that convicted are kept in a folder, and tried first in the next check."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, assert_private, check, within
from subnormal.audit.check.result import Result

NUMBERS = st.integers(0, 100)
FEW = 8  # pairs, among which the seeds below have none that convicts
RARE = int("67")  # as a number in the code of the function, or in this file, it would be drawn more often


def coin(number: int) -> int:
    return 2 if number == int("67") else random.getrandbits(1)


def fair(number: int) -> int:
    return random.getrandbits(1)


def checked(function: Any = coin, *, examples: int, domain: Any = NUMBERS, **options: Any) -> Result:
    return check(function, domain, within(1), Claim(1.0), examples=examples, runs=600, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the pair that a check with one seed finds."""
    folder = tmp_path_factory.mktemp("pairs")
    found = checked(examples=300, database=folder)
    assert found.verdict is Verdict.VIOLATED
    return folder


@pytest.mark.parametrize("seed", [2, 3])
def test_the_pair_that_convicted_comes_first_with_any_seed(seed: int, folder: Path) -> None:
    assert checked(examples=FEW, seed=seed).verdict is not Verdict.VIOLATED
    found: Any = checked(examples=FEW, seed=seed, database=folder)
    assert found.verdict is Verdict.VIOLATED
    assert RARE in found.worlds


def test_a_sound_function_a_smaller_domain_and_another_relation_are_asked_without_it(folder: Path) -> None:
    assert checked(fair, examples=FEW, database=folder).verdict is not Verdict.VIOLATED
    assert checked(examples=FEW, database=folder, domain=st.integers(0, 60)).verdict is not Verdict.VIOLATED
    other = check(coin, NUMBERS, within(2), Claim(1.0), examples=FEW, runs=600, database=folder)
    assert other.verdict is not Verdict.VIOLATED


def test_a_pair_that_no_longer_convicts_stays_for_the_next_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(folder.rglob("*"))
    tried = list[int]()

    def repaired(number: int) -> int:
        tried.append(number)
        return random.getrandbits(1)

    repaired.__qualname__, repaired.__module__, repaired.__name__ = "coin", __name__, "coin"
    monkeypatch.setitem(globals(), "coin", repaired)  # so that it is the same function, as a database knows it
    assert checked(repaired, examples=FEW, database=folder).verdict is not Verdict.VIOLATED
    assert RARE in tried
    assert sorted(folder.rglob("*")) == before


def test_a_database_is_a_folder_for_pairs_that_are_searched(tmp_path: Path) -> None:
    file = tmp_path / "pairs"
    file.touch()
    with pytest.raises(ValueError, match="database must be a folder, got the file"):
        checked(examples=1, database=file)
    with pytest.raises(TypeError, match="database goes with data and adjacent"):
        assert_private(coin, 1, 0, epsilon=1.0, database=tmp_path)
