"""Every attack of the project, by name. To add one: a file that describes it, and its name in FILES of its folder.

Importing this module imports no attack and builds none: both happen when an attack is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType

from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.constructor import Constructor
from subnormal.mechanisms.core.options import split, unknown
from subnormal.mechanisms.families import FAMILIES


@cache
def files() -> tuple[str, ...]:
    """Return the modules that hold attacks, in the order of reports: by family; those of no single family come last."""
    ranks = {one.parameters.__module__.split(".")[2]: one.order for one in reversed(FAMILIES)}  # of the family's folder
    found = [one.name for one in iter_modules([str(Path(__file__).parent)]) if one.ispkg]
    folders = sorted(found, key=lambda name: ranks.get(name, math.inf))
    packages = [import_module(f"{__package__}.{folder}") for folder in folders]
    return tuple(f"{one.__name__}.{file}" for one in packages for file in getattr(one, "FILES", ()))


@cache
def constructors() -> Mapping[str, Constructor[..., AnyAttack]]:
    """Return the constructors by the name of their attacks, in the order of reports."""
    found = (one for file in files() for one in in_file(file))
    return MappingProxyType({one.name: one for one in found})


def in_file(file: str) -> list[Constructor[..., AnyAttack]]:
    """Return the constructors that a module defines, in its order."""
    values = vars(import_module(file)).values()
    return [one for one in values if isinstance(one, Constructor) and one.build.__module__ == file]


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
