"""Functions of ten lines and our families: what is broken is found from domain and claim alone, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from subnormal import Verdict, check, system_bits
from subnormal.audit.check.result import Result
from subnormal.mechanisms.families import FAMILIES, exact_members, family
from tests.support.checked_functions import BROKEN, SOUND, Case
from tests.support.family_cases import family_cases

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6  # the chance that one of the sound functions below is accused by its runs
SECONDS = 30.0  # of the clock that counts work
ENOUGH = 40.0  # of them for runs to convict in small worlds
NAN = float("nan")

WORLDS: dict[str, tuple[str, list[Any]]] = {  # the stage that decides, and the smallest worlds
    "scale-of-range": ("runs", [[0.0], [1.0]]),
    "scale-of-range-by-hand": ("runs", [[0.0], [1.0]]),
    "nan": ("runs", [[0.0], [NAN]]),
    "distinct": ("runs", [[0, 0], [0, 1]]),
    "lyu-5": ("runs", [[0, 0], [0, 1]]),
    "rint-before-threshold": ("runs", [{}, {"a": 1}]),
    "one-of-five": ("runs", [[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]),
    "module": ("replay", [[], [1.0]]),
    "closure": ("replay", [[], [1.0]]),
    "self": ("replay", [[], [1.0]]),
    "callable": ("replay", [[], [1.0]]),
    "scipy": ("replay", [[], [1.0]]),
    "scipy-frozen": ("replay", [[], [1.0]]),
}
OTHERS = {  # the worlds are of any size; the seconds: two thirds of them were enough for all but lyu-6
    "another-range": 22.0,
    "lyu-3": 15.0,
    "lyu-4-c3": 15.0,
    "lyu-6": SECONDS,  # not found in 20
    "permute-and-flip": 22.0,
}


def checked(case: Case, **options: Any) -> Result:
    return check(case.function, case.data, case.adjacent, case.claim, alpha=ALPHA, **options)


@pytest.mark.parametrize("name", WORLDS)
def test_broken_functions_are_found_in_small_worlds(name: str) -> None:
    stage, smallest = WORLDS[name]
    result: Any = checked(BROKEN[name], seconds=ENOUGH if stage == "runs" else SECONDS)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, stage)
    chance = stage == "runs"  # makes a smaller pair look sound now and then
    assert max(map(len, result.worlds)) <= max(map(len, smallest)) + chance


@pytest.mark.parametrize("name", OTHERS)
def test_broken_functions_are_found(name: str) -> None:
    assert checked(BROKEN[name], seconds=OTHERS[name]).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("name", SOUND)
def test_sound_functions_are_not_accused(name: str) -> None:
    result = checked(SOUND[name], seconds=0.5)
    assert result.error is None
    assert result.verdict is not Verdict.VIOLATED, result


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
