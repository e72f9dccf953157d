"""Bounds of constraints against a count of all numbers in small boxes."""

import itertools
import operator
import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from subnormal.audit.laws.forest import bounds
from subnormal.audit.laws.lazy import Lazy, uniform
from subnormal.audit.laws.path import Box, Path, StoppedError

Question = Callable[[list[Lazy]], bool]


def asked(questions: list[Question], answers: list[bool], boxes: list[Box]) -> Path:
    path = Path(boxes=list(boxes), answers=dict(enumerate(answers)), least=0.0)
    numbers = [uniform(path) for _ in boxes]
    with suppress(StoppedError):  # where the boxes decide otherwise
        for question in questions:
            question(numbers)
    return path


def counted(path: Path) -> Fraction:
    points = list(itertools.product(*(range(low, high) for low, high in path.boxes)))
    held = [all(bool(one.test(dict(enumerate(point)))) for one in path.constraints) for point in points]
    return Fraction(sum(held), len(points))


CHAIN: list[Question] = [lambda u: u[0] < u[1], lambda u: u[1] + 0.0 <= u[2] * 2.0]
STAR: list[Question] = [lambda u: u[0] < u[1], lambda u: u[2] <= u[0], lambda u: u[0] + u[2] < 2.0**-49]
CIRCLE: list[Question] = [lambda u: u[0] < u[1], lambda u: u[1] < 2.0 * u[2], lambda u: u[2] < 1.5 * u[0]]
THREE: list[Question] = [lambda u: u[0] + u[1] < u[2]]
FALLING: list[Question] = [lambda u: (2.0**-49 - u[1]) - u[2] < u[0], lambda u: (2.0**-49 - u[1]) - u[2] > 2.0**-51]
SHARED: list[Question] = [lambda u: u[0] + u[1] < u[2], lambda u: u[0] + u[3] < u[2]]
TWICE: list[Question] = [lambda u: u[0] + u[1] < u[2], lambda u: u[0] + 3.0 * u[1] < 2.0 * u[2]]


@pytest.mark.parametrize("questions", [CHAIN, STAR, CIRCLE, THREE, FALLING, SHARED, TWICE])
@pytest.mark.parametrize("seed", range(6))
def test_small_boxes_are_counted(questions: list[Question], seed: int) -> None:
    draw = random.Random(seed)
    boxes = [(first := draw.randrange(9), first + draw.randrange(1, 12)) for _ in range(4)]
    path = asked(questions, [draw.random() < 0.6 for _ in questions], boxes)
    if path.constraints:
        low, high = bounds(path.boxes, path.constraints, 1 << 9)
        assert low <= counted(path) <= high
        assert high - low < Fraction(1, 10**8)


@pytest.mark.parametrize("strips", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(4))
def test_wide_strips_bound_the_count(strips: int, seed: int) -> None:
    draw = random.Random(seed)
    boxes = [(first := draw.randrange(9), first + draw.randrange(9, 14)) for _ in range(3)]
    path = asked(STAR, [draw.random() < 0.6 for _ in STAR], boxes)
    if path.constraints:
        low, high = bounds(path.boxes, path.constraints, strips)
        assert low <= counted(path) <= high


def test_finer_strips_narrow_the_bounds() -> None:
    path = asked([lambda u: u[0] < u[1]], [True], [(0, 1 << 53)] * 2)
    widths = []
    for strips in (16, 256, 4096):
        low, high = bounds(path.boxes, path.constraints, strips)
        assert low < Fraction(1, 2) < high
        widths.append(float((high - low) * strips))
    assert widths == pytest.approx([1.0, 1.0, 1.0], rel=1e-6)


def test_what_follows_from_an_order_is_not_asked() -> None:
    path = Path()
    first, second, third = (uniform(path) for _ in range(3))
    assert first < second
    assert second <= third
    assert first < third
    assert not third <= first
    assert not operator.gt(first, third)
    assert len(path.constraints) == 2
    assert len(path.pending) == 2


def test_a_strict_order_is_no_equality() -> None:
    path = Path(answers={0: True, 1: False})
    first, second = uniform(path), uniform(path)
    assert first <= second
    assert not first < second
    assert len(path.constraints) == 2


def test_an_answer_that_the_boxes_contradict_leads_nowhere() -> None:
    path = Path(boxes=[(0, 4), (8, 9)], answers={0: False})
    numbers: list[Any] = [uniform(path) for _ in path.boxes]
    with pytest.raises(StoppedError):
        assert numbers[0] < numbers[1]
    assert path.impossible


FAN: list[Question] = [lambda u: u[1] < u[0], lambda u: u[2] < u[0], lambda u: u[3] < u[0]]


def test_numbers_that_add_the_same_are_told_from_those_that_do_not() -> None:
    boxes = [(3, 9)] * 4
    for answers in itertools.product([False, True], repeat=3):
        path = asked(FAN, list(answers), boxes)
        low, high = bounds(path.boxes, path.constraints, 1 << 9)
        assert low <= counted(path) <= high
        assert high - low < Fraction(1, 10**8)


def test_a_number_with_constraints_of_its_own_adds_less() -> None:
    fan: list[Question] = [lambda u: u[0] - u[1] < u[2], lambda u: u[3] < u[2], lambda u: u[0] - u[1] < -(2.0**-52)]
    for answer in (True, False):
        path = asked(fan, [True, True, answer], [(0, 8)] * 4)
        assert len(path.constraints) == len(fan)
        low, high = bounds(path.boxes, path.constraints, 1 << 9)
        assert low <= counted(path) <= high
        assert high - low < Fraction(1, 10**8)
