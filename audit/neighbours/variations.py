"""Variations of a pair: its choices with a few edits, from which the same strategies draw another pair.

A row is repeated, left out, or put in the place of another one; numbers move, one alone or all equal ones alike. So a
search can climb from the best pair that it has seen: to more records of the kind that tells the inputs apart, or to
larger ones. The strategies draw anew what an edit leaves open, and refuse what they do not permit.
"""

from __future__ import annotations

from random import Random
from typing import Any

from subnormal.audit.neighbours.choices import Choice, is_structure

EDITS = (1, 1, 2, 3)  # of one variation
COPIES = (1, 1, 2, 4, 8, 16)  # of a row

Choices = tuple[Choice, ...]


def variation(choices: Choices, random: Random) -> Choices:
    """Return choices with a few edits."""
    for _ in range(random.choice(EDITS)):
        edit = random.choice((_with_rows_repeated, _with_row_replaced, _without_row, _with_numbers_moved))
        choices = edit(choices, random)
    return choices


def _with_rows_repeated(choices: Choices, random: Random) -> Choices:
    start, end = _row(choices, random)
    return choices[:end] + choices[start:end] * random.choice(COPIES) + choices[end:]


def _with_row_replaced(choices: Choices, random: Random) -> Choices:
    (start, end), (first, last) = _row(choices, random), _row(choices, random)
    return choices[:start] + choices[first:last] + choices[end:]


def _without_row(choices: Choices, random: Random) -> Choices:
    start, end = _row(choices, random)
    return choices[:start] + choices[end:]


def _row(choices: Choices, random: Random) -> tuple[int, int]:
    """Return where a row begins and ends: at choices that say whether another entry follows. Where there is none, any
    place, with nothing in it."""
    places = [place for place, choice in enumerate(choices) if is_structure(choice)]
    if len(places) < 2:
        place = random.randrange(len(choices) + 1)
        return place, place
    first = random.randrange(len(places) - 1)
    last = first + 1 if random.random() < 3 / 4 else random.randrange(first + 1, len(places))
    return places[first], places[last]


def _with_numbers_moved(choices: Choices, random: Random) -> Choices:
    """Return choices of which one has another value, or all that are equal to it."""
    if not choices:
        return choices
    place = random.randrange(len(choices))
    chosen = choices[place]
    alike = [one.value for one in choices if one.kind == chosen.kind]
    value = random.choice([*_moved(chosen, random), random.choice(alike)])
    if not chosen.permits(value):
        return choices
    places = _equal(choices, chosen) if random.random() < 1 / 2 else {place}
    other = Choice(chosen.kind, value, chosen.constraints)
    return tuple(other if at in places else one for at, one in enumerate(choices))


def _equal(choices: Choices, chosen: Choice) -> set[int]:
    return {
        place
        for place, one in enumerate(choices)
        if one.kind == chosen.kind and one.value == chosen.value and one.constraints == chosen.constraints
    }


def _moved(choice: Choice, random: Random) -> list[Any]:
    """Return other values: of a number its negative, its double, its half, the bounds and a number between them."""
    value = choice.value
    if choice.kind == "boolean":
        return [not value]
    if choice.kind not in ("integer", "float"):
        return []
    low, high = choice.constraints["min_value"], choice.constraints["max_value"]
    bounds = [one for one in (low, high) if one is not None]
    if choice.kind == "integer":
        between = [random.randint(low, high)] if len(bounds) == 2 else []
        return [-value, 2 * value, value // 2, value + 1, value - 1, *between, *bounds]
    between = [low + (high - low) * random.random()]
    return [-value, 2 * value, value / 2, *between, *bounds]
