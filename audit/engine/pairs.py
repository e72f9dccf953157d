"""Crossings: which members each attack examines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from subnormal.attacks import catalogue
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.unreachable import Unreachable
from subnormal.audit.evidence import side_channels
from subnormal.audit.values.reference import constant
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.core.options import split, unknown
from subnormal.mechanisms.families import absent, exact_members, family, is_member, member, members
from subnormal.mechanisms.privacy import Claim


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """One attack against one member.

    It is pickled by its names if the catalogue and the families have them, and else by the names that a module has for
    them: their functions need not be picklable.
    """

    attack: AnyAttack
    mechanism: AnyMechanism

    def __reduce__(self) -> tuple[Callable[..., Crossing], tuple[AnyAttack | str, AnyMechanism | str]]:
        attack = self.attack.name if catalogue.shows(self.attack) else constant(self.attack) or self.attack
        mechanism = self.mechanism
        return _named, (attack, mechanism.name if is_member(mechanism) else constant(mechanism) or mechanism)

    @property
    def seen(self) -> AnyMechanism:
        """The member as the attacker sees it: through the attack's channel, where it has one."""
        channel = self.attack.channel
        return self.mechanism if channel in (None, "time") else side_channels.traced(self.mechanism, channel)

    def claimed(self) -> tuple[tuple[Any, Any], Claim]:
        """Return the worlds and what the member as it is seen promises for them. Raises as `adjacent_worlds` does."""
        worlds = adjacent_worlds(self.attack)
        return worlds, self.seen.claim(self.attack.parameters, *worlds)


def adjacent_worlds(attack: AnyAttack) -> tuple[Any, Any]:
    """Return the worlds. Raises ValueError where they are not adjacent, LookupError for an unknown family."""
    worlds = attack.worlds()
    if not family(attack.family).adjacent(attack.parameters, *worlds):
        raise ValueError("the attack's worlds are not adjacent: no claim covers them")
    return worlds


def _named(attack: AnyAttack | str, mechanism: AnyMechanism | str) -> Crossing:
    return Crossing(_found(attack, catalogue.attack), _found(mechanism, member))


def _found(one: Any, find: Callable[[str], Any]) -> Any:
    if not isinstance(one, str):
        return one
    module, colon, name = one.partition(":")
    return getattr(import_module(module), name) if colon else find(one)


def crossings(
    attacks: Iterable[AnyAttack], *, mechanisms: Sequence[str | AnyMechanism] = (), everything: bool = False
) -> list[Crossing]:
    """Return the crossings of attacks with members that have an expected verdict, side channels last.

    These are the members that an attack breaks, its fixes, and the first exact member that must resist; other exact
    members only if they are named. Members of other libraries without a law have no expected verdict, so they meet
    every quick attack on outcomes whose event is not about another member, and every attack if they are named. An
    attack that breaks only members of libraries is left out if none is installed, and always if its event is about such
    a member. A variant of a member meets the attacks that name it, or every attack if it is named itself. A member that
    no attack of the catalogue names meets every quick attack on outcomes if it is named. A guest, which is a mechanism
    that no family lists, meets these too, the attacks that name it, and those that the catalogue does not show; one
    with options also meets the attacks of the member whose options they are.
    mechanisms: names of members, or mechanisms; empty: all members. everything: also crossings without an expected
    verdict.
    Raises LookupError for an attack that names a member that its family does not have, and for an unknown family, and
    ValueError for two different mechanisms of the same name.
    """
    asked_for = [member(one) if isinstance(one, str) else one for one in mechanisms]
    for one in asked_for:
        family(one.family)
    asked_names = {one.name for one in asked_for}
    selected = []
    for attack in sorted(attacks, key=lambda one: (one.channel is not None, one.channel == "time")):
        listed, left_out = members(family(attack.family)), {one.name for one in absent(family(attack.family))}
        known = _with_guests(listed, [one for one in asked_for if one.family == attack.family])
        for name in {*attack.breaks, *attack.fixes} - left_out - {mechanism.name for mechanism in known}:
            raise LookupError(f"attack {attack.name!r}: {unknown('mechanism', name, [one.name for one in known])}")
        if attack.breaks and left_out.issuperset(attack.breaks) and not everything:
            continue
        about = attack.event.mechanism if isinstance(attack.event, Unreachable) else None
        if about in left_out:
            continue
        quick = not attack.slow and attack.channel is None
        order = {name: rank for rank, name in enumerate((*attack.breaks, *attack.fixes))}
        exact = [one for one in resisting(attack) if _taken(attack, one)]
        everyone = sorted(known, key=lambda one: order.get(one.name, len(order)))
        for mechanism in everyone:
            guest, base = mechanism not in listed, split(mechanism.name)[0]
            named = guest or mechanism.name in asked_names
            foreign = bool(mechanism.package) and mechanism.law is None and (named or (quick and about is None))
            telling = mechanism.name in order or foreign or mechanism in exact[:1]
            asked = everything and not mechanism.variant_of
            asked |= named and (bool(mechanism.variant_of) or mechanism in exact)
            asked |= guest and (not catalogue.shows(attack) or base in (*order, *(one.name for one in exact)))
            if named and quick and not (telling or asked):
                asked = not catalogue.naming(mechanism.name)  # which builds every attack
            if (named or not mechanisms) and (telling or asked) and _taken(attack, mechanism):
                selected.append(Crossing(attack, mechanism))
    return selected


def _with_guests(listed: Sequence[AnyMechanism], asked_for: Iterable[AnyMechanism]) -> list[AnyMechanism]:
    """Return the members and the mechanisms that are none. Raises ValueError for two of the same name."""
    known = {one.name: one for one in listed}
    for one in asked_for:
        if known.setdefault(one.name, one) is not one:
            raise ValueError(f"two different mechanisms are named {one.name!r}")
    return list(known.values())


def resisting(attack: AnyAttack) -> list[AnyMechanism]:
    """Return the exact members that must resist; through a channel, those that say what their traces tell."""
    known = exact_members(family(attack.family))
    says = [one for one in known if attack.channel is None or one.trace_law is not None]
    return [one for one in says if one.name not in attack.breaks]


def _taken(attack: AnyAttack, mechanism: AnyMechanism) -> bool:
    try:
        if attack.channel == "time" and planned_runs(Crossing(attack, mechanism), 1) == 0:
            return False  # too slow to be timed
        return mechanism.takes is None or all(mechanism.takes(data, attack.parameters) for data in attack.worlds())
    except Exception:  # worlds that cannot be built: their row will say so
        return True


def planned_runs(crossing: Crossing, runs: int) -> int:
    """Return how many runs of each world the row takes: the member's own bound is a number, never the clock."""
    mechanism, attack = crossing.seen, crossing.attack
    return runs if mechanism.runs is None else min(runs, mechanism.runs(attack.worlds()[0], attack.parameters))
