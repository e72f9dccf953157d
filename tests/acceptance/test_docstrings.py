"""The docstring of a public function names every error that its own code raises."""

import ast
from collections.abc import Iterator

from tests.support.paths import ROOT

FILES = sorted(path for package in ("mechanisms", "attacks", "audit") for path in (ROOT / package).rglob("*.py"))


def unnamed(source: str) -> list[str]:
    """Return the errors that public functions raise and that neither their docstring nor their class's names."""
    return [
        f"line {function.lineno}: {function.name} raises {error}"
        for function, docstring in _public(ast.parse(source), "")
        for error in sorted(_raised(function))
        if error not in docstring
    ]


def _public(node: ast.Module | ast.ClassDef, outer: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            yield from _public(inner, ast.get_docstring(inner) or "")
        elif isinstance(inner, ast.FunctionDef) and (inner.name.startswith("__") or inner.name[0] != "_"):
            yield inner, outer + (ast.get_docstring(inner) or "")


def _raised(function: ast.FunctionDef) -> set[str]:
    tries = [node for node in ast.walk(function) if isinstance(node, ast.Try)]
    caught = {
        (error, name)
        for node in tries
        for statement in node.body
        for error in ast.walk(statement)
        for name in _caught(node)
    }
    return {
        error.exc.func.id
        for error in ast.walk(function)
        if isinstance(error, ast.Raise) and isinstance(error.exc, ast.Call) and isinstance(error.exc.func, ast.Name)
        if error.exc.func.id.endswith("Error") and (error, error.exc.func.id) not in caught
    }


def _caught(node: ast.Try) -> set[str]:
    types = [name for handler in node.handlers if handler.type is not None for name in ast.walk(handler.type)]
    return {name.id for name in types if isinstance(name, ast.Name)}


def test_docstrings_name_what_is_raised() -> None:
    """And when, in the docstring of the function or of its class."""
    found = {str(path.relative_to(ROOT)): unnamed(path.read_text()) for path in FILES}
    assert {path: errors for path, errors in found.items() if errors} == {}


def test_an_error_that_no_docstring_names_is_noticed() -> None:
    silent = (
        'def half(n):\n    """Return n/2."""\n    if n % 2:\n        raise ValueError(f"n must be even, got {n}")\n'
    )
    assert unnamed(silent) == ["line 1: half raises ValueError"]
    assert unnamed(silent.replace("n/2.", "n/2. Raises ValueError for an odd n.")) == []


def test_an_error_that_its_function_catches_needs_no_name() -> None:
    source = (
        'def f(n):\n    """Return n."""\n    try:\n        raise ValueError(f"{n}")\n    except {}:\n        return n\n'
    )
    assert unnamed(source.replace("{}", "(KeyError, ValueError)")) == []
    assert unnamed(source.replace("{}", "KeyError")) == ["line 1: f raises ValueError"]
