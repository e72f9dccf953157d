"""A command that keeps its command line, for what is written of its results."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import click

ASIDE = frozenset(("jobs", "address", "out", "folder", "resume", "form"))  # no result depends on these options


class Recorded(click.Command):
    """A command that keeps its command line, as "command" of the context's `meta`.

    The options in `ASIDE` are left out: they say who computes and where results go, and they may hold paths of the
    machine.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        ctx.meta["command"] = shlex.join(["subnormal", str(self.name), *self._words(ctx, given)])
        return rest

    def _words(self, ctx: click.Context, args: list[str]) -> Iterator[str]:
        """Yield the arguments, and then the options in their order."""
        values, _, order = self.make_parser(ctx).parse_args(args)
        repeated: dict[str | None, Iterator[Any]] = {}
        for one in sorted(order, key=lambda parameter: isinstance(parameter, click.Option)):
            value = values[str(one.name)]
            if one.name in ASIDE:
                continue
            if not isinstance(one, click.Option):
                yield value
                continue
            yield one.opts[0]
            if not one.is_flag:
                yield next(repeated.setdefault(one.name, iter(value))) if one.multiple else value
