"""audit write: a first file of tests for a module's functions, to edit."""

from __future__ import annotations

import click

from subnormal.audit.commands.common import Failure
from subnormal.audit.commands.printing import redirect_stdout_to_stderr
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.named import module_named


@click.command()
@click.argument("module", metavar="MODULE[:FUNCTION]")
def write(module: str) -> None:
    """Write a first test for a function, or for each function of a module that speaks of privacy.

    The test is printed. Its data, neighbours and claim are guessed from signatures, docstrings and code: edit them.

    \b
        subnormal write mylib.mechanisms > tests/test_privacy.py
        subnormal write mylib.mechanisms:noisy_count
    """
    from subnormal.audit.drafts import draft

    name, _, function = module.partition(":")
    try:
        with redirect_stdout_to_stderr():
            imported = module_named(name)
        text, others = draft(imported, [function] if function else [])
    except (TargetError, ValueError) as error:
        raise Failure(str(error)) from None
    click.echo(text)
    if others and not function:
        click.echo(f"left out, as nothing says that they are private: {', '.join(others)}", err=True)
