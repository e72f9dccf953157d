"""The claim of somebody else's mechanism, as its user states it, and the attacks that fit it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from subnormal.attacks.core.attack import Attack, given
from subnormal.attacks.rebuilt import at_epsilon
from subnormal.audit.evidence import neighbouring_inputs
from subnormal.audit.targets.json_lines import TargetError
from subnormal.mechanisms.additive.family import GaussianParameters, gaussian_claim
from subnormal.mechanisms.core.domain import Domain
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.threshold import family as threshold_family
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

SEARCH = "neighbours"  # the attack that looks for inputs and an event itself

AnyAttack = Attack[Any, Any, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Stated:
    """What is claimed: ε (nats), δ, the sensitivity and the domain it holds for. None: what the attack's own parameters
    say, and any number.

    ε: the attacks are made for it where they are derived from a budget. The family `gaussian` is parametrised by σ and
    δ: there ε changes what is claimed and not what is asked. sensitivity: becomes the public parameter, so it says
    which inputs are adjacent; the inputs themselves stay as they are. δ: that of a threshold is a function of T and the
    noise, so the attacks of the family `threshold` are made for it: their T is the least that promises it. A target
    that takes T from them then owes the claim, and one that has a T of its own says what that T promises.
    """

    epsilon: float | None = None
    delta: float | None = None
    sensitivity: float | None = None
    domain: Domain | None = None

    def attack(self, attack: AnyAttack) -> AnyAttack:
        """Return the attack for this claim. Raises ValueError, naming the option, where there is none."""
        if self.epsilon is not None:
            try:
                attack = at_epsilon(attack, self.epsilon)
            except ValueError as error:
                raise ValueError(f"--epsilon {self.epsilon:g}: {attack.name} cannot be made for it: {error}") from None
        if self.delta is not None and isinstance(attack.parameters, ThresholdParameters):
            attack = _at_delta(attack, self.delta)
        changed: dict[str, float] = {}
        if self.sensitivity is not None:
            if isinstance(attack.parameters, ThresholdParameters):
                raise ValueError(
                    f"--sensitivity {self.sensitivity:g}: {attack.name} has three, fixed with its threshold"
                )
            if not hasattr(attack.parameters, "sensitivity"):
                raise ValueError(
                    f"--sensitivity {self.sensitivity:g}: {attack.name} has none, as any data are adjacent"
                )
            whole = isinstance(attack.parameters.sensitivity, int) and self.sensitivity.is_integer()
            changed["sensitivity"] = int(self.sensitivity) if whole else self.sensitivity
        if self.delta is not None and isinstance(attack.parameters, GaussianParameters):
            changed["delta"] = self.delta
        if changed:
            attack = dataclasses.replace(attack, parameters=dataclasses.replace(attack.parameters, **changed))
        if self.domain is not None:
            attack = _within(attack, self.domain)
        if self.sensitivity is not None and not family(attack.family).adjacent(attack.parameters, *attack.worlds()):
            raise ValueError(f"--sensitivity {self.sensitivity:g}: the inputs of {attack.name} lie further apart")
        return attack

    def claim(self, parameters: Any, data_in: Any, data_out: Any) -> Claim:
        """Return the promise for a pair of worlds: that of the parameters, but for what is stated."""
        if isinstance(parameters, GaussianParameters):
            usual = gaussian_claim(parameters, data_in, data_out)
        elif isinstance(parameters, ThresholdParameters):
            usual = threshold_family.claim(parameters, data_in, data_out)
        else:
            usual = Claim(parameters.epsilon)
        return Claim(
            usual.epsilon if self.epsilon is None else self.epsilon, usual.delta if self.delta is None else self.delta
        )


def _at_delta(attack: AnyAttack, delta: float) -> AnyAttack:
    try:
        parameters = threshold_family.with_delta(attack.parameters, delta)
    except ValueError as error:
        raise ValueError(f"--delta {delta:g}: {attack.name} cannot be made for it: {error}") from None
    base, _, options = attack.name.partition("@")
    kept = [option for option in options.split(",") if option.startswith("epsilon=")]
    return dataclasses.replace(attack, name=f"{base}@{','.join([*kept, f'delta={delta}'])}", parameters=parameters)


def _within(attack: AnyAttack, domain: Domain) -> AnyAttack:
    try:
        data_in, data_out = (domain.taken(data) for data in attack.worlds())
    except ValueError as error:
        raise ValueError(f"--domain: the inputs of {attack.name} lie outside: {error}") from None
    if not family(attack.family).adjacent(attack.parameters, data_in, data_out):
        raise ValueError(f"--domain: the inputs of {attack.name} are none of its family in {domain}")
    return dataclasses.replace(attack, worlds=partial(given, (data_in, data_out)))


def fitting(
    attacks: Iterable[AnyAttack], stated: Stated, skipped: Callable[[str], None] | None = None
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


def searched(
    mechanism: Mechanism[Any, Any, Any], stated: Stated, seed: int, runs: int, skipped: Callable[[str], None]
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
