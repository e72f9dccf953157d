"""Builds an attack from its name: a constructor, and the options after the @."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from subnormal.attacks.core.attack import AnyAttack
from subnormal.mechanisms.core.options import built, defaults_of, read, with_options


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
        return defaults_of(self.build)

    def value(self, option: str, given: object) -> object:
        """Return a value of an option, converted to the kind of its default. Raises ValueError for an invalid one."""
        return read(option, given, self.defaults[option])

    def __call__(self, **options: object) -> AnyAttack:
        """Return the attack with these options. A value may be text, as in a name.

        Raises LookupError for an unknown option, and ValueError for an invalid value.
        """
        return built(self.build, self.name, options)
