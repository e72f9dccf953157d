"""How the numbers of a tuple are related, as steps of paths: signed sums of two or three of them, their sizes, and how
many pairs are not in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

from subnormal.attacks.core.outcome_readings import Reading

INVERSIONS: Reading = ("number of pairs of parts whose first one is larger",)
PARTS_MAX = 12  # numbers of a tuple that are related in twos; in threes, half as many
Signs: TypeAlias = tuple[tuple[int, int], ...]  # (place, sign)


def _sums() -> Iterator[tuple[str, Signs]]:
    for one, other in combinations(range(PARTS_MAX), 2):
        yield f"difference of parts {one} and {other}", ((one, 1), (other, -1))
        yield f"sum of parts {one} and {other}", ((one, 1), (other, 1))
    for three in combinations(range(PARTS_MAX // 2), 3):
        for last in three:
            one, other = (place for place in three if place != last)
            yield f"sum of parts {one} and {other} less part {last}", ((one, 1), (other, 1), (last, -1))


RELATIONS: dict[Reading, tuple[Signs, bool]] = {  # name: (places and signs, whether the size of the sum is meant)
    (f"size of the {name}" if is_size else name,): (signs, is_size)
    for name, signs in _sums()
    for is_size in (False, True)
}


def relations(width: int, most: int = 3) -> list[Reading]:
    """Return what relates the numbers of tuples of this length, in twos and threes; nothing of longer tuples."""
    if not 2 <= width <= PARTS_MAX:
        return []
    most = most if width <= PARTS_MAX // 2 else 2
    sums = [
        name
        for name, (signs, _) in RELATIONS.items()
        if len(signs) <= most and all(place < width for place, _ in signs)
    ]
    return [INVERSIONS, *sums]
