"""A transformation whose outputs lie further apart than its map says is convicted by one pair, exactly."""

import itertools
import json
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
import pandas as pd
import pytest
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from subnormal import Claim, Verdict, add_or_remove, change_one, check, stability
from subnormal.audit.check import page, regression
from subnormal.audit.check.document import to_json
from subnormal.audit.check.words import evidence_words
from tests.support.paths import ROOT

pytestmark = pytest.mark.usefixtures("own_clock")

dp.enable_features("contrib")
DIGITS = st.lists(st.integers(0, 9), min_size=1, max_size=4)


def test_the_smallest_pair_is_returned_with_both_outputs_and_exact_distance() -> None:
    found = stability(sum, DIGITS, change_one(), "l1", 8, seconds=20)
    evidence: Any = found.evidence["exact"]
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "stability")
    assert sorted(found.worlds or ()) == [[0], [9]]
    assert sorted(evidence.outputs) == [0, 9]
    assert (evidence.distance, evidence.bound) == (Fraction(9), Fraction(8))


def test_a_map_that_holds_is_not_refuted_and_a_bound_may_depend_on_the_inputs() -> None:
    holds = stability(sum, DIGITS, change_one(), "l1", lambda one, other: abs(sum(one) - sum(other)), seconds=1)
    assert holds.verdict is Verdict.NOT_REFUTED


def test_a_difference_of_one_part_in_a_googol_counts() -> None:
    pair = [(1.0, 2.0)]
    assert stability(lambda x: Fraction(x), distance="linf", bound=1, pairs=pair).verdict is Verdict.NOT_REFUTED
    tiny = stability(lambda x: x, distance=lambda x, y: 1 + Fraction(1, 10**100), bound=1.0, pairs=pair)
    assert tiny.verdict is Verdict.VIOLATED
    assert "1 apart (<lambda>), 1e-100 more than the bound 1" in evidence_words(tiny.evidence["exact"])


@pytest.mark.parametrize(("bound", "verdict"), [(5, Verdict.NOT_REFUTED), (math.nextafter(5, 0), Verdict.VIOLATED)])
def test_distances_in_l2_are_compared_by_squares(bound: float, verdict: Verdict) -> None:
    assert stability(lambda x: x, distance="l2", bound=bound, pairs=[([0, 0], [3, 4])]).verdict is verdict


@pytest.mark.parametrize("excess", [Fraction(1, 2**53), Fraction(3, 2**54), Fraction(1, 10**100)])
def test_an_excess_in_l2_that_a_float_rounds_away_is_named(excess: Fraction) -> None:
    found = stability(lambda x: x, distance="l2", bound=1, pairs=[(0, 1 + excess)])
    evidence: Any = found.evidence["exact"]
    assert (found.verdict, float(evidence.distance - 1)) == (Verdict.VIOLATED, pytest.approx(float(excess), rel=1e-15))
    assert f"1 apart (l2), {float(excess):.2g} more than the bound 1" in evidence_words(evidence)


def test_a_distance_in_l2_is_not_0_where_its_square_is_too_small_for_a_float() -> None:
    found = stability(lambda x: x, distance="l2", pairs=[(0.0, 5e-324)])
    assert "lie 4.941e-324 apart (l2), more than the bound 0" in evidence_words(found.evidence["exact"])


@pytest.mark.parametrize("message", ["no name", "no name, for {}"], ids=["alike", "others"])
@pytest.mark.parametrize("inputs", [(DIGITS, add_or_remove()), ()], ids=["search", "pair"])
def test_a_function_that_raises_in_every_run_is_an_error(inputs: Any, message: str) -> None:
    def broken(records: list[int]) -> float:
        raise NameError(message.format(records))

    pairs: Any = None if inputs else [([], [1])]
    found = stability(broken, *inputs, pairs=pairs, seconds=0.2)
    assert (found.verdict, found.stage, found.worlds, found.evidence) == (None, "first call", None, {})
    assert str(found.error).startswith("every run of every input raised; the last: NameError: no name")
    assert str(found).startswith("ERROR")
    assert "NOT REFUTED" not in page.to_html(found)


def test_a_pair_of_refusals_is_not_what_came_closest() -> None:
    def small(records: list[int]) -> int:
        if len(records) > 1:
            raise ValueError("too long")
        return 0

    refused: Any = ([1, 2], [1, 2, 3])
    answered: Any = ([], [1])
    found = stability(small, distance="l1", pairs=[refused, answered])
    assert (found.verdict, found.worlds) == (Verdict.NOT_REFUTED, answered)


