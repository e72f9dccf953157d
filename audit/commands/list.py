"""audit list: families, their mechanisms and the attacks on them."""

from __future__ import annotations

from typing import Any

import click

from subnormal.audit.commands.common import known, print_line


@click.command("list")
@click.option("--family", "name", metavar="NAME", help="Only this family.")
def list_command(name: str | None) -> None:
    """List families, their mechanisms and the attacks on them.

    Lines are folded to the width of a terminal; in a pipe they are whole.
    """
    from subnormal.mechanisms.families import FAMILIES, family

    if name is not None:
        known(family, name, "--family")
    for one in FAMILIES if name is None else [family(name)]:
        _show(one)


def _show(family: Any) -> None:
    from subnormal.attacks.catalogue import attacks
    from subnormal.mechanisms.families import HOW_TO_INSTALL, absent, members, package

    click.secho(f"family {family.name}", bold=True)
    click.echo("  mechanisms")
    for mechanism in members(family):
        note = "exact" if mechanism.exact else package(mechanism)
        note = f"outcomes of {mechanism.variant_of}" if mechanism.variant_of else note
        print_line(f"{mechanism.name}{f' ({note})' if note else ''}", 4)
    if missing := absent(family):
        print_line(f"not installed: {', '.join(mechanism.name for mechanism in missing)}", 2)
        print_line(HOW_TO_INSTALL, 4)
    click.echo("  attacks")
    for attack in (attack for attack in attacks() if attack.family == family.name):
        channel = "" if attack.channel is None else f" (channel: {attack.channel})"
        print_line(f"{attack.name}{channel}: {attack.description}", 4)
        print_line(f"breaks {', '.join(attack.breaks)}", 8)
