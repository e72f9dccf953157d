"""audit explore: the explorer, a page that runs naive mechanisms in a browser's own floats."""

from __future__ import annotations

from pathlib import Path

import click

from subnormal.audit.commands.common import Failure

PACKAGED = Path(__file__).parents[1] / "explorer.html"  # in an installed wheel
CHECKOUT = Path(__file__).resolve().parents[2] / "docs" / "explorer.html"


@click.command()
@click.option("--path", "only_path", is_flag=True, help="Print the path of the page, and open nothing.")
def explore(only_path: bool) -> None:
    """Open the explorer in a browser: break a naive mechanism by hand.

    The explorer is one HTML file that needs no server and no network. On a machine without a browser, copy the file
    that --path prints to one that has it.
    """
    import webbrowser

    if only_path:
        click.echo(page())
    elif not webbrowser.open(page().as_uri()):
        raise Failure(f"no browser could be opened; open this file in one: {page()}")


def page() -> Path:
    """Return the path of the page."""
    return PACKAGED if PACKAGED.is_file() else CHECKOUT
