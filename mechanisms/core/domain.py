"""Finite domains of data, given as vectors of integers, and symmetries of pairs of data.

A claim is decided over a whole domain by `subnormal.audit.evidence.every_pair`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.mechanism import D, P

Points = NDArray[np.int64]  # data as vectors of integers, one a row

DATA_MAX = 1 << 22  # data of a domain that is written down


@dataclass(frozen=True, eq=False)
class Domain(Generic[D, P]):
    """A finite set of data, and which of them are neighbours.

    text: the domain as it is written on the command line.
    parameters: the public parameters that all of its data share.
    points: the data as integers, shape (data, width), each once.
    data_of(point): the data of one row of points.
    neighbours(point): all other points of the domain whose data are adjacent to this one's, shape (found, width).
    """

    text: str
    parameters: P
    points: Points
    data_of: Callable[[Points], D]
    neighbours: Callable[[Points], Points]

    @cached_property
    def index(self) -> Index:
        """The numbers of its points."""
        return Index(self.points)


class Index:
    """Finds the numbers of points in a set of points.

    Raises ValueError where a point is given twice, or where their range does not fit 64 bits.

    >>> Index(np.array([[0, 1], [2, 3]])).find(np.array([[2, 3], [2, 2], [9, 9]])).tolist()
    [1, -1, -1]
    """

    def __init__(self, points: Points) -> None:
        self._least, self._most = points.min(axis=0), points.max(axis=0)
        ends = zip(self._least.tolist(), self._most.tolist(), strict=True)
        sizes = [most - least + 1 for least, most in ends]  # Python's integers: 64 bits may not hold them
        if prod(sizes) >= 1 << 62:
            raise ValueError(f"points must span fewer than 2^62 vectors, got {sizes}")
        self._radix = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)
        codes = (points - self._least) @ self._radix
        self._order = np.argsort(codes, kind="stable")
        self._codes = codes[self._order]
        if (self._codes[1:] == self._codes[:-1]).any():
            raise ValueError("points must be distinct")

    def find(self, points: Points) -> NDArray[np.int64]:
        """Return the number of each point, −1 for one that is not in the set; shape (points,)."""
        inside = ((points >= self._least) & (points <= self._most)).all(axis=1)
        codes = np.where(inside, (points - self._least) @ self._radix, -1)
        at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return np.where(inside & (self._codes[at] == codes), self._order[at], -1)


def box(low: int, high: int, width: int) -> Points:
    """Return all vectors of so many integers from low to high, shape ((high − low + 1)^width, width).

    Raises ValueError for more than 2^22 of them, for none, and for a width that is not from 1 to 2^22.

    >>> box(0, 1, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    size = high - low + 1
    if size < 1 or not 1 <= width <= DATA_MAX or size ** min(width, DATA_MAX.bit_length()) > DATA_MAX:
        raise ValueError(f"a domain has from 1 to {DATA_MAX} data, got {size}^{width}")
    numbers = np.arange(size**width, dtype=np.int64)[:, np.newaxis]
    points: Points = numbers // size ** np.arange(width, dtype=np.int64)[::-1] % size + low
    return points


def moves_within(reach: int, width: int) -> Points:
    """Return all vectors whose entries lie between ±reach, apart from 0: how L-infinity neighbours differ."""
    moves = box(-reach, reach, width)
    return moves[moves.any(axis=1)]


def by_moves(points: Points, moves: Points) -> Callable[[Points], Points]:
    """Return the function from a point to those of the points that are one of the moves away."""
    index = Index(points)

    def neighbours(point: Points) -> Points:
        reached: Points = point + moves
        return reached[index.find(reached) >= 0]

    return neighbours


def options_text(name: str, **options: object) -> str:
    """Return a domain as text.

    >>> options_text("utilities", most=11, epsilon=0.5)
    'utilities@most=11,epsilon=0.5'
    """
    return f"{name}@{','.join(f'{option}={value}' for option, value in options.items())}"


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A map of pairs of data that changes no divergence between the two laws of a pair.

    A member that has it says so in its record; a test compares it with the laws of every pair of a small domain.

    map(points_in, points_out): for every pair, the pair that stands for it; arrays of shape (pairs, width).
    """

    name: str
    map: Callable[[Points, Points], tuple[Points, Points]]


def _least_subtracted(points_in: Points, points_out: Points) -> tuple[Points, Points]:
    return points_in - points_in.min(axis=1, keepdims=True), points_out - points_out.min(axis=1, keepdims=True)


def _sorted_together(points_in: Points, points_out: Points) -> tuple[Points, Points]:
    order = np.lexsort((points_out, points_in), axis=1)
    return np.take_along_axis(points_in, order, axis=1), np.take_along_axis(points_out, order, axis=1)


SHIFT = Symmetry("shift", _least_subtracted)  # a constant added to all utilities of one world changes no law
PERMUTATION = Symmetry("permutation", _sorted_together)  # places exchanged in both worlds: outcomes get other names
