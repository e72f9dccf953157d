"""What a release says of itself is the same in every file that says it."""

import os
import re
import tomllib

import pytest
import yaml

from tests.support.paths import ROOT
from tests.support.processes import run

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
    assert found(r"^ +run: (make .*)$", ".github/workflows/test.yml") == ["make test", "make test-long"]
    assert found(r"^make .*$", ".ci/run") == ["make test"]
    assert found(r"^ +entry: (.*)$", ".pre-commit-config.yaml") == ["make lint"]
    lint = found(r"^lint:.*\n((?:\t.*\n)+)", "Makefile")[0]
    assert re.findall(r"\$\(BIN\)/(.*)", lint) == ["ruff check .", "ruff format --check .", "mypy", "lint-imports"]


def test_a_tag_is_published_as_make_release_tried_it() -> None:
    """By a job that waits for a person, with a token of the index's own and no password."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    assert {"run": 'make release VERSION="${GITHUB_REF_NAME#v}"'} in jobs["build"]["steps"]
    assert (jobs["publish"]["needs"], jobs["publish"]["environment"]) == ("build", "pypi")
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


@pytest.mark.parametrize(
    ("version", "told"),
    [("", "make release VERSION=x.y.z"), ("9.9.9", f'pyproject.toml has version = "{PROJECT["version"]}"')],
)
def test_a_release_of_another_version_does_not_begin(version: str, told: str) -> None:
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    shown = run(["make", "release-checks", f"VERSION={version}"], cwd=ROOT, env=alone)
    assert shown.returncode != 0
    assert told in shown.stdout
