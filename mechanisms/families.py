"""Every family and member of the house, by name."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

from mechanisms import additive, exponential
from mechanisms.interface import Family, Mechanism

FAMILIES: tuple[Family[Any, Any, Any], ...] = (exponential.FAMILY, additive.LAPLACE, additive.GAUSSIAN)


def family(name: str) -> Family[Any, Any, Any]:
    """Return the family of that name. Raises LookupError, with the nearest name, where there is none."""
    for candidate in FAMILIES:
        if candidate.name == name:
            return candidate
    raise LookupError(unknown("family", name, [candidate.name for candidate in FAMILIES]))


def members(of: Family[Any, Any, Any]) -> tuple[Mechanism[Any, Any, Any], ...]:
    """Return the family's mechanisms, importing their modules."""
    found = []
    for reference in of.members:
        module, attribute = reference.split(":")
        found.append(getattr(import_module(module), attribute))
    return tuple(found)


def member(name: str) -> Mechanism[Any, Any, Any]:
    """Return the mechanism of that name. Raises LookupError, with the nearest name, where there is none.

    >>> member("exponential-base2").family
    'exponential'
    """
    everyone = [mechanism for candidate in FAMILIES for mechanism in members(candidate)]
    for mechanism in everyone:
        if mechanism.name == name:
            return mechanism
    raise LookupError(unknown("mechanism", name, [mechanism.name for mechanism in everyone]))


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Return the message for a name that is not among the known ones, with the nearest of them."""
    nearest = get_close_matches(name, known, n=1, cutoff=0.3)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"known: {', '.join(known)}"
    return f"unknown {kind} {name!r}; {hint}"
