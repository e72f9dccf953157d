"""Rejection time: each try takes time, so a clock measures what `rejection_tries` counts.

Source: Ilvento 2020, Section 3.3 and Figure 9.
"""

from __future__ import annotations

from dataclasses import replace

from subnormal.attacks.core.attack import AnyAttack, index_statistic
from subnormal.attacks.core.constructor import constructor
from subnormal.attacks.side_channels.rejection_tries import TEN_TRIES, rejection_tries


@constructor("rejection-time")
def rejection_time(name: str) -> AnyAttack:
    """Return the attack on Figure 9's pair by a clock: `rejection_tries` proves what this one measures."""
    return replace(
        rejection_tries(),
        name=name,
        event=None,
        statistic=index_statistic,
        fixes=(TEN_TRIES, "exponential-exact"),
        description="total weights 128 with Alice, 128.5 without: just above a power of two half of all tries fail",
        slow=True,
        channel="time",
    )
