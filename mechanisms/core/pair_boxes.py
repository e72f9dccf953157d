"""Boxes of pairs of neighbouring integer vectors, for domains whose pairs are too many to list.

A claim is decided over a whole cube by `subnormal.audit.evidence.pair_boxes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.domain import Points
from subnormal.mechanisms.core.mechanism import P
from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up
from subnormal.mechanisms.privacy import Claim

WIDTH_MAX = 1 << 20
MOST_MAX = 1 << 53


@dataclass(frozen=True, eq=False)
class Cube(Generic[P]):
    """All integer vectors of `width` entries from 0 to `most`; neighbours differ nowhere by more than `apart`.

    text: the domain as it is written on the command line. parameters: the public ones that all of its data share.
    Raises ValueError for a width above 2^20, and for entries above 2^53.
    """

    text: str
    parameters: P
    most: int
    width: int
    apart: int

    def __post_init__(self) -> None:
        if not 1 <= self.width <= WIDTH_MAX or self.most > MOST_MAX:
            raise ValueError(
                f"a domain has at most {WIDTH_MAX} entries up to {MOST_MAX}, got {self.width}, {self.most}"
            )

    @property
    def data(self) -> int:
        """The number of its vectors."""
        return int((self.most + 1) ** self.width)

    @property
    def pairs(self) -> int:
        """The number of ordered pairs of neighbours."""
        apart = min(self.apart, self.most)
        return int(((self.most + 1) * (2 * apart + 1) - apart * (apart + 1)) ** self.width) - self.data

    def whole(self, width: int) -> PairBox:
        """Return the box of all pairs of such vectors of this width."""
        low, high = np.zeros(width, dtype=np.int64), np.full(width, self.most, dtype=np.int64)
        return PairBox(low, high, low, high, self.apart)


@dataclass(frozen=True, eq=False)
class PairBox:
    """All pairs of integer vectors between four others, entry by entry, which differ nowhere by more than `apart`.

    The first world lies from low_in to high_in, the second from low_out to high_out; all of shape (width,).
    """

    low_in: Points
    high_in: Points
    low_out: Points
    high_out: Points
    apart: int

    @property
    def is_pair(self) -> bool:
        """Whether it is a single pair."""
        return bool((self.low_in == self.high_in).all() and (self.low_out == self.high_out).all())

    @property
    def rises(self) -> Points:
        """By how much each entry is larger in the second world, at most; shape (width,)."""
        rises: Points = np.minimum(self.apart, self.high_out - self.low_in)
        return rises

    @property
    def falls(self) -> Points:
        """By how much each entry is smaller in the second world, at most; shape (width,)."""
        falls: Points = np.minimum(self.apart, self.high_in - self.low_out)
        return falls

    def of_groups(self, group: NDArray[np.int64]) -> PairBox:
        """Return the box of the pairs whose entry j is entry group[j] of one of these."""
        return PairBox(self.low_in[group], self.high_in[group], self.low_out[group], self.high_out[group], self.apart)

    def halves(self) -> Iterator[PairBox]:
        """Yield two boxes that together have all of its pairs: the widest entry is cut, the first world's before."""
        side = "in" if (self.high_in > self.low_in).any() else "out"
        low, high = getattr(self, f"low_{side}"), getattr(self, f"high_{side}")
        at = int((high - low).argmax())
        middle = int(low[at] + high[at]) // 2
        below, above = high.copy(), low.copy()
        below[at], above[at] = middle, middle + 1
        for half in (replace(self, **{f"high_{side}": below}), replace(self, **{f"low_{side}": above})):
            yield half._reached()

    def lowered(self) -> PairBox | None:
        """Return a box with all of its pairs that have an entry 0, in either world; None if no pair has."""
        places = np.flatnonzero(np.minimum(self.low_in, self.low_out) == 0)
        if len(places) > 1:
            return self
        if not len(places):
            return None
        high_in, high_out = self.high_in.copy(), self.high_out.copy()
        for high in (high_in, high_out):  # the entry that is 0 in one world is near it in the other
            high[places] = np.minimum(high[places], self.apart)
        return replace(self, high_in=high_in, high_out=high_out)

    def corner(self) -> tuple[Points, Points]:
        """Return one of its pairs: one entry is as high as possible and rises, the others are low and fall."""
        own = int((self.high_in - self.low_in).argmax())
        points_in = np.minimum(self.high_in, np.maximum(self.low_in, self.low_out + self.apart))
        points_out = self.low_out.copy()
        points_in[own] = max(self.low_in[own], self.high_out[own] - self.apart)
        points_out[own] = self.high_out[own]
        return points_in, points_out

    def _reached(self) -> PairBox:
        """Return the box without the entries that have no neighbour in the other world."""
        low_in = np.maximum(self.low_in, self.low_out - self.apart)
        high_in = np.minimum(self.high_in, self.high_out + self.apart)
        low_out = np.maximum(self.low_out, low_in - self.apart)
        high_out = np.minimum(self.high_out, high_in + self.apart)
        return PairBox(low_in, high_in, low_out, high_out, self.apart)


def single(points_in: Points, points_out: Points, apart: int) -> PairBox:
    """Return the box of one pair."""
    return PairBox(points_in, points_in, points_out, points_out, apart)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Certified upper bounds over a box of pairs, from the first world's law to the second's.

    epsilon: of the largest ln(P/Q) of an outcome, in nats. delta: of the divergence at the claimed ε, 0 if it is 0.
    """

    epsilon: float
    delta: float

    @classmethod
    def of_loss(cls, loss: Fraction, claim: Claim) -> Ceiling:
        """Return the bounds that follow from one on the loss: Σ(P − e^ε·Q)₊ ≤ Σ(P − e^(ε − loss)·P)₊."""
        beyond = loss - Fraction(claim.epsilon)
        return cls(float_up(loss), 0.0 if beyond <= 0 else min(1.0, float_up(1 - exp_bounds(-beyond)[0])))
