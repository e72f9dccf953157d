"""The claim that a user states for a target, and the attacks that fit it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from subnormal.attacks.catalogue import at_epsilon
from subnormal.attacks.core.attack import AnyAttack, given
from subnormal.audit import text
from subnormal.audit.evidence import neighbouring_inputs
from subnormal.audit.targets.json_lines import TargetError
from subnormal.mechanisms.core.domain import Domain
from subnormal.mechanisms.core.mechanism import Family, Mechanism
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import Claim

SEARCH = "neighbours"  # the attack that searches for inputs and an event


@dataclasses.dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim: ε (nats), δ, and the sensitivity and the domain that it holds for.

    None stands for the value of the attack's own parameters, and as a domain for all numbers.

    epsilon: attacks that are derived from a budget are built for it. In a family without a budget among its parameters,
    ε changes only the claim. sensitivity: replaces the public parameter, so it decides which inputs are adjacent; the
    inputs stay the same. delta: replaces the public parameter if there is one. If δ follows from other parameters, such
    as a threshold, the attacks are built with parameters for this δ: a target that uses them must satisfy the claim,
    and for a target with parameters of its own the user states their δ.
    """

    epsilon: float | None = None
    delta: float | None = None
    sensitivity: float | None = None
    domain: Domain | None = None

    def attack(self, attack: AnyAttack) -> AnyAttack:
        """Return the attack for this claim. Raises ValueError, which names the option, if it cannot be built."""
        if self.epsilon is not None:
            attack = _built("epsilon", self.epsilon, attack, at_epsilon)
        if self.delta is not None:
            attack = _built("delta", self.delta, attack, _at_delta)
        if self.sensitivity is not None:
            change = family(attack.family).with_sensitivity
            if change is None:
                raise ValueError(
                    f"--sensitivity {text.given(self.sensitivity)}: {attack.name} has none, as any data are adjacent"
                )
            attack = _built("sensitivity", self.sensitivity, attack, partial(_with_parameters, change))
        if self.domain is not None:
            attack = _in_domain(attack, self.domain)
        if self.sensitivity is not None and not family(attack.family).adjacent(attack.parameters, *attack.worlds()):
            stated = text.given(self.sensitivity)
            raise ValueError(f"--sensitivity {stated}: the inputs of {attack.name} lie further apart")
        return attack

    def claim(self, of: Family[Any, Any, Any], parameters: Any, data_in: Any, data_out: Any) -> Claim:
        """Return the claim for a pair of worlds. Values that are not stated come from the family's parameters."""
        usual = of.claim(parameters, data_in, data_out)
        return Claim(
            usual.epsilon if self.epsilon is None else self.epsilon, usual.delta if self.delta is None else self.delta
        )


def _built(option: str, value: float, attack: AnyAttack, make: Callable[[AnyAttack, float], AnyAttack]) -> AnyAttack:
    """Return the attack built for the value of an option. Raises ValueError, which names both, if that fails."""
    try:
        return make(attack, value)
    except ValueError as error:
        raise ValueError(f"--{option} {text.given(value)}: {attack.name} cannot be made for it: {error}") from None


def _with_parameters(change: Callable[[Any, float], Any], attack: AnyAttack, value: float) -> AnyAttack:
    return dataclasses.replace(attack, parameters=change(attack.parameters, value))


def _at_delta(attack: AnyAttack, delta: float) -> AnyAttack:
    """Return the attack with the parameters for this δ. Its name says so if other parameters than δ changed."""
    change = family(attack.family).with_delta
    if change is None:
        return attack
    made = _with_parameters(change, attack, delta)
    if hasattr(made.parameters, "delta"):
        return made
    base, _, options = attack.name.partition("@")
    epsilons = [option for option in options.split(",") if option.startswith("epsilon=")]
    return dataclasses.replace(made, name=f"{base}@{','.join([*epsilons, f'delta={delta}'])}")


def _in_domain(attack: AnyAttack, domain: Domain) -> AnyAttack:
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
    """Return the attacks for a claim, each once.

    skipped is called with the reason for an attack that cannot be built; None: raises ValueError.
    """
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
    """Return one attack, on the pair of the family's usual inputs that shows most, with an event learned on it.

    Returns no attack if no pair fits the claim, or if the target fails on a pair; skipped is called with the reason.
    """
    known, domain = family(mechanism.family), stated.domain or Domain()
    try:
        parameters, pairs = known.search(stated.epsilon, stated.delta, stated.sensitivity, domain)
        covered = neighbouring_inputs.among(pairs, partial(known.adjacent, parameters))
        if not covered:
            raise ValueError(f"none of the usual inputs of {known.name} are in the domain and within the sensitivity")
        attack, _ = neighbouring_inputs.learn_attack(mechanism, parameters, covered, seed=seed, runs=runs)
    except (TargetError, ValueError) as error:
        skipped(f"{SEARCH}: {error}")
        return []
    return [dataclasses.replace(attack, name=SEARCH)]
