"""Bounds on the loss of exact selection over a box of pairs of utilities.

Let the second world's utility of outcome i be at most r above the first's, and those of all others at most f below it.
Three properties of a law are enough: an outcome's probability P falls in its own utility and rises in the others'; a
constant added to all utilities changes nothing; and k more of its own utility divide P by at most w^k, w = e^rate. Then

    Q(u) ≥ P(u_i + r, others − f) = P(u_i + r + f, others) ≥ P(u)·w^−(r + f),

so the loss is at most rate·(r + f). The exponential mechanism and permute-and-flip (McKenna, Sheldon 2020, Section 4)
have all three; tests compare the bound with every pair of small boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.pair_boxes import Ceiling, PairBox
from subnormal.mechanisms.exponential.family import ExponentialParameters
from subnormal.mechanisms.numerics.interval import Interval, exp, expm1, interval, log1p
from subnormal.mechanisms.numerics.mpfr import fraction
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.samplers.float_weights import Rate, nats

_Ceiling = Callable[[PairBox, ExponentialParameters, Claim], Ceiling]


def by_moves(rate_of: Callable[[ExponentialParameters], Rate]) -> _Ceiling:
    """Return the bound rate·(r + f), for a law with the three properties."""

    def ceiling(box: PairBox, parameters: ExponentialParameters, claim: Claim) -> Ceiling:
        return Ceiling.of_loss(nats(rate_of(parameters))[1] * int(_moves(box).max()), claim)

    return ceiling


def by_moves_and_weight(rate_of: Callable[[ExponentialParameters], Rate]) -> _Ceiling:
    """Return the same bound for the exponential mechanism, and less where no probability is small.

    Of weights v_j in the first world, the second has at least v_i·w^−r and at most v_j·w^f. So P/Q is at most
    w^r·(P·w^−r + (1 − P)·w^f) = P + (1 − P)·w^(r + f), which falls in P; P is least where its own utility is highest
    and the others lowest.
    """

    def ceiling(box: PairBox, parameters: ExponentialParameters, claim: Claim) -> Ceiling:
        low, high = nats(rate_of(parameters))
        kinds = np.stack([_moves(box), box.high_in - box.low_in, box.low_in], axis=1)
        moves, at, of = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
        counts = np.bincount(of.ravel()).tolist()
        best = int(box.low_in.min())
        lightest, heaviest = (
            [exp(-interval(rate) * int(one - best)) for one in ends[at].tolist()]
            for rate, ends in ((high, box.high_in), (low, box.low_in))
        )
        total = sum((weight * count for weight, count in zip(heaviest, counts, strict=True)), interval(0))
        losses = [high * int(most) for most, *_ in moves.tolist()]
        for kind, loss in enumerate(losses):
            others = (total - heaviest[kind]).high
            if loss > 0 and others > 0:
                share = 1 / (1 + lightest[kind] / Interval(others, others))  # of all others together
                losses[kind] = min(loss, fraction(log1p(share * expm1(loss)).high))
        return Ceiling.of_loss(max(Fraction(0), *losses), claim)

    return ceiling


def _moves(box: PairBox) -> NDArray[np.int64]:
    """Return r + f for each outcome, shape (outcomes,): its own rise, and the largest fall of another."""
    rises, falls = box.rises, box.falls
    if len(falls) == 1:
        return np.zeros(1, dtype=np.int64)
    first = int(falls.argmax())
    others = np.full(len(falls), falls[first])
    others[first] = np.delete(falls, first).max()
    moves: NDArray[np.int64] = np.maximum(rises + others, 0)
    return moves
