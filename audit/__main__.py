"""The command line: python -m audit, or subnormal."""

from __future__ import annotations

from importlib.metadata import version

import click

from audit.commands.figures import figures
from audit.commands.list import list_command
from audit.commands.run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("subnormal"), prog_name="subnormal")
def main() -> None:
    """Attack and audit differential-privacy mechanisms, down to the last bit.

    Exit codes: 0 done, 1 a claim was violated (with --fail-on-violation), 2 a mistake in the call, 3 a row failed,
    130 interrupted.
    """


main.add_command(run)
main.add_command(list_command)
main.add_command(figures)

if __name__ == "__main__":
    main()
