"""Numbers are written in one module."""

import ast
from pathlib import Path

import pytest

import subnormal.audit
from subnormal.audit import text

FOLDER = Path(subnormal.audit.__file__).parent


def formats(source: str) -> list[str]:
    """Return the formats of floats to some digits, `.3g`, `.0e` or `.6f`, in f-strings: `.0f` stands for a count."""
    specs = [node.format_spec for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FormattedValue)]
    written = ["".join(map(ast.unparse, spec.values)) for spec in specs if isinstance(spec, ast.JoinedStr)]
    found = [one.strip("'\"") for one in written]
    return [one for one in found if one[-1:] in ("g", "e", "f") and not one.endswith(".0f")]


def test_no_other_module_chooses_the_digits_of_a_number() -> None:
    """But for the note on outcomes which are the same with fewer digits, and for rounding to few of them."""
    found = {path.name for path in FOLDER.rglob("*.py") if formats(path.read_text(encoding="utf-8"))}
    assert found == {"text.py", "outcome_notes.py", "half_lines.py"}


@pytest.mark.parametrize("value", [0.0, 1.0, 0.25, 3.2e-12, 0.95, 2.0**-40])
def test_a_bound_is_rounded_to_its_own_side(value: float) -> None:
    assert float(text.at_least(value)) <= value <= float(text.at_most(value))
