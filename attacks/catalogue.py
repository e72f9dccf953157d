"""Every attack of the project, by name. To add one: a file that describes it, and a line here.

Importing this module imports no attack and builds none: both happen when an attack is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.constructor import Constructor
from subnormal.mechanisms.core.options import split, unknown

FILES = (  # in the order of reports; CONSTRUCTORS in each of them holds its attacks
    "exponential.zero_rounding",
    "exponential.truncated_addition",
    "exponential.rounded_addition",
    "exponential.auction",
    "exponential.gumbel_ties",
    "additive.least_significant_bits",
    "additive.grid_precision",
    "additive.sensitivity_underestimation",
    "additive.absorption",
    "private_selection.absorbed_scores",
    "additive.box_muller_inversion",
    "additive.coarse_noise",
    "sparse_vector.absorbed_threshold",
    "sparse_vector.clamped_noise",
    "sparse_vector.published_variants",
    "partitions.negligible_region",
    "threshold.singleton_key",
    "threshold.uniform_floor",
    "threshold.rounding_before_threshold",
    "threshold.boundary",
    "randomized_response.certain_response",
    "randomized_response.uneven_choice",
    "dp_sgd.float_noise",
    "dp_sgd.batch_size",
    "dp_sgd.no_number",
    "dp_sgd.scaled_noise",
    "dp_sgd.shuffling",
    "side_channels.rejection_tries",
    "side_channels.weight_concentration",
    "side_channels.precision_retry",
    "side_channels.geometric_trials",
    "side_channels.subnormal_time",
    "side_channels.rejection_time",
)


@cache
def constructors() -> Mapping[str, Constructor]:
    """Return the constructors by the name of their attacks, in the order of reports."""
    modules = (import_module(f"{__package__}.{file}") for file in FILES)
    return MappingProxyType({one.name: one for module in modules for one in module.CONSTRUCTORS})


@cache
def names() -> tuple[str, ...]:
    """Return the names of the attacks that the catalogue shows, in the order of reports. No attack is built."""
    return tuple(name for one in constructors().values() for name in one.names)


def attacks() -> tuple[AnyAttack, ...]:
    """Return the attacks that the catalogue shows, in the order of reports; each is built once."""
    return tuple(map(_shown, names()))


def on_outcomes() -> tuple[AnyAttack, ...]:
    """Return those of the attacks that see nothing but outcomes."""
    return tuple(one for one in attacks() if one.channel is None)


def attack(name: str, **options: object) -> AnyAttack:
    """Return an attack: its two worlds, its parameters, and the event that tells the worlds apart.

    Args:
        name: the attack's name, as `subnormal list` shows it, with or without options: "zero-rounding@epsilon=2.0".
        options: the arguments of the attack's constructor, such as epsilon in nats; the others have their defaults.

    Returns:
        The attack. It is a description and runs nothing. One that `subnormal list` shows is the same object each time.

    Raises:
        LookupError: no attack has that name, or its constructor no such option; the message has the nearest one.
        ValueError: a value that makes no attack; the message names the option and the value.

    >>> attack("zero-rounding", epsilon=2, outcomes=10).name
    'zero-rounding@epsilon=2.0,outcomes=10'
    """
    if not options and name in names():
        return _shown(name)
    made = _built(name, options)
    return _shown(made.name) if made.name in names() else made


def naming(mechanism: str) -> list[str]:
    """Return the names of the attacks that must break this mechanism, or that it is a fix against."""
    return [one.name for one in attacks() if mechanism in (*one.breaks, *one.fixes)]


def chosen(names_given: Iterable[str]) -> list[AnyAttack]:
    """Return the attacks of these names, each once, in the order of reports; raises as `attack` does."""
    made = {one.name: one for one in map(attack, names_given)}
    order = {name: rank for rank, name in enumerate(names())}
    return sorted(made.values(), key=lambda one: order.get(one.name, len(order)))


def shows(attack: AnyAttack) -> bool:
    """Return whether this very attack is one that the catalogue shows: then its name stands for it anywhere."""
    return attack.name in names() and _shown(attack.name) is attack


@cache
def _shown(name: str) -> AnyAttack:
    return _built(name, {})


def _built(name: str, options: Mapping[str, object]) -> AnyAttack:
    base, written = split(name)
    constructor = constructors().get(base)
    if constructor is None:
        raise LookupError(unknown("attack", name, [*names()]))
    return constructor(**{**written, **options})
