"""Decides a claim over all neighbouring data of a cube whose pairs are too many to list: branch and bound over boxes.

1. The member bounds the loss and the divergence over a box of pairs, certified. A box within the claim is done.
2. Of any other box one pair is compared exactly, and the box is cut into halves: the one with the largest bound first.
   Once a pair violates the claim, boxes that cannot have a worse pair are done, too.
3. Symmetries of the member leave out boxes whose pairs are those of another box with the outcomes exchanged, or with
   all utilities of both worlds lowered by the same number.
4. Before single entries are cut, two parts of the cube are searched for a violation: data whose entries are all equal,
   and data whose entries but the first are. The boxes of these searches decide nothing else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.audit.evidence import exact
from subnormal.audit.model import BoxEvidence, DomainEvidence, DomainVerdict, ExactEvidence, Verdict, Worlds
from subnormal.audit.values.literal import literals
from subnormal.mechanisms.core.domain import PERMUTATION, SHIFT
from subnormal.mechanisms.core.mechanism import AnyMechanism, NoLawError
from subnormal.mechanisms.core.pair_boxes import Ceiling, Cube, PairBox, single
from subnormal.mechanisms.numerics.mpfr import log_bounds
from subnormal.mechanisms.privacy import Claim

BOXES = 1 << 14  # that are bounded in each of the three searches

Points = NDArray[np.int64]


@dataclass(frozen=True, slots=True, order=True)
class Open:
    """A box that is not done: the largest bounds first, then the smallest box."""

    delta: float  # negative
    epsilon: float  # negative
    size: int
    number: int
    box: PairBox = field(compare=False)

    @property
    def ceiling(self) -> Ceiling:
        """The bounds over the box."""
        return Ceiling(-self.epsilon, -self.delta)


def decide(mechanism: AnyMechanism, cube: Cube[Any], boxes: int = BOXES) -> DomainEvidence:
    """Return what bounds over boxes and the laws of some pairs prove about the member's claim on all pairs of the cube.

    boxes: how many are bounded in each search. Raises NoLawError where the member has no law or no bounds over boxes,
    and ValueError where the cube has no neighbours, or where the claim of the pairs compared depends on the pair.
    """
    if mechanism.law is None or mechanism.ceiling is None:
        raise NoLawError("its pairs are too many to list, and there are no bounds over boxes of pairs")
    if not cube.pairs:
        raise ValueError(f"the domain {cube.text} has no two neighbours")
    each = np.arange(cube.width)
    search = Search(mechanism, cube, mechanism.claim(cube.parameters, *cube.whole(cube.width).corner()))
    left = search.start(each)
    if left:
        for group in (np.zeros_like(each), np.minimum(each, 1)):
            search.explore(group, search.start(group), boxes)
        search.explore(each, left, boxes)
    search.show(each)
    return search.evidence(left)


@dataclass(slots=True, eq=False)
class Search:
    """What is known so far.

    worst: the evidence of the worst pair: by its divergence if one violates the claim, by its loss otherwise.
    epsilon: bounds on the largest loss: of pairs that were compared, and of all pairs of boxes that are done.
    """

    mechanism: AnyMechanism
    cube: Cube[Any]
    claim: Claim
    worst: ExactEvidence | None = None
    pair: tuple[Points, Points] | None = None
    epsilon: tuple[float, float] = (0.0, 0.0)
    bounded: int = 0
    compared: int = 0
    unresolved: int = 0
    seen: set[bytes] = field(default_factory=set)

    def start(self, group: Points) -> list[Open]:
        """Bound the box of the whole cube, and return it unless it is done. Entry j of data is entry group[j] of it."""
        left: list[Open] = []
        whole = self.cube.whole(int(group.max()) + 1)
        self._bound(whole, group, left)
        return left

    def explore(self, group: Points, left: list[Open], boxes: int) -> None:
        """Cut the boxes that are left until none is, or so many are bounded."""
        limit = self.bounded + boxes
        while left and self.bounded < limit:
            first = heappop(left)
            if not self._matters(first.ceiling):
                self._done(first.ceiling.epsilon)
            elif first.box.is_pair:
                self._compare(first.box, group, decisive=True)
            else:
                self._compare(first.box, group)
                for half in first.box.halves():
                    standing = self._standing(half, group)
                    if standing is not None:
                        self._bound(standing, group, left)

    def show(self, group: Points) -> None:
        """Compare a pair exactly where none was, so that its loss is known. Raises ValueError where both refuse."""
        if self.worst is None:
            self._keep(*(points[group] for points in self.cube.whole(len(group)).corner()))

    def evidence(self, left: list[Open]) -> DomainEvidence:
        """Return what is known, given the boxes of the whole cube that are left."""
        assert self.worst is not None
        assert self.pair is not None
        pair, left = self.pair, [one for one in left if self._matters(one.ceiling)]
        worlds = literals(lambda: pair)
        return DomainEvidence(
            mechanism=self.mechanism.name,
            domain=self.cube.text,
            claim=self.claim,
            verdict=self._verdict(left),
            data=None,
            pairs=None,
            boxes=BoxEvidence(
                log10_data=_log10(self.cube.data),
                log10_pairs=_log10(self.cube.pairs),
                bounded=self.bounded,
                left=len(left),
                delta=max((one.ceiling.delta for one in left), default=0.0),
            ),
            laws=2 * self.compared,
            compared=self.compared,
            symmetries=tuple(symmetry.name for symmetry in self.mechanism.symmetries),
            epsilon=(self.epsilon[0], None if left else max(self.epsilon)),
            delta=self.worst.delta,
            unresolved=self.unresolved,
            worst=None if worlds is None else Worlds(*worlds),
            pair=pair,
        )

    def _verdict(self, left: list[Open]) -> DomainVerdict:
        if self._violated:
            return DomainVerdict.VIOLATED
        return DomainVerdict.UNRESOLVED if left or self.unresolved else DomainVerdict.HOLDS

    @property
    def _violated(self) -> bool:
        return self.worst is not None and self.worst.verdict is Verdict.VIOLATED

    def _matters(self, ceiling: Ceiling) -> bool:
        """Return whether a box with these bounds may have a pair beyond the claim that is worse than the worst."""
        return ceiling.delta > (self.worst.delta if self.worst is not None and self._violated else self.claim.delta)

    def _done(self, loss: float) -> None:
        self.epsilon = self.epsilon[0], max(self.epsilon[1], loss)

    def _bound(self, box: PairBox, group: Points, left: list[Open]) -> None:
        ceiling = self._ceiling(box.of_groups(group))
        if self._matters(ceiling):
            size = int((box.high_in - box.low_in + box.high_out - box.low_out).sum())
            heappush(left, Open(-ceiling.delta, -ceiling.epsilon, size, self.bounded, box))
        else:
            self._done(ceiling.epsilon)

    def _ceiling(self, box: PairBox) -> Ceiling:
        assert self.mechanism.ceiling is not None
        self.bounded += 1
        return self.mechanism.ceiling(box, self.cube.parameters, self.claim)

    def _compare(self, box: PairBox, group: Points, decisive: bool = False) -> None:
        """Compare a pair of the box exactly, if it may be the worst. decisive: its verdict is that of the box."""
        points_in, points_out = (points[group] for points in box.corner())
        ceiling = self._ceiling(single(points_in, points_out, box.apart))
        if (points_in == points_out).all():
            return
        if not self._matters(ceiling):
            self._done(ceiling.epsilon * decisive)
            return
        found = self._keep(points_in, points_out)
        if decisive:
            self.unresolved += found.verdict is Verdict.UNRESOLVED
            self._done(min(ceiling.epsilon, self.claim.epsilon) if found.within == 0 else ceiling.epsilon)

    def _keep(self, points_in: Points, points_out: Points) -> ExactEvidence:
        """Return the exact evidence of a pair, which is kept if it is the worst so far."""
        assert self.mechanism.law is not None
        if self.mechanism.claim(self.cube.parameters, points_in, points_out) != self.claim:
            raise ValueError(f"the claim of {self.mechanism.name} depends on the pair")
        laws = [self.mechanism.law(points, self.cube.parameters) for points in (points_in, points_out)]
        found = exact.compare(laws[0], laws[1], self.claim)
        self.compared += 1
        self.epsilon = max(self.epsilon[0], found.epsilon), self.epsilon[1]
        if self._is_worse(found):
            self.worst, self.pair = found, (points_in, points_out)
        return found

    def _is_worse(self, found: ExactEvidence) -> bool:
        if self.worst is None or self._violated != (found.verdict is Verdict.VIOLATED):
            return not self._violated
        both = (found.delta, self.worst.delta), (found.epsilon, self.worst.epsilon)
        first, second = both if self._violated or self.claim.delta > 0 else both[::-1]
        return first[0] > first[1] or (first[0] == first[1] and second[0] > second[1])

    def _standing(self, box: PairBox, group: Points) -> PairBox | None:
        """Return the part of a box whose pairs are not, up to a symmetry of the member, those of another box."""
        symmetries = self.mechanism.symmetries
        if SHIFT in symmetries:
            lowered = box.lowered()
            if lowered is None:
                return None
            box = lowered
        if PERMUTATION not in symmetries or len(box.low_in) < len(group):
            return box
        ends = np.stack([box.low_in, box.high_in, box.low_out, box.high_out])
        known = hashlib.sha256(ends[:, np.lexsort(ends)].tobytes()).digest()
        if known in self.seen:
            return None
        self.seen.add(known)
        return box


def _log10(value: int) -> float:
    return float(log_bounds(Fraction(value))[0] / log_bounds(Fraction(10))[1])
