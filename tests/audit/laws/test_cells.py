"""Outcomes in cells: they are found from the outcome alone, and show violations that outcomes as they are do not."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from subnormal import Claim
from subnormal.attacks.core.events import Between
from subnormal.audit.laws import comparison
from subnormal.audit.laws.cells import CELLS, TOGETHER, Cells, cells_of
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.draws.sources import Source, replaced
from subnormal.audit.laws.followed import Walk, law
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.model import Verdict
from subnormal.audit.values.outcomes import as_outcome
from tests.audit.laws.short_uniforms import short_uniforms

CELLS_OF_TWO = Cells({(2, (0,)): (0.25, 1.0), (2, (1, 1)): (0.5,), (1, ()): (2.0, 3.0, 5.0)})


def test_numbers_are_replaced_by_the_number_of_cuts_that_they_reach() -> None:
    assert CELLS_OF_TWO((0.25, ["a", 0.4, True])) == (1, ("a", 0, True))
    assert CELLS_OF_TWO((2, ["a", 0.5, None])) == (2, ("a", 1, None))
    assert CELLS_OF_TWO([0.1, [7, 8]]) == (0, (0, 0))  # three numbers, of which no cut is known
    assert [CELLS_OF_TWO(number) for number in (1.9, 2.0, 4, 5.0)] == [0, 1, 2, 3]


def test_the_law_of_cells_is_that_of_all_words() -> None:
    def function(data: Any) -> Any:
        x, y = random.random(), random.random()
        return (x + y, ["a", round(y - x, 1), x < 0.5])

    with short_uniforms(8):
        found = law(CELLS_OF_TWO.of(function), None)
        every = Counter[Any]()
        for k in range(64):
            x, y = k // 8 / 8, k % 8 / 8
            every[CELLS_OF_TWO((x + y, ["a", round(y - x, 1), x < 0.5]))] += 1
    for outcome in {*found.law.atoms, *every}:
        low, high = found.probability(outcome)
        assert low <= every[outcome] / 64 <= high
        assert high - low < 1e-6


def test_neighbouring_cells_are_an_interval() -> None:
    assert CELLS_OF_TWO.between([1, 2]) == Between(2.0, math.nextafter(5.0, 0.0))
    assert CELLS_OF_TWO.between([0]) == Between(-math.inf, math.nextafter(2.0, 0.0))
    assert CELLS_OF_TWO.between([3]) == Between(5.0, math.inf)
    assert CELLS_OF_TWO.between([0, 2]) is CELLS_OF_TWO.between([(0, 1)]) is None


def found_cells(function: Any, inputs: list[Any]) -> list[Cells]:
    with replaced(function) as source:
        return cells_of(source, function, inputs, 10.0)


def test_cuts_are_where_the_numbers_are_and_beyond() -> None:
    (cells,) = found_cells(lambda x: x + random.random(), [0.0, 1.0])
    cuts = list(cells.cuts[1, ()])
    assert cuts == sorted(set(cuts))
    assert 32 <= len(cuts) < CELLS
    assert cuts[0] < 0.0
    assert cuts[-1] > 2.0
    (few,) = found_cells(lambda x: x + random.randrange(3), [0])
    assert {0.0, 1.0, 2.0} <= {*few.cuts[1, ()]}
    assert found_cells(lambda x: random.random() < 0.5, [0]) == []
    assert found_cells(lambda x: 1.5, [0]) == []


def test_outcomes_of_several_shapes_are_told_apart_by_their_shapes_first() -> None:
    def above(queries: list[int]) -> Any:
        noisy = [query + random.expovariate(1) for query in queries]
        return [one if one > 2 else None for one in noisy]

    shapes, cells = found_cells(above, [[0, 0], [1, 0]])
    assert shapes([2.5, None]) == shapes([9, None]) == (0, None) != shapes([None, 2.5])
    assert cells([2.1, None]) != cells([9.0, None])
    found = decide(above, [0, 0, 0], [1, 1, 1], Claim(2.5), seconds=20.0)  # of P(Exp > 2) and P(Exp > 1), three times
    assert (found.verdict, found.cells) == (Verdict.VIOLATED, shapes)
    assert found.evidence.epsilon == pytest.approx(3.0, abs=1e-5)


def test_numbers_in_a_mapping_have_the_places_of_its_outcome() -> None:
    def counts(x: float, draw: Callable[[], float]) -> dict[Any, Any]:
        return {"b": x + draw(), "a": [x - draw()], 10: "z", 9: draw() - x, "ab": {"c": draw() + x}}

    (cells,) = found_cells(lambda x: counts(x, random.random), [0.0, 0.5])
    with short_uniforms(8):
        found = law(cells.of(lambda x: counts(x, random.random)), 0.5)
    eighths = [k / 8 for k in range(8)]
    every = Counter(cells(as_outcome(counts(0.5, iter(ks).__next__))) for ks in itertools.product(eighths, repeat=4))
    assert len(every) >= 8  # of four numbers in two cells each
    assert {*found.law.atoms} == {*every}
    assert all(found.probability(one) == (Fraction(count, 8**4),) * 2 for one, count in every.items())


def test_numbers_that_differ_most_between_the_inputs_have_cells() -> None:
    def noisy(x: list[float]) -> list[float]:
        return [one + random.random() for one in x]

    (cells,) = found_cells(noisy, [[0.0] * 9, [0.0, 0.0, 2.0] * 3])
    assert {place for _, place in cells.cuts} == {(2,), (5,), (8,)}
    (cells,) = found_cells(noisy, [[0.0] * 9, [0.7] * 5 + [1.0] * 4])
    assert {place for _, place in cells.cuts} == {(5,), (6,), (7,), (8,)}
    assert all(cells.cuts.values())  # two cells each
    (cells,) = found_cells(lambda x: [math.inf, math.nan, x + random.random()], [0.0, 2.0])
    assert {*cells.cuts} == {(3, (2,))}


def test_numbers_of_different_outcomes_do_not_share_their_cells() -> None:
    def first_above(x: list[float]) -> list[float | None]:
        answers: list[float | None] = []
        for one in x:
            noisy = one + random.uniform(0, 2)
            answers.append(noisy if noisy > 1 else None)
            if noisy > 1:
                break
        return answers

    _, cells = found_cells(first_above, [[0.0] * 6, [0.5] * 6])
    assert {place for count, place in cells.cuts if count == 1} == {(at,) for at in range(6)}
    assert all(len(cuts) >= TOGETHER // 2 for cuts in cells.cuts.values())


VIOLATED: dict[str, tuple[Any, Any, Any, float]] = {
    "a float": (lambda x: x - 0.5 * math.log(1 - random.random()), 0.0, 1.0, 1.0),
    "a rounded Gaussian": (lambda x: round(x + random.gauss(0.0, 1.0), 3), 0.0, 1.0, 1.0),
    "a mapping": (lambda x: {"a": x + random.randrange(2), "b": [random.random() < 0.5]}, 0, 1, 1.0),
    "a mapping of floats": (lambda x: {10: x + random.expovariate(1), 9: "z", "b": random.random()}, 0.0, 1.0, 1.0),
    "a part": (lambda x: ["a", (x + random.uniform(0, 2), 1)], 0, 1, 1.0),
}


@pytest.mark.parametrize("name", VIOLATED)
def test_numbers_with_too_many_values_are_decided_by_cells(name: str) -> None:
    function, data_in, data_out, epsilon = VIOLATED[name]
    found = decide(function, data_in, data_out, Claim(epsilon, 1e-9), seconds=30.0)
    assert found.verdict is Verdict.VIOLATED
    assert (found.cells is None) == (name == "a mapping")
    assert found.event is not None


def test_a_claim_that_cells_keep_is_not_said_to_hold() -> None:
    def noisy(x: float) -> float:  # Laplace noise of scale 1, to the last bit
        return x + random.expovariate(1) - random.expovariate(1)

    with pytest.raises(NotFollowedError, match="all digits"):
        decide(noisy, 0.0, 1.0, Claim(1.1, 1e-3), seconds=10.0)


def test_outcomes_as_they_are_have_the_time_that_cells_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[Walk], int]] = []

    def short(source: Source, walks: list[Walk], claim: Claim, seconds: float) -> comparison.Comparison:
        asked.append((walks, walks[0].paths))
        return decided(source, walks, claim, min(seconds, 0.5))

    decided = comparison._decided
    monkeypatch.setattr(comparison, "_decided", short)
    found = decide(lambda x: round(x + random.gauss(0.0, 9.0), 2), 0.0, 0.01, Claim(0.5), seconds=20.0)
    assert found.verdict is Verdict.UNRESOLVED
    assert [walks is asked[0][0] for walks, _ in asked] == [True, False, True]
    assert asked[2][1] > 0  # it goes on where it was
