"""Every family and every member, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from subnormal.mechanisms.core.mechanism import Family, Mechanism
from subnormal.mechanisms.core.options import built, split, unknown


def _families() -> tuple[Family[Any, Any], ...]:
    """Return the families of this package, from family.py of each folder that has one, in the order of reports."""
    folders = [f"{__package__}.{one.name}.family" for one in iter_modules([str(Path(__file__).parent)]) if one.ispkg]
    modules = [import_module(name) for name in folders if find_spec(name)]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, Family)}
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))


FAMILIES = _families()

HOW_TO_INSTALL = (
    "in a checkout, pip install -e '.[libraries]' installs other people's libraries, "
    "'.[training]' JAX, '.[torch]' PyTorch, '.[accelerators]' ml_dtypes"
)


def family(name: str) -> Family[Any, Any]:
    """Return the family of that name. Raises LookupError, with the nearest name, where there is none."""
    for candidate in FAMILIES:
        if candidate.name == name:
            return candidate
    raise LookupError(unknown("family", name, [candidate.name for candidate in FAMILIES]))


def members(of: Family[Any, Any]) -> tuple[Mechanism[Any, Any, Any], ...]:
    """Return the family's mechanisms except those of packages that are not installed. Imports only our modules."""
    return tuple(mechanism for mechanism in _declared(of) if not mechanism.package or installed(mechanism.package))


def exact_members(of: Family[Any, Any]) -> tuple[Mechanism[Any, Any, Any], ...]:
    """Return the family's exact members, all of them ours, in their order: use the first."""
    return tuple(one for one in members(of) if one.exact and not one.variant_of and not one.package)


def absent(of: Family[Any, Any]) -> tuple[Mechanism[Any, Any, Any], ...]:
    """Return the family's mechanisms of packages that are not installed."""
    return tuple(mechanism for mechanism in _declared(of) if mechanism.package and not installed(mechanism.package))


def package(mechanism: Mechanism[Any, Any, Any]) -> str | None:
    """Return the package and the version whose code the mechanism is, as in "opendp 0.16.0"; None where it is ours."""
    return f"{mechanism.package} {installed(mechanism.package)}" if mechanism.package else None


@cache
def installed(distribution: str) -> str | None:
    """Return the version of an installed package, or None. Nothing is imported."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _declared(of: Family[Any, Any]) -> Iterator[Mechanism[Any, Any, Any]]:
    """Yield the family's mechanisms, each imported when it is asked for."""
    for reference in of.members:
        module, attribute = reference.split(":")
        yield getattr(import_module(module), attribute)


def member(name: str) -> Mechanism[Any, Any, Any]:
    """Return a mechanism: how it samples, what it claims, and its exact law where there is one.

    The family that the name begins with is imported first: few names import another.

    Args:
        name: the mechanism's name, as `subnormal list` shows it. One that has options may be followed by an @ and some
            of them, as in "exponential-base2@eta=3/4^2".

    Returns:
        The mechanism, a record whose fields are functions of the data and the parameters of an attack.

    Raises:
        LookupError: no mechanism has that name, or no such option (the message has the nearest one), or its library is
            not installed.
        ValueError: a value that makes no mechanism; the message names the option and the value.

    >>> member("exponential-base2").family
    'exponential'
    """
    if "@" in name:
        made = _of_options(name)
        return made if made.name == name else member(made.name)  # each is built once
    nearest_first = sorted(FAMILIES, key=lambda one: not name.startswith(one.name))
    for mechanism in chain.from_iterable(map(_declared, nearest_first)):
        if mechanism.name == name:
            if mechanism.package and not installed(mechanism.package):
                raise LookupError(f"mechanism {name!r} needs {mechanism.package}; {HOW_TO_INSTALL}")
            return mechanism
    everyone = [mechanism.name for candidate in FAMILIES for mechanism in members(candidate)]
    raise LookupError(unknown("mechanism", name, everyone))


@cache
def _of_options(name: str) -> Mechanism[Any, Any, Any]:
    base, options = split(name)
    build = member(base).options
    if build is None:
        raise LookupError(f"mechanism {base!r} has no options, got {name!r}")
    return built(build, base, options)


def is_member(mechanism: Mechanism[Any, Any, Any]) -> bool:
    """Return whether `member` finds this mechanism by its name."""
    if any(
        one is mechanism for candidate in FAMILIES if candidate.name == mechanism.family for one in _declared(candidate)
    ):
        return True
    try:
        return "@" in mechanism.name and member(mechanism.name) is mechanism
    except (LookupError, ValueError):  # a name that only looks as if it had options
        return False
