"""The laws of a member in two worlds, made comparable: independent keys multiplied out as far as it needs."""

from __future__ import annotations

from typing import Any

from subnormal.attacks.core.attack import Attack
from subnormal.attacks.core.events import Event, Releases
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.core.product_law import Product

Described = Law[Any] | Product[Any]


def both_laws(
    mechanism: Mechanism[Any, Any, Any], attack: Attack[Any, Any, Any], worlds: tuple[Any, Any]
) -> tuple[Described, Described] | None:
    """Return the member's laws in both worlds, or None where it has none for them."""
    if mechanism.law is None:
        return None
    try:
        return mechanism.law(worlds[0], attack.parameters), mechanism.law(worlds[1], attack.parameters)
    except NoLawError:
        return None


def multiplied(
    law_in: Law[Any] | Product[Any], law_out: Law[Any] | Product[Any], event: Event | None = None
) -> tuple[Law[Any], Law[Any]]:
    """Return two laws as they are, and of two products those of the keys that differ, or that the event looks at.

    Raises TypeError for a law and a product.
    """
    if isinstance(law_in, Law) and isinstance(law_out, Law):
        return law_in, law_out
    if not (isinstance(law_in, Product) and isinstance(law_out, Product)):
        raise TypeError("two laws or two products can be compared, not one of each")
    keys = set(law_in.differing(law_out))
    if isinstance(event, Releases):
        keys.add(event.key)
    elif event is not None:
        keys |= {*law_in.parts, *law_out.parts}
    return law_in.on(keys), law_out.on(keys)


def whole(laws: tuple[Described, Described] | None) -> tuple[Law[Any], Law[Any]] | None:
    """Return the laws of whole outcomes: products with all their keys multiplied out; None where that is too large."""
    if laws is None:
        return None
    try:
        law_in, law_out = (law.on(law.parts) if isinstance(law, Product) else law for law in laws)
    except NoLawError:
        return None
    return law_in, law_out
