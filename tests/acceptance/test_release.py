"""What a release says of itself is the same in every file that says it."""

import re
import tomllib

from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def found(pattern: str, file: str) -> list[str]:
    return re.findall(pattern, (ROOT / file).read_text(), flags=re.M)


def test_version_and_date() -> None:
    version, date = re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[0]
    assert version == PROJECT["version"]
    assert found(r"^version: (.*)$", "CITATION.cff") == [version]
    assert found(r"^date-released: (.*)$", "CITATION.cff") == [date]


def test_the_workflow_tests_the_versions_of_python_that_are_promised() -> None:
    (listed,) = found(r"^ +python: \[(.*)\]$", ".github/workflows/test.yml")
    versions = re.findall(r"[\d.]+", listed)
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    assert versions == named
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_workflow_and_the_hook_run_what_the_gate_runs() -> None:
    assert found(r"^      - run: (.*)$", ".github/workflows/test.yml") == ["make test"]
    assert found(r"^make .*$", ".ci/run") == ["make test"]
    assert found(r"^ +entry: (.*)$", ".pre-commit-config.yaml") == ["make lint"]
    lint = found(r"^lint:.*\n((?:\t.*\n)+)", "Makefile")[0]
    assert re.findall(r"\$\(BIN\)/(.*)", lint) == ["ruff check .", "ruff format --check .", "mypy", "lint-imports"]
