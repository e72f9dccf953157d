"""Noise and sums in few digits: values that the other world cannot reach, and sums that one record moves far."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np

from subnormal.attacks.core.attack import Attack, given
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.core.events import Between
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients

SOURCE = "Mironov 2012 (CCS) and Jin et al. 2021 (arXiv:2112.05307): noise that reaches few floats"
USUAL = "dp-sgd-bfloat16"
LARGEST = 2.53  # the largest normal in bfloat16 from 7 bits is 2.515625


def canary() -> tuple[Gradients, Gradients]:
    """Return a gradient of norm 1, the clipping norm, and zeros in its place."""
    return np.ones((1, 1)), np.zeros((1, 1))


@constructor(
    "unreachable-sums", ({}, *({"mechanism": f"dp-sgd-{float_type}"} for float_type in ("float16", "float32")))
)
def unreachable_sums(
    name: str, multiplier: float = 1.0, mechanism: str = USUAL
) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: with Alice the sum is C, without her 0. The event is an outcome that C cannot lead to.

    Each world reaches one value for each word: 128 in bfloat16, 1,024 in float16, 2^23 in float32. Most are reached in
    one world alone: δ is their mass, at every finite ε.

    multiplier: the standard deviation of the noise, in clipping norms. mechanism: the member that is attacked, by its
    law. Raises ValueError unless the multiplier is positive.
    """
    parameters = DpSgdParameters(multiplier=multiplier)
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=canary,
        parameters=parameters,
        event=Unreachable(mechanism, canary()[0], parameters),
        breaks=(mechanism,),
        source=SOURCE,
        description="one gradient of norm C, or zeros: noise of few random bits has few values, and C excludes most",
        slow=mechanism.endswith("float32"),
        axis="released sum",
    )


@constructor("bounded-noise")
def bounded_noise(name: str, multiplier: float = 1.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: with Alice the sum is C, without her 0, and no noise in bfloat16 is above 2.52·σ·C.

    The event is a sum above that: impossible without her, and as likely with her as noise above 1.53·σ·C at σ = 1.

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=canary,
        parameters=DpSgdParameters(multiplier=multiplier),
        event=Between(LARGEST * multiplier, inf),
        breaks=(USUAL,),
        source="the tails of noise from 7 bits; pytorch issue 166853 reports those of bfloat16",
        description="one gradient of norm C, or zeros: noise in bfloat16 ends at 2.52·σ, and only Alice's sum goes on",
        axis="released sum",
    )


ONES, AFTER, SMALL = 128, 64, -0.26


@constructor("accumulation")
def accumulation(name: str, multiplier: float = 1.0) -> Attack[Gradients, DpSgdParameters, float]:
    """Return the attack: 128 gradients of 1, then Alice's 1 or zeros, then 64 gradients of −0.26, in this order.

    From 128 on numbers of bfloat16 are 1 apart, and below 128 a half. So 129 − 0.26 is rounded to 129, which never
    changes, and 128 − 0.26 to 127.5, then 127, and so on: every further gradient counts as −0.5. Alice's gradient of 1
    moves the sum by 33. The event is a sum of at least 112.5, halfway.

    multiplier: the standard deviation of the noise, in clipping norms. Raises ValueError unless it is positive.
    """
    worlds = tuple(np.repeat([1.0, one, SMALL], [ONES, 1, AFTER])[:, np.newaxis] for one in (1.0, 0.0))
    return Attack(
        name=name,
        family="dp-sgd",
        worlds=partial(given, (worlds[0], worlds[1])),
        parameters=DpSgdParameters(multiplier=multiplier),
        event=Between(112.5, inf),
        breaks=(USUAL,),
        source="after Casacuberta et al. 2022 (arXiv:2207.10635): repeated rounding, here of a sum in bfloat16",
        description="in bfloat16 129 − 0.26 is 129 and 128 − 0.26 is 127.5: Alice's 1 holds the sum up, 64 times",
        axis="released sum",
    )
