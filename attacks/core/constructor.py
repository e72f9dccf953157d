"""Builds an attack from its name: a constructor, and the options after the @."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from subnormal.attacks.core.attack import AnyAttack
from subnormal.mechanisms.core.options import converted, defaults_of, read, with_options
from subnormal.mechanisms.numerics import float_types

Options = ParamSpec("Options")
A = TypeVar("A", bound=AnyAttack)


@dataclass(frozen=True, slots=True, eq=False)
class Constructor(Generic[Options, A]):
    """The attacks of one name. Each is built when it is called for.

    build: returns an attack of the name that is its first argument; the others, all with defaults, are the options
    that a name may have after its @.
    variants: the options of each attack that the catalogue shows, in the order of reports; {} stands for the defaults.
    """

    name: str  # before the @
    build: Callable[Concatenate[str, Options], A]
    variants: tuple[Mapping[str, object], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variants. Nothing is built."""
        return tuple(with_options(self.name, options) for options in self.variants)

    @property
    def defaults(self) -> dict[str, Any]:
        """The options and their defaults."""
        _, *options = defaults_of(self.build).items()
        return dict(options)

    def value(self, option: str, given: object) -> object:
        """Return a value of an option, converted to the kind of its default. Raises ValueError for an invalid one."""
        return read(option, given, self.defaults[option])

    def __call__(self, *arguments: Options.args, **options: Options.kwargs) -> A:
        """Return the attack with these options, named by those that are not the defaults.

        A value may be text, as in a name. Raises LookupError for an unknown option, and ValueError for an invalid
        value.
        """
        build: Callable[..., A] = self.build
        defaults = self.defaults
        _, *positional = signature(build).bind_partial(self.name, *arguments).arguments.items()
        values: Any = converted(self.name, {**dict(positional), **options}, defaults)
        differing = [option for option in defaults if option in values and values[option] != defaults[option]]
        return build(with_options(self.name, {option: _shown(values[option]) for option in differing}), **values)


def _shown(value: object) -> object:
    return float_types.of(value).name if isinstance(value, type) else value


def constructor(
    name: str, variants: tuple[Mapping[str, object], ...] = ({},)
) -> Callable[[Callable[Concatenate[str, Options], A]], Constructor[Options, A]]:
    """Return the decorator that makes a function the constructor of the attacks of this name."""
    return lambda build: Constructor(name, build, variants)
