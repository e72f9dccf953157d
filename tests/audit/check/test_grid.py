"""Last bits of floats apart from real loss: outcomes on a grid, the search beyond last bits, and severity."""

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subnormal import Claim, NotPrivateError, Verdict, add_or_remove, assert_private, check
from subnormal.audit.check.last_bits import BESIDE, look_beyond_last_bits
from subnormal.audit.check.result import Result
from subnormal.audit.check.severity import Severity
from subnormal.audit.check.state import Check, Finding
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.values.outcomes import as_outcome, on_grid
from tests.support.checked_functions import UNIT, clipped, lap

pytestmark = pytest.mark.usefixtures("own_clock")


def honest_sum(records: list[float]) -> float:
    return float(sum(clipped(records, 0, 1)) + np.random.laplace(0, 1))


def half_the_noise(records: list[float]) -> float:
    return float(sum(clipped(records, 0, 1)) + np.random.laplace(0, 0.3))


def hidden_by_last_bits(records: list[float]) -> float:
    """Return a noisy sum whose last bits tell the inputs apart at once; now and then it returns the raw number."""
    return honest_sum(records) if random.random() < 0.9 else 1000.0 * len(records)


def checked(function: Any, **options: Any) -> Result:
    return check(function, UNIT, add_or_remove(), Claim(1.0), **{"seconds": 10.0, **options})


def test_last_bits_alone_are_told_apart_from_real_loss() -> None:
    found = checked(honest_sum)
    assert (found.verdict, found.severity, found.last_bits_only) == (Verdict.VIOLATED, Severity.LAST_BITS, True)
    assert (found.grid, found.test_grid) == (None, None)
    assert any(note.startswith("only the last bits of floats") for note in found.notes)


class Ending:
    """A program that ends after a number of calls, each of which asks for many outcomes."""

    def __init__(self, calls: float) -> None:
        self.left, self.calls = calls, 0

    def __call__(self, records: list[float], runs: int) -> list[float]:
        if self.left <= 0:
            raise TargetError("ended")
        self.left, self.calls = self.left - 1, self.calls + 1
        return [honest_sum(records) for _ in range(runs)]


def test_a_conviction_stands_where_the_program_ends_later() -> None:
    """Of what the search on a grid did not see to its end, nothing is said."""
    whole = Ending(math.inf)
    assert checked(whole, batch=True).last_bits_only
    found = checked(Ending(whole.calls * 3 // 4), batch=True)
    assert (found.verdict, found.error, found.severity) == (Verdict.VIOLATED, None, Severity.LAST_BITS)
    assert not found.last_bits_only
    assert not any("nothing else was found" in note for note in found.notes)


def test_what_is_found_on_the_grid_is_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search on the grid has all of α: a function that keeps its claim comes so far with probability α at most."""
    shares = []

    def look(state: Check, found: Finding, alpha: float, search_pairs: Any) -> Finding:
        def found_there(state: Check, first: Any, two_kinds: Any) -> Finding:
            shares.append(state.alpha)
            return replace(found, event={"kind": "one-of"}, notes=())

        state.alpha /= 2
        return look_beyond_last_bits(state, found, alpha, found_there)

    monkeypatch.setattr("subnormal.audit.check.check.look_beyond_last_bits", look)
    found = checked(honest_sum)
    assert (found.verdict, found.last_bits_only, shares) == (Verdict.VIOLATED, False, [1e-6])
    assert found.grid is not None
    assert found.notes == (BESIDE,)


def test_a_flaw_below_the_grid_has_a_test_without_one() -> None:
    found = checked(lambda records: round(lap(1.0), 1) + 1e-9 * len(records))
    assert found.verdict is Verdict.VIOLATED
    assert (found.severity, found.test_grid) == (Severity.LARGE_LOSS, None)


def test_on_a_grid_an_honest_function_is_not_accused() -> None:
    found = checked(honest_sum, grid=1e-6)
    assert (found.verdict, found.severity, found.grid) == (Verdict.NOT_REFUTED, None, 1e-6)
    assert_private(honest_sum, [1.0], [], epsilon=1.0, grid=1e-6, runs=5_000)
    with pytest.raises(NotPrivateError):
        assert_private(honest_sum, [1.0], [], epsilon=1.0, runs=5_000)


def test_a_real_loss_is_found_behind_the_last_bits() -> None:
    found = checked(hidden_by_last_bits)
    assert found.verdict is Verdict.VIOLATED
    assert not found.last_bits_only
    assert found.severity is Severity.LARGE_LOSS


def test_a_violation_on_a_grid_is_one_and_its_test_turns_green_after_the_repair() -> None:
    found = checked(half_the_noise)
    assert found.verdict is Verdict.VIOLATED
    assert found.test_grid is not None
    assert found.test_grid <= 0.3e-3
    options: dict[str, Any] = {"adjacent": [found.worlds], "claim": Claim(1.0), "grid": found.test_grid}
    with pytest.raises(NotPrivateError):
        assert_private(half_the_noise, **options)
    assert_private(honest_sum, **options, runs=5_000)


def test_what_tells_the_inputs_apart_in_every_run_is_deterministic() -> None:
    assert checked(lambda records: len(records)).severity is Severity.DETERMINISTIC
    assert checked(lambda records: round(len(records) + lap(0.7), 2)).severity is Severity.NEAR_THE_CLAIM


@pytest.mark.parametrize("grid", [0.0, -1.0, float("inf"), float("nan")])
def test_a_grid_is_a_positive_number(grid: float) -> None:
    with pytest.raises(ValueError, match="grid must be positive and finite"):
        checked(honest_sum, grid=grid)


OUTCOMES = st.recursive(
    st.floats() | st.integers() | st.text(max_size=3) | st.complex_numbers(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
)


@settings(max_examples=40)
@given(OUTCOMES, st.sampled_from([1e-6, 0.1, 0.25, 1.0, 1e10]))
def test_a_grid_only_rounds_floats_and_rounds_them_once(outcome: Any, grid: float) -> None:
    rounded = on_grid(outcome, grid)
    assert type(rounded) is type(outcome)
    assert repr(on_grid(rounded, grid)) == repr(rounded)
    if isinstance(outcome, float) and abs(outcome) < 1e300:
        assert abs(rounded - outcome) <= grid / 2 + abs(outcome) * 2**-50


def test_a_grid_reaches_into_arrays_frames_and_mappings() -> None:
    pandas = pytest.importorskip("pandas")
    one, other = ({"a": np.array([value, 1.0]), "b": pandas.DataFrame({"x": [value]})} for value in (0.3, 0.1 + 0.2))
    assert as_outcome(one) != as_outcome(other)
    assert on_grid(as_outcome(one), 1e-6) == on_grid(as_outcome(other), 1e-6)
