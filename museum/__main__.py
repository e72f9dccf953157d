"""Check every exhibit and write museum/README.md: python -m museum [--only NAME]."""

from __future__ import annotations

import sys
from functools import partial

import click

from museum import readme
from museum.checks import check_all
from museum.exhibits import MUSEUM, ExhibitError, exhibits


@click.command()
@click.option("--only", metavar="NAME", multiple=True, help="Check these exhibits; the others keep their rows.")
@click.option("--table", is_flag=True, help="Check nothing: write the page from what is known.")
def main(only: tuple[str, ...], table: bool) -> None:
    """Install and check the releases of the museum's exhibits, and write museum/README.md.

    The exit code is 1 where a release is accused that must not be.
    """
    try:
        known = exhibits()
    except ExhibitError as error:
        raise click.UsageError(str(error)) from None
    names = [one.name for one in known]
    if unknown := [name for name in only if name not in names]:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(names)}", param_hint="--only")
    if not table:
        check_all([one for one in known if not only or one.name in only], partial(click.echo, err=True))
    (MUSEUM / "README.md").write_text(readme.text(known), encoding="utf-8")
    accused = [one.name for one in known if any(readme.is_accused(one, release) for release in one.releases)]
    if accused:
        click.echo(f"accused, and must not be: {', '.join(accused)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
