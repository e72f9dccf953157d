"""The command line: python -m audit, or subnormal."""

from __future__ import annotations

import io
import sys
import traceback
from importlib.metadata import version

import click

from audit.commands.compare import compare
from audit.commands.compose import compose
from audit.commands.figures import figures
from audit.commands.list import list_command
from audit.commands.run import run
from audit.commands.vectors import vectors


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("subnormal"), prog_name="subnormal")
def main() -> None:
    """Attack and audit differential-privacy mechanisms, down to the last bit.

    Exit codes: 0 done, 1 a claim was violated (with --fail-on-violation) or reports differ (compare), 2 a mistake in
    the call, 3 a row failed, be there violations or not, 70 a bug of this program, 130 interrupted.
    """


main.add_command(run)
main.add_command(list_command)
main.add_command(figures)
main.add_command(vectors)
main.add_command(compose)
main.add_command(compare)


def entry() -> None:
    """Run the command line; every way out has its own exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters gets question marks
    try:
        code = main.main(standalone_mode=False)
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted: nothing was written", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except OSError as error:  # standard output is closed or full
        sys.stdout = None  # nothing more can be said there
        click.echo(f"Error: standard output: {error.strerror}", err=True)
        code = 2
    except Exception:
        traceback.print_exc()
        code = 70
    sys.exit(code)


if __name__ == "__main__":
    entry()