@pytest.mark.parametrize("other", [[1, 2], math.inf, math.nan, "raises"])
def test_outputs_without_a_difference_lie_infinitely_far_apart(other: Any) -> None:
    def function(data: Any) -> Any:
        if data == "raises":
            raise ValueError("too long")
        return data

    found = stability(function, distance="l1", bound=1e300, pairs=[([1], other)])
    evidence: Any = found.evidence["exact"]
    assert (found.verdict, evidence.distance) == (Verdict.VIOLATED, math.inf)


@pytest.mark.parametrize("buffer", [np.zeros(1), [0], {0: 0}], ids=["array", "list", "dict"])
def test_an_output_that_every_call_writes_anew_is_read_before_the_next_call(buffer: Any) -> None:
    def total(records: list[int]) -> Any:
        buffer[0] = sum(records)
        return buffer

    found = stability(total, distance="l1", bound=1, pairs=[([0, 8], [0, 0])], seconds=5)
    evidence: Any = found.evidence["exact"]
    assert (found.verdict, evidence.distance) == (Verdict.VIOLATED, 8)


def test_a_function_with_noise_is_refused() -> None:
    def noisy(records: list[int]) -> float:
        return len(records) + random.random()

    with pytest.raises(ValueError, match=r"function must be deterministic: .*noisy"):
        stability(noisy, DIGITS, add_or_remove(), "l1", 1, seconds=5)


@pytest.mark.parametrize("odd", [range(50, 100_000, 50), range(7, 1_000), range(7)], ids=["rarely", "later", "first"])
def test_an_output_that_exceeds_the_bound_now_and_then_is_no_verdict(odd: range) -> None:
    calls = itertools.count()

    def moody(records: list[int]) -> float:
        return 100.0 if next(calls) in odd else float(len(records))

    with pytest.raises(ValueError, match=r"function must be deterministic: .*moody"):
        stability(moody, DIGITS, change_one(), "l1", 1, seconds=20)


@pytest.mark.parametrize(("far", "bound"), [(0, 1_000), (1_000, 1)], ids=["within the bound", "beyond it"])
def test_the_pair_that_is_returned_has_the_same_outputs_again(far: int, bound: int) -> None:
    calls = itertools.count()
    with pytest.raises(ValueError, match="function must be deterministic"):
        stability(lambda x: far * x + next(calls), distance="l1", bound=bound, pairs=[(0, 9)])


def test_a_function_that_changes_for_good_while_it_is_searched_is_no_verdict() -> None:
    """The pair convicts in the search, and never again."""
    calls = itertools.count()
    with pytest.raises(ValueError, match="function must be deterministic"):
        stability(lambda x: x if next(calls) < 2 else 0, distance="l1", bound=1, pairs=[(0, 9)])


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("5", "7", "str"),
        ({"a": "5"}, {"a": "7"}, "str"),
        (None, 7, "NoneType"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]}), "DataFrame"),
        (frozenset({1}), frozenset({2}), "frozenset"),
        ([b"1"], [b"2"], "bytes"),
        (1j, 2j, "complex"),
    ],
    ids=["text", "dictionary of texts", "None", "frame", "set", "bytes", "complex"],
)
def test_outputs_that_are_no_numbers_have_no_norm(norm: Any, one: Any, other: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"distance '{norm}' takes numbers, .* of type {kind} is no real number"):
        stability(lambda first: one if first else other, distance=norm, bound=1, pairs=[(True, False)])


@pytest.mark.parametrize(
    ("one", "other", "distances"),
    [
        ({"a": 1, 2: 5}, {2: 3}, (3, math.sqrt(5), 2)),
        ({0: 1}, {1: 1}, (2, math.sqrt(2), 1)),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [6, 8]]), (7, 5, 4)),
        ([np.float32(0.5), Decimal("0.5")], [np.int8(2), Fraction(5, 2)], (3.5, 2.5, 2)),
        ([math.inf, math.nan, 1], [math.inf, math.nan, 3], (2, 2, 2)),
        ([math.inf, 1], [-math.inf, 1], 3 * (math.inf,)),
        ([math.nan, 1], [math.inf, 1], 3 * (math.inf,)),
        ([math.nan, 1], [1, 1], 3 * (math.inf,)),
        ([10**400], [0], (10**400, math.inf, 10**400)),
        (np.zeros((2, 3)), np.zeros((3, 2)), 3 * (math.inf,)),
        (5, [5], 3 * (math.inf,)),
    ],
    ids=range(11),
)
def test_numbers_of_every_kind_have_an_exact_distance(one: Any, other: Any, distances: tuple[float, ...]) -> None:
    for norm, distance in zip(("l1", "l2", "linf"), distances, strict=True):
        found = stability(lambda first: one if first else other, distance=norm, bound=0, pairs=[(True, False)])  # type: ignore[arg-type]
        evidence: Any = found.evidence["exact"]
        assert (found.verdict, evidence.distance) == (Verdict.VIOLATED, distance)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.longdouble, Decimal, Fraction])
