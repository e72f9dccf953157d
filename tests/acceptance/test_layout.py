"""The layout: small folders, one name for each module; docstrings name every error that is raised."""

import ast
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import subnormal
from benchmarks.structure import import_cycles
from subnormal.mechanisms.families import FAMILIES
from tests.conftest import LONG
from tests.support.paths import ROOT
from tests.support.processes import run

PACKAGES = ("mechanisms", "attacks", "audit")
SOURCES = sorted(path for package in (*PACKAGES, "tests", "benchmarks") for path in (ROOT / package).rglob("*.py"))
FILES_MAX = 20  # of a folder, its __init__.py left out


def test_no_folder_is_crowded() -> None:
    folders = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(folder): files for folder, files in folders.items() if files > FILES_MAX} == {}


def test_every_folder_is_a_package() -> None:
    """Without an __init__.py a folder can be imported, but the import contracts do not see it."""
    folders = {path.parent for path in SOURCES}
    missing = [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").is_file()]
    assert not missing, f"these folders have no __init__.py: {missing}"


def test_no_imports_form_a_cycle() -> None:
    assert import_cycles() == []


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path: Path) -> set[str]:
    """Return the packages that a file imports, by their first names."""
    names = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif node.level == 0:
            names.add((node.module or "").partition(".")[0])
    return names


def test_the_code_imports_itself_by_one_name() -> None:
    assert [str(path) for path in SOURCES if not imported(path).isdisjoint(PACKAGES)] == []


@pytest.mark.parametrize("command", [["-m", "audit"], ["-c", "from subnormal.audit.__main__ import entry; entry()"]])
def test_no_module_is_imported_under_two_names(command: list[str], tmp_path: Path) -> None:
    """At the end of an audit, whoever started it, and in the processes that it started."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, json, os, sys\n"
        f"names = lambda: [name for name in sys.modules if name.partition('.')[0] in {PACKAGES}]\n"
        "tell = lambda: open(f'modules-{os.getpid()}', 'w').write(json.dumps(names()))\n"
        "atexit.register(tell)\n"
    )
    asked = ["run", "--attack", "zero-rounding", "--attack", "grid-precision", "--quick", "--jobs", "2"]
    asked += ["--mechanism", "exponential-naive-float64", "--mechanism", "laplace-rounded"]  # to import no library
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    shown = run([sys.executable, *command, *asked], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths})
    assert shown.returncode == 0, shown.stderr
    told = [json.loads(path.read_text()) for path in tmp_path.glob("modules-*")]
    assert told
    assert {name for names in told for name in names} <= {"audit"}  # which has nothing in it


def test_members_are_in_the_folders_that_their_family_may_name() -> None:
    """Members are named as strings, so that no import contract sees them. Those of libraries are apart."""
    for reference in (name for family in FAMILIES for name in family.members):
        module, _, attribute = reference.partition(":")
        assert re.fullmatch(r"subnormal\.mechanisms\.\w+\.\w+", module)
        assert (ROOT / module.removeprefix("subnormal.").replace(".", "/")).with_suffix(".py").is_file()
        assert attribute.isupper() or attribute == "", reference


LIBRARY_NAMES = {
    "catalogue.py": {"laplace"},
    "numpy_draws.py": {"laplace", "exponential"},
    "scipy_draws.py": {"laplace"},
}


def test_audit_names_no_family() -> None:
    """What differs from family to family is a field of `Family`, so that a new one is one folder.

    Kinds of claims and test vectors have the field's names; three files name functions of libraries.
    """
    names = {family.name for family in FAMILIES}
    others = {path for folder in ("claims", "vectors") for path in (ROOT / "audit" / folder).rglob("*.py")}
    for path in set((ROOT / "audit").rglob("*.py")) - others:
        texts = {node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)}
        assert (names - LIBRARY_NAMES.get(path.name, set())).isdisjoint(texts), path
        assert "randomized-response" not in path.read_text(), path


def test_modules_are_called_by_their_own_names() -> None:
    """Where two modules of a name meet, or a variable has the name, the package's goes first: laplace_exact."""
    other = [
        f"{path.relative_to(ROOT)}: {node.module}.{alias.name} as {alias.asname}"
        for path in SOURCES
        for node in imports(path)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
        if alias.asname is not None
        and ROOT.joinpath(*node.module.split("."), f"{alias.name}.py").exists()
        and alias.asname not in _with_package(node.module.rpartition(".")[2], alias.name)
    ]
    assert other == []


def _with_package(package: str, name: str) -> set[str]:
    return {f"{package}_{name}", f"test_{package}_{name.removeprefix('test_')}"}


def test_examples_with_an_interpreter_can_be_started() -> None:
    files = filter(Path.is_file, (ROOT / "docs" / "examples").iterdir())
    scripts = [path for path in files if path.read_bytes().startswith(b"#!")]
    assert [path.name for path in scripts if not os.access(path, os.X_OK)] == []
    assert "laplace_target.sh" in {path.name for path in scripts}


def test_a_documented_resumption_is_of_the_audit_before_it() -> None:
    """A checkpoint is of one audit: the same attack, mechanism and runs, with whatever number of processes."""
    commands = re.findall("^    subnormal run (.*)$", (ROOT / "docs" / "cluster.md").read_text(), re.MULTILINE)
    interrupted, resumed = (re.sub(r"--jobs \d+|--resume|#.*", "", one).split() for one in commands[:2])
    assert "--resume" in commands[1]
    assert interrupted == resumed


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


def test_the_list_of_long_tests_names_tests_that_are_there() -> None:
    """One that is renamed would come back to `make test` unseen."""
    named = {line.partition("[")[0].partition("::")[::2] for line in LONG.read_text().splitlines() if "::test_" in line}
    assert len(named) > 100
    gone = [one for one in named if not (file := ROOT / one[0]).exists() or f"def {one[1]}(" not in file.read_text()]
    assert gone == []


def test_a_checkout_without_links_works(tmp_path: Path) -> None:
    """As Windows, a zip archive and an sdist have it: the links of `subnormal/` are files of text, or are missing."""
    for name in ("subnormal", *PACKAGES):
        copytree(ROOT / name, tmp_path / name, ignore=ignore_patterns("__pycache__", *PACKAGES))
    for name in PACKAGES[1:]:
        (tmp_path / "subnormal" / name).write_text(f"../{name}")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shown = run([sys.executable, "-m", "audit", "--version"], cwd=tmp_path, env=environment)
    assert (shown.stdout.split()[:2], shown.stderr) == (["subnormal,", "version"], "")


def test_nothing_else_of_a_checkout_is_part_of_the_package() -> None:
    """Beside an installed package lie those of others, which are no part of it either."""
    if (ROOT / "subnormal" / "audit").is_dir():
        assert list(subnormal.__path__) == [str(ROOT / "subnormal")]
