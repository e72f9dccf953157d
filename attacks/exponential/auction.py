"""An auction of digital goods: with one bid more, a price that nobody hopes for becomes impossible.

The records are bids, all at the highest price P. A price p from P to 0 has the utility −(its revenue) = −p·n, of which
one bid moves P at most. So the weight of P is e^(ε·n/2) and that of 0 is 1: as bids are added the running sum,
which begins at P, grows until it absorbs the last weight, near n = 2p·ln(2)/ε with p bits. At that n Alice's bid makes
the price 0 impossible. The data are an honest auction, with the utility that the exponential mechanism was made for.

Source: Ilvento 2020, Section 1.1, on Burke 2017, who found outcomes of such auctions that only one of two neighbouring
databases has; the pair is derived here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from subnormal.attacks.core.attack import AnyAttack, Attack, index_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.numerics import float_types
from subnormal.mechanisms.privacy import require_positive

SOURCE = "Ilvento 2020 (arXiv:1912.04222), Section 1.1, on Burke 2017; the pair is derived by Subnormal"
BIDS_MAX = 1 << 40


@constructor("auction", ({}, {"float_type": "float16"}))
def auction(name: str, epsilon: float = 1.0, highest: int = 10, float_type: DTypeLike = np.float64) -> AnyAttack:
    """Return the attack: n + 1 bids at the highest price with Alice, n without; prices from the highest down to 0.

    n is the last number of bids found at which the naive mechanism can choose the price 0: its own law decides.
    epsilon: nats. highest: P, in the smallest coin. Raises ValueError unless ε is positive and finite, for P below 1,
    and for a float type that is too coarse for ε.
    """
    require_positive("epsilon", epsilon)
    if highest < 1:
        raise ValueError(f"highest must be at least 1, got {highest}")
    kind = float_types.of(float_type).name
    bids = _last_possible(epsilon, highest, float_type)

    def worlds() -> tuple[Any, Any]:
        return _utilities(bids + 1, highest), _utilities(bids, highest)

    return Attack(
        name=name,
        family="exponential",
        worlds=worlds,
        parameters=ExponentialParameters(epsilon, Limits(-highest * (bids + 1), 0, highest + 1), sensitivity=highest),
        event=OneOf((highest,)),
        statistic=index_statistic,
        breaks=(f"exponential-naive-{kind}",),
        source=SOURCE,
        description="bids in an auction, one more with Alice: the weight of the best price absorbs that of the price 0",
    )


def _utilities(bids: int, highest: int) -> NDArray[np.int64]:
    """Return `score_functions.price` of so many bids at the highest price, for the prices from it down to 0."""
    return -bids * np.arange(highest, -1, -1)


def _last_possible(epsilon: float, highest: int, float_type: DTypeLike) -> int:
    """Return a number of bids at which the price 0 is possible, and with one more it is not."""

    def possible(bids: int) -> bool:
        law = exponential_naive.law(_utilities(bids, highest), epsilon, sensitivity=highest, float_type=float_type)
        return law.probability(highest)[0] > 0

    below, above = 0, 1
    while possible(above):
        below, above = above, 2 * above
        if above > BIDS_MAX:
            break
    if not possible(below) or possible(above):
        kind = float_types.of(float_type).name
        raise ValueError(f"epsilon = {epsilon} has no boundary at less than {above} bids in {kind}")
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if possible(middle) else (below, middle)
    return below
