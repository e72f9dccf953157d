"""audit vectors: each attack as a JSON file for other languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from subnormal.audit.commands.common import known, out_option, output, progress


@click.command()
@out_option("Folder for the files, one JSON document for each attack; other files stay as they are.", "vectors")
@click.option("--attack", "names", multiple=True, metavar="NAME", help="Only this attack; may be repeated.")
def vectors(out: Path, names: Sequence[str]) -> None:
    """Write the attacks on outcomes as JSON files, for projects in other languages.

    A file holds both worlds' inputs, run-length encoded, the public parameters, the event, the claim, and the event's
    probability under the exact laws of broken mechanisms. Floats are decimal and hexadecimal, so that programs can read
    them exactly. An event with "portable": false needs this project's arithmetic.
    The schema is docs/vector.schema.json; docs/examples/vector_runner.c is a runner.
    """
    from subnormal.attacks.catalogue import attack, chosen, on_outcomes
    from subnormal.audit.text import counted
    from subnormal.audit.vectors import file_name, to_json

    for name in names:
        known(attack, name, "--attack")
    attacks = chosen(names) or on_outcomes()
    for one in attacks:
        if one.channel is not None:
            raise click.BadParameter(f"{one.name} looks at {one.channel}, not at outcomes alone", param_hint="--attack")
    with output(out) as files, progress("writing", len(attacks)) as done:
        for one in attacks:
            files[file_name(one)] = to_json(one)
            done()
    click.echo(f"{counted(len(files), 'vector')}: {out}", err=True)
