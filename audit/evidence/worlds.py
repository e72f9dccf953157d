"""The worlds of an attack and the claim that covers them, checked before anything is run."""

from __future__ import annotations

from typing import Any

from subnormal.attacks.core.attack import Attack
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import Claim


def covered(attack: Attack[Any, Any, Any]) -> tuple[Any, Any]:
    """Return the worlds. Raises ValueError where they are not adjacent, LookupError for an unknown family."""
    worlds = attack.worlds()
    if not family(attack.family).adjacent(attack.parameters, *worlds):
        raise ValueError("the attack's worlds are not adjacent: no claim covers them")
    return worlds


def claimed(attack: Attack[Any, Any, Any], mechanism: Mechanism[Any, Any, Any]) -> tuple[tuple[Any, Any], Claim]:
    """Return the worlds and what the mechanism promises for them. Raises as `covered` does."""
    worlds = covered(attack)
    return worlds, mechanism.claim(attack.parameters, *worlds)
