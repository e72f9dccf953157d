"""How a command ends that nobody reads, or that foreign code ends: never with the code of a verdict or of success."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from subnormal.audit import __main__
from tests.support.processes import SUBNORMAL, ended, started

COMPOSE = ("compose", "--gaussian", "10", "--runs", "2", "--buckets", "64")
CHECK = ("check", "math:floor", "--in", "1.5", "--out", "0.5", "--epsilon", "1")
CLAIMS = ("claims", "math:fsum", "--kind", "randomized-response", "--examples", "1")
COMMANDS = (COMPOSE, CHECK, CLAIMS, ("list",), ("run", "--help"))


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_output_that_nobody_reads_is_a_mistake_in_the_call(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """1 would say that a claim is violated."""
    reading, writing = os.pipe()
    os.close(reading)
    with started([*SUBNORMAL, *arguments], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        _, said = ended(process)
    assert process.returncode == 2
    assert said.splitlines()[-1] == "Error: standard output: Broken pipe"


@pytest.mark.parametrize(("code", "returned"), [(0, 70), (None, 70), ("boom", 70), (-1, 70), (True, 1), (1, 1), (3, 3)])
def test_no_exit_of_foreign_code_is_a_success(code: Any, returned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def left(**options: Any) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(__main__.main, "main", left)
    assert __main__._done() == returned


def test_help_and_version_are_successes() -> None:
    for option in ("--help", "--version"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["subnormal", option])
            assert __main__._done() == 0
