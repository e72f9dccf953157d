"""Rejection time: each try takes time, so a clock measures what `rejection_tries` counts.

Source: Ilvento 2020, Section 3.3 and Figure 9.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from subnormal.attacks.core.attack import Attack, index_statistic
from subnormal.attacks.core.constructor import Constructor
from subnormal.attacks.side_channels.rejection_tries import TEN_TRIES, rejection_tries


def rejection_time() -> Attack[Any, Any, Any]:
    """Return the attack on Figure 9's pair by a clock: what can be counted is proved there, and only measured here."""
    return replace(
        rejection_tries(),
        name="rejection-time",
        event=None,
        statistic=index_statistic,
        fixes=(TEN_TRIES, "exponential-exact"),
        description="total weights 128 and 128.5: just above a power of two, nearly half of all tries are in vain",
        slow=True,
        channel="time",
    )


CONSTRUCTORS = (Constructor("rejection-time", rejection_time),)
