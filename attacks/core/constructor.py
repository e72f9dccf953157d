"""Builds an attack from its name: a constructor, and the options after the @."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from operator import index
from typing import Any, TypeVar

from subnormal.attacks.core.attack import AnyAttack, with_options
from subnormal.mechanisms.families import unknown
from subnormal.mechanisms.numerics import float_types

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Constructor:
    """The attacks of one name. Each is built when it is called for.

    build: returns an attack; its arguments, all with defaults, are the options that a name may have after its @.
    variants: the options of each attack that the catalogue shows, in the order of reports; {} stands for the defaults.
    """

    name: str  # before the @
    build: Callable[..., AnyAttack]
    variants: tuple[Mapping[str, object], ...] = ({},)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variants. Nothing is built."""
        return tuple(with_options(self.name, options) for options in self.variants)

    @property
    def defaults(self) -> dict[str, Any]:
        """The options and their defaults."""
        return _defaults(self.build)

    def value(self, option: str, given: object) -> object:
        """Return a value of an option, converted to the kind of its default. Raises ValueError for an invalid one."""
        return _read(option, given, self.defaults[option])

    def __call__(self, **options: object) -> AnyAttack:
        """Return the attack with these options. A value may be text, as in a name.

        Raises LookupError for an unknown option, and ValueError for an invalid value.
        """
        return built(self.build, self.name, options)


def built(build: Callable[..., T], name: str, options: Mapping[str, object]) -> T:
    """Return build(**options), each value converted to the kind of its default.

    Raises LookupError for an unknown option of that name, and ValueError for an invalid value.
    """
    defaults = _defaults(build)
    for option in options.keys() - defaults.keys():
        raise LookupError(unknown(f"option of {name}", option, list(defaults)))
    return build(**{option: _read(option, value, defaults[option]) for option, value in options.items()})


def _defaults(build: Callable[..., object]) -> dict[str, Any]:
    return {option: parameter.default for option, parameter in signature(build).parameters.items()}


def split(name: str) -> tuple[str, dict[str, str]]:
    """Return the part of a name before its @, and the options after it.

    >>> split("zero-rounding@epsilon=2.0,outcomes=10")
    ('zero-rounding', {'epsilon': '2.0', 'outcomes': '10'})
    """
    base, _, text = name.partition("@")
    options = (option.partition("=") for option in text.split(",") if option)
    return base, {option: value for option, _, value in options}


def _read(option: str, value: Any, default: object) -> object:
    """Return a value converted to the default's kind: a name, an integer, a number, or a float type."""
    if isinstance(default, str):
        return str(value)
    if isinstance(default, type):
        return float_types.of(value).type
    kind = "an integer" if isinstance(default, int) else "a number"
    try:
        if isinstance(default, int):
            return int(value) if isinstance(value, str) else index(value)
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{option} must be {kind}, got {value!r}") from None