def test_bounds_and_distances_may_be_numbers_of_every_kind(kind: Any) -> None:
    for distance, verdict in ((9, Verdict.NOT_REFUTED), (10, Verdict.VIOLATED)):
        for bound in (kind(9), lambda one, other: kind(9)):
            far = kind(distance)
            found = stability(lambda x: x, distance=lambda one, other, far=far: far, bound=bound, pairs=[(0, 1)])  # type: ignore[misc]
            assert found.verdict is verdict


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"distance": lambda one, other: math.nan}, ValueError, "distance must return a number of at least 0, got NaN"),
        ({"distance": lambda one, other: -1}, ValueError, "distance must return a number of at least 0, got -1"),
        ({"distance": lambda one, other: "1"}, TypeError, "distance must return .* of type str is no real number"),
        ({"bound": "9"}, TypeError, "bound must be a number of at least 0: '9' of type str"),
        ({"distance": lambda one, other: one / 0}, ValueError, r"distance\(0, 9\) raised 'ZeroDivisionError: "),
        ({"bound": lambda one, other: one[1]}, ValueError, r"bound\(\[0\], \[9\]\) raised 'IndexError: "),
        ({"bound": lambda one, other: None}, TypeError, "bound must be .* of type NoneType"),
        ({"distance": "l3"}, ValueError, "distance must be 'l1', 'l2', 'linf' or a function, got 'l3'"),
        ({"bound": -1}, ValueError, "bound must be a number of at least 0, got -1"),
        ({"bound": math.nan}, ValueError, "bound must be a number of at least 0, got NaN"),
        ({"seconds": 0}, ValueError, "seconds must be positive"),
    ],
)
def test_what_is_no_distance_and_no_bound_is_named(changes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        stability(sum, **{"pairs": [([0], [9])], "bound": 1, **changes})


def test_the_result_is_a_document_a_page_and_a_test_to_paste() -> None:
    found = stability(sum, distance="l1", bound=0.5, pairs=[([0], [9])])
    Draft202012Validator(json.loads((ROOT / "docs" / "check.schema.json").read_text())).validate(
        json.loads(to_json(found))
    )
    assert "the outputs 0 and 9 lie 9 apart (l1), more than the bound 0.5" in " ".join(str(found).split())
    assert "one pair of outputs is a proof" in page.to_html(found)
    names: dict[str, Any] = {"stability": stability, "Verdict": Verdict}
    exec(regression.as_test(found) or "", names)
    with pytest.raises(AssertionError, match="VIOLATED"):
        names["test_sum_keeps_its_claim"]()


def test_the_sum_of_squared_deviations_of_a_release_exceeds_its_map() -> None:
    low, size = 2.0**50, 1024
    domain = dp.vector_domain(dp.atom_domain(bounds=(low, low + 1), nan=False), size=size)
    deviations: Any = dp.t.make_sum_of_squared_deviations(domain, dp.symmetric_distance())
    pair = ([low + 0.25] * size, [low + 0.5] + [low + 0.25] * (size - 1))
    found = stability(deviations, distance="l1", bound=deviations.map(2), pairs=[pair])
    evidence: Any = found.evidence["exact"]
    assert (found.verdict, evidence.distance) == (Verdict.VIOLATED, Fraction(1023, 16))


def test_bit_vectors_of_a_release_tell_their_length() -> None:
    response: Any = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.5
    )
    vectors = st.binary(max_size=2).filter(lambda bits: sum(map(int.bit_count, bits)) <= 1)
    claim = Claim(response.map(1))
    found = check(lambda bits: response(bits), vectors, lambda one, other: True, claim, seconds=20)
    assert found.verdict is Verdict.VIOLATED
    assert len({len(one) for one in found.worlds or ()}) == 2


def test_noise_of_scale_zero_that_the_outcome_hides_is_left_to_the_runs() -> None:
    def ratio(records: list[int]) -> float:
        return float((sum(records) + np.random.laplace(0, 50.0)) / (1 + sum(records) + np.random.laplace(0, 0.0)))

    found = check(ratio, st.lists(st.integers(0, 100), min_size=1), change_one(), Claim(1.0), seconds=6)
    assert (found.verdict, found.stage) == (Verdict.VIOLATED, "runs")
