"""audit vectors: test vectors of differential privacy for any language, made and held against this version."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from subnormal.audit.commands.common import file_mistakes, known, line_progress, mistakes, out_option, output, progress


@click.group()
def vectors() -> None:
    """Test vectors of differential privacy: samplers, privacy maps, stability, attacks, for projects in any language.

    The folder vectors/1 has them as JSON and as lines of text; docs/vectors.md says how a project uses them.
    """


@vectors.command()
@out_option("Folder for the files; other files stay as they are.", "vectors/1")
@click.option("--attack", "names", multiple=True, metavar="NAME", help="Only this attack, as a file; may be repeated.")
def make(out: Path, names: Sequence[str]) -> None:
    """Write the vectors of this version: the same bytes as those of vectors/1, in two minutes.

    With --attack, one file for each attack that is named, also at parameters of your own, as in
    --attack grid-precision@epsilon=0.1: both worlds' inputs, the event, the claim, and the event's probability under
    the exact laws of broken mechanisms. An event with "portable": false needs this project's arithmetic.
    """
    if names:
        _write_attacks(out, names)
        return
    from subnormal.audit.vectors.folder import made

    with output(out) as files, line_progress() as tell:
        files.update(made(_counter(tell)))
    click.echo(f"{len(files)} files: {out}", err=True)


@vectors.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def check(path: Path) -> None:
    """Say whether a folder, or one file of it, is what this version makes. Exit code 1 if it is not."""
    from subnormal.audit.vectors.folder import differences

    with mistakes(ValueError, option="PATH"), file_mistakes("PATH"), line_progress() as tell:
        found = list(filter(None, differences(path, _counter(tell))))
    click.echo("\n".join(found) or f"{path} is what this version makes")
    if found:
        sys.exit(1)


def _write_attacks(out: Path, names: Sequence[str]) -> None:
    from subnormal.attacks.catalogue import attack, chosen
    from subnormal.audit.text import counted
    from subnormal.audit.vectors.attacks import file_name, to_json

    for name in names:
        known(attack, name, "--attack")
    attacks = chosen(names)
    for one in attacks:
        if one.channel is not None:
            raise click.BadParameter(f"{one.name} looks at {one.channel}, not at outcomes alone", param_hint="--attack")
    with output(out) as files, progress("writing", len(attacks)) as done:
        for one in attacks:
            files[file_name(one)] = to_json(one)
            done()
    click.echo(f"{counted(len(files), 'vector')}: {out}", err=True)


def _counter(tell: Callable[[str], None]) -> Callable[[], None]:
    steps = itertools.count(1)
    return lambda: tell(f"test {next(steps):,} of some 1,500")
