"""The GitHub action and the pre-commit hook: their commands run a suite. No action is fetched."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import tests

ROOT = Path(tests.__file__).parents[1]
SUITE = """
[[check]]
function = "{name}:f"
in = 1
out = 0
epsilon = 1.0
examples = 1
runs = 600
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with a function without noise, and the file of its suite."""
    (tmp_path / "of_hook.py").write_text("def f(data):\n    return data\n")
    (tmp_path / "subnormal.toml").write_text(SUITE.format(name="of_hook"))
    return tmp_path


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **variables, "PATH": path}
    call: Any = ["bash", "-e", "-o", "pipefail", "-c", command]
    return subprocess.run(call, cwd=folder, env=environment, text=True, capture_output=True, timeout=120, check=False)


def test_the_action_installs_this_project_and_fails_for_a_violation(library: Path) -> None:
    action = yaml.safe_load((ROOT / ".github/actions/suite/action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    install, check = action["runs"]["steps"]
    assert (ROOT / ".github/actions/suite" / "../../..").resolve() == ROOT
    assert install["run"] == 'python -m pip install --quiet "$ACTION/../../.."'
    assert set(check["env"].values()) == {"${{ inputs.file }}", "${{ inputs.out }}"}
    given = {name: one["default"] for name, one in action["inputs"].items()}
    ran = run(check["run"], library, FILE=given["file"], OUT=given["out"])
    assert ran.returncode == 1, ran.stderr
    assert (library / "reports/suite/suite.sarif").is_file()


def test_the_hook_fails_for_a_violation(library: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["language"], hook["pass_filenames"]) == ("system", False)
    ran = run(hook["entry"], library)
    assert ran.returncode == 1, ran.stderr
    assert "VIOLATED" in ran.stdout
