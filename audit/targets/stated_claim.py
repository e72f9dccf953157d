"""The claim of somebody else's mechanism, as its user states it, and the attacks that fit it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from subnormal.attacks.catalogue import at_epsilon
from subnormal.attacks.core.attack import Attack, given
from subnormal.audit.evidence import neighbouring_inputs
from subnormal.audit.targets.json_lines import TargetError
from subnormal.mechanisms.core.domain import Domain
from subnormal.mechanisms.core.mechanism import Family, Mechanism
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import Claim

SEARCH = "neighbours"  # the attack that looks for inputs and an event itself

AnyAttack = Attack[Any, Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class StatedClaim:
    """What is claimed: ε (nats), δ, the sensitivity and the domain it holds for. None: what the attack's own parameters
    say, and any number.

    ε: the attacks are made for it where they are derived from a budget. Where a family has no budget among its
    parameters, ε changes what is claimed and not what is asked. sensitivity: becomes the public parameter, so it says
    which inputs are adjacent; the inputs themselves stay as they are. δ: becomes the public parameter where there is
    one. Where δ follows from other parameters, as from a threshold, the attacks are made for it: a target that takes
    these from them then owes the claim, and one that has its own says what they promise.
    """

    epsilon: float | None = None
    delta: float | None = None
    sensitivity: float | None = None
    domain: Domain | None = None

    def attack(self, attack: AnyAttack) -> AnyAttack:
        """Return the attack for this claim. Raises ValueError, naming the option, where there is none."""
        if self.epsilon is not None:
            attack = _made("epsilon", self.epsilon, attack, at_epsilon)
        if self.delta is not None:
            attack = _made("delta", self.delta, attack, _at_delta)
        if self.sensitivity is not None:
            change = family(attack.family).with_sensitivity
            if change is None:
                raise ValueError(
                    f"--sensitivity {self.sensitivity:g}: {attack.name} has none, as any data are adjacent"
                )
            attack = _made("sensitivity", self.sensitivity, attack, partial(_changed, change))
        if self.domain is not None:
            attack = _within(attack, self.domain)
        if self.sensitivity is not None and not family(attack.family).adjacent(attack.parameters, *attack.worlds()):
            raise ValueError(f"--sensitivity {self.sensitivity:g}: the inputs of {attack.name} lie further apart")
        return attack

    def claim(self, of: Family[Any, Any, Any], parameters: Any, data_in: Any, data_out: Any) -> Claim:
        """Return the promise for a pair of worlds: what is stated, and else what the family's parameters promise."""
        usual = of.claim(parameters, data_in, data_out)
        return Claim(
            usual.epsilon if self.epsilon is None else self.epsilon, usual.delta if self.delta is None else self.delta
        )


def _made(option: str, value: float, attack: AnyAttack, make: Callable[[AnyAttack, float], AnyAttack]) -> AnyAttack:
    """Return the attack made for the value of an option. Raises ValueError, naming both, where it cannot be."""
    try:
        return make(attack, value)
    except ValueError as error:
        raise ValueError(f"--{option} {value:g}: {attack.name} cannot be made for it: {error}") from None


def _changed(change: Callable[[Any, float], Any], attack: AnyAttack, value: float) -> AnyAttack:
    return dataclasses.replace(attack, parameters=change(attack.parameters, value))


def _at_delta(attack: AnyAttack, delta: float) -> AnyAttack:
    """Return the attack with the parameters for this δ. Its name says so where others than δ itself have changed."""
    change = family(attack.family).with_delta
    if change is None:
        return attack
    made = _changed(change, attack, delta)
    if hasattr(made.parameters, "delta"):
        return made
    base, _, options = attack.name.partition("@")
    kept = [option for option in options.split(",") if option.startswith("epsilon=")]
    return dataclasses.replace(made, name=f"{base}@{','.join([*kept, f'delta={delta}'])}")


def _within(attack: AnyAttack, domain: Domain) -> AnyAttack:
    try:
        data_in, data_out = (domain.taken(data) for data in attack.worlds())
    except ValueError as error:
        raise ValueError(f"--domain: the inputs of {attack.name} lie outside: {error}") from None
    if not family(attack.family).adjacent(attack.parameters, data_in, data_out):
        raise ValueError(f"--domain: the inputs of {attack.name} are none of its family in {domain}")
    return dataclasses.replace(attack, worlds=partial(given, (data_in, data_out)))


def attacks_for_claim(
    attacks: Iterable[AnyAttack], stated: StatedClaim, skipped: Callable[[str], None] | None = None
) -> list[AnyAttack]:
    """Return the attacks for a claim, each once. skipped is told why of one that cannot be made; None: ValueError."""
    found: dict[str, AnyAttack] = {}
    for attack in attacks:
        try:
            made = stated.attack(attack)
        except ValueError as error:
            if skipped is None:
                raise
            skipped(str(error))
            continue
        found.setdefault(made.name, made)
    return list(found.values())


def search_attacks(
    mechanism: Mechanism[Any, Any, Any], stated: StatedClaim, seed: int, runs: int, skipped: Callable[[str], None]
) -> list[AnyAttack]:
    """Return an attack on the most telling of the family's usual inputs for a claim, with an event learned on them.

    None where there is none, or the target fails on one of them, of which skipped is told: other rows do not notice.
    """
    known, domain = family(mechanism.family), stated.domain or Domain()
    try:
        parameters, pairs = known.search(stated.epsilon, stated.delta, stated.sensitivity, domain)
        covered = neighbouring_inputs.among(pairs, partial(known.adjacent, parameters))
        if not covered:
            raise ValueError(f"none of the usual inputs of {known.name} are in the domain and within the sensitivity")
        attack, _ = neighbouring_inputs.found(mechanism, parameters, covered, seed=seed, runs=runs)
    except (TargetError, ValueError) as error:
        skipped(f"{SEARCH}: {error}")
        return []
    return [dataclasses.replace(attack, name=SEARCH)]
