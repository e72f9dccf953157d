"""docs/papers.md against the repository: what its rows name exists, its commands parse, and its equations hold."""

import ast
import doctest
import importlib
import re
import shlex
from collections.abc import Callable
from typing import Any

import click
import pytest

from benchmarks.figures.__main__ import NAMES
from benchmarks.figures.__main__ import main as figures
from subnormal.attacks.catalogue import attack
from subnormal.audit.__main__ import main as audit
from subnormal.mechanisms.families import member
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
TEXT, CODE = PAGE.split("\n## The names in the equations\n")
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!item |---)", line)]
SPANS = sorted(set(re.findall(r"`([^`]+)`", TEXT)))


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's own code defines."""
    defined: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(CODE):
        exec(example.source, defined)
    return defined


def kind_of(span: str) -> Callable[[str, dict[str, Any]], None]:
    """Return the check of what stands between backticks. Raises ValueError for what is none of the kinds."""
    for begins, check in COMMANDS.items():
        if span.startswith(begins):
            return check
    if re.fullmatch(r"[\w/.-]+\.(py|md|ipynb|txt)(::\w+)?", span):
        return file
    if re.fullmatch(r"(subnormal|benchmarks)(\.\w+)+", span):
        return importable
    if re.search(r" (==|<|>) ", span):
        return equation
    if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", span):
        return mechanism
    raise ValueError(f"`{span}` is no command, no file, no test, no importable name, no equation and no mechanism")


def parses(command: click.Command, arguments: list[str]) -> None:
    """Raise a UsageError where the arguments are wrong; nothing is run."""
    with command.make_context(command.name, list(arguments)) as context:
        if isinstance(command, click.Group):
            name, inner, rest = command.resolve_command(context, arguments)
            assert inner is not None, name
            parses(inner, rest)
        for option, known in (("attacks", attack), ("mechanisms", member), ("mechanism", member)):
            values = context.params.get(option) or ()
            for value in [values] if isinstance(values, str) else values:
                known(value)


def audit_command(span: str, names: dict[str, Any]) -> None:
    parses(audit, shlex.split(span)[1:])


def figure_command(span: str, names: dict[str, Any]) -> None:
    with figures.make_context(None, shlex.split(span)[3:]) as context:
        assert set(context.params["names"]) <= set(NAMES)


def make_target(span: str, names: dict[str, Any]) -> None:
    assert re.search(rf"^{re.escape(span.split()[1])}:", (ROOT / "Makefile").read_text(), re.MULTILINE), span


def file(span: str, names: dict[str, Any]) -> None:
    path, _, test = span.partition("::")
    assert (ROOT / path).is_file(), path
    if test:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, span


def importable(span: str, names: dict[str, Any]) -> Any:
    parts = span.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise AssertionError(span)


def mechanism(span: str, names: dict[str, Any]) -> None:
    member(span)


def equation(span: str, names: dict[str, Any]) -> None:
    assert bool(eval(span, names)), span


COMMANDS = {
    "subnormal ": audit_command,
    "python -m benchmarks.figures": figure_command,
    "make ": make_target,
}


@pytest.mark.parametrize("span", SPANS)
def test_what_the_page_names_is_there(span: str, names: dict[str, Any]) -> None:
    kind_of(span)(span, names)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0][2:])
def test_every_row_says_where_or_why_not(row: str) -> None:
    cells = row.strip("|").split(" | ")
    assert len(cells) == 4
    assert all(cell.strip() for cell in cells)
    assert "`" in cells[3]


@pytest.mark.parametrize(
    ("span", "error"),
    [
        ("subnormal run --atack zero-rounding", click.UsageError),
        ("subnormal run --attack zero-roundin", LookupError),
        ("subnormal plot", click.UsageError),
        ("python -m benchmarks.figures --figure figure-3", AssertionError),
        ("make figure", AssertionError),
        ("notebooks/99_nothing.py", AssertionError),
        ("tests/acceptance/test_papers.py::test_nothing", AssertionError),
        ("subnormal.mechanisms.exponential.base2.smaple", AttributeError),
        ("exponential-base3", LookupError),
        ("last_positive(0.5, np.float64) == 2981", AssertionError),
        ("zero rounding", ValueError),
    ],
)
def test_what_is_not_there_is_noticed(span: str, error: type[Exception], names: dict[str, Any]) -> None:
    with pytest.raises(error):
        kind_of(span)(span, names)
