"""docs/papers.md against the repository: what its rows name exists, its commands parse, and its equations hold."""

import doctest
import pkgutil
import re
from typing import Any

import click
import pytest

from benchmarks.figures.__main__ import NAMES
from benchmarks.figures.__main__ import main as figures
from subnormal import attack, member
from subnormal.audit.__main__ import main as audit
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


def check(span: str, names: dict[str, Any]) -> None:
    """Raise an error where what stands between backticks is not there, does not parse, or does not hold."""
    match span.split():
        case ["subnormal", *arguments]:
            parses(audit, arguments)
        case ["python", "-m", "benchmarks.figures", *arguments]:
            with figures.make_context(None, arguments) as context:
                assert set(context.params["names"]) <= set(NAMES)
        case ["make", target]:
            assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        case [file] if named := re.fullmatch(r"([\w/.-]+\.(?:py|md|ipynb|txt))(?:::(\w+))?", file):
            text = (ROOT / named[1]).read_text(encoding="utf-8")
            assert not named[2] or re.search(rf"^def {named[2]}\(", text, re.MULTILINE)
        case [name] if re.fullmatch(r"(subnormal|benchmarks)(\.\w+)+", name):
            pkgutil.resolve_name(name)
        case [name] if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name):
            member(name)
        case _ if re.search(r" (==|<|>) ", span):
            assert bool(eval(span, names))
        case _:
            raise ValueError(f"`{span}` is no command, file, test, importable name, equation or mechanism")


@pytest.mark.parametrize("span", SPANS)
def test_what_the_page_names_is_there(span: str, names: dict[str, Any]) -> None:
    check(span, names)


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
        ("notebooks/99_nothing.py", FileNotFoundError),
        ("tests/acceptance/test_papers.py::test_nothing", AssertionError),
        ("subnormal.mechanisms.exponential.base2.smaple", AttributeError),
        ("exponential-base3", LookupError),
        ("last_positive(0.5, np.float64) == 2981", AssertionError),
        ("zero rounding", ValueError),
    ],
)
def test_what_is_not_there_is_noticed(span: str, error: type[Exception], names: dict[str, Any]) -> None:
    with pytest.raises(error):
        check(span, names)
