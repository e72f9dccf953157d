"""A target of which nothing was tried is no pass: rows are errors, the exit code is 3, and JUnit shows it."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from tests.support.paths import MISBEHAVING_TARGET

PYTHON = f"{sys.executable} -I -S"
MISBEHAVING = f"cmd: {PYTHON} {MISBEHAVING_TARGET}"
FEW = ["--attack", "grid-precision", "--attack", "absorption", "--runs", "300"]
NOISE = "[data + random.expovariate(1.0) - random.expovariate(1.0) for _ in range(runs)]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments])


def target(folder: Path, body: str, name: str) -> str:
    (folder / f"{name}.py").write_text(
        f"import os, random, sys, ctypes\ndef release(data, parameters, runs):\n    {body}\n"
    )
    return f"{name}:release"


@pytest.mark.parametrize("more", [[], ["--until-decided"], ["--runs", "5000"]])
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise KeyError('scale')", "KeyError: 'scale'"),
        ("sys.exit('no')", "SystemExit: no"),
        ("os._exit(0)", "SystemExit: 0"),
    ],
)
def test_a_target_that_only_raises_is_an_error_and_exits_3(body: str, told: str, more: list[str], folder: Path) -> None:
    name = target(folder, body, f"raising_{'_'.join(filter(str.isalnum, body + ''.join(more)))}")
    result = call("--target", name, *FEW, *more, "--format", "junit", "--fail-on-violation")
    assert result.exit_code == 3
    for case in ElementTree.fromstring(result.stdout).iter("testcase"):
        (shown,) = case
        assert shown.tag == "error"
        assert "of both worlds raised, the last" in shown.get("message", "")
        assert told in shown.get("message", "")
    for row in json.loads((folder / "reports" / "report.json").read_text())["rows"]:
        assert (row["sampled"], row["sequential"]) == (None, None)


def test_a_target_that_raises_in_one_world_only_leaks_and_is_no_error(folder: Path) -> None:
    name = target(folder, "return [0] * runs if min(data) == max(data) else 1 / 0", "leaking_zero")
    result = call("--target", name, "--attack", "zero-rounding-refusal", "--quick", "--format", "json")
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["error"], row["sampled"]["verdict"]) == (None, "VIOLATED")


@pytest.mark.parametrize("family", ["sparse-vector", "laplace", "cmd"])
def test_one_outcome_in_all_rows_is_a_warning_and_where_builds_fail_an_error(family: str, folder: Path) -> None:
    asked = FEW
    if family == "sparse-vector":
        asked = ["--family", family, "--runs", "300"]
        name = target(folder, "return [[0]] * runs", "always_below")
    else:
        name = f"{MISBEHAVING} 'always the same'" if family == "cmd" else target(folder, "return [7] * runs", "seven")
    told = "in each row, every run of both worlds gave one outcome"
    read = call("--target", name, *asked, "--format", "json")
    assert read.exit_code == 0
    for row in json.loads(read.stdout)["rows"]:
        assert row["error"] is None
        assert told in row["warnings"][0]
    failing = call("--target", name, *asked, "--format", "json", "--fail-on-violation")
    assert failing.exit_code == 3
    for row in json.loads(failing.stdout)["rows"]:
        assert told in row["error"]
        assert row["sampled"] is None


def test_one_outcome_in_some_rows_is_no_error(folder: Path) -> None:
    body = f"return [7.5] * runs if parameters['grid'] == 0 else {NOISE}"
    name = target(folder, body, "sometimes_seven")
    result = call("--target", name, *FEW, "--format", "json", "--fail-on-violation", "--epsilon", "1")
    assert result.exit_code in (0, 1)
    assert [row["error"] for row in json.loads(result.stdout)["rows"]] == [None, None]


@pytest.mark.parametrize(("form", "parse"), [("json", json.loads), ("junit", ElementTree.fromstring)])
def test_what_a_target_prints_does_not_get_into_the_report(
    form: str, parse: Callable[[str], object], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = "print('by Python'); os.write(1, b'by the system'); ctypes.CDLL(None).printf(b'by C')"
    name = target(folder, f"{printed}; os.system('echo by sh'); return {NOISE}", f"printing_{form}")
    with (folder / f"printing_{form}.py").open("a") as module:
        module.write("print('when imported')\n")
    result = call("--target", name, *FEW, "--format", form)
    parse(result.stdout)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert all(what in shown.err for what in ("by the system", "by C", "by sh"))
    assert all(what in result.stderr for what in ("by Python", "when imported"))
    ctypes.CDLL(None).printf(b"C, afterwards\n")
    ctypes.CDLL(None).fflush(None)
    os.write(1, b"the system, afterwards\n")
    assert capfd.readouterr().out == "C, afterwards\nthe system, afterwards\n"


def test_what_c_holds_back_goes_to_standard_error_too() -> None:
    script = (
        "import ctypes\nfrom subnormal.audit.commands.printing import redirect_stdout_to_stderr\n"
        "ctypes.CDLL(None).printf(b'before ')\n"
        "with redirect_stdout_to_stderr():\n    ctypes.CDLL(None).printf(b'meanwhile')\n"
        "print('after')\n"
    )
    held_back = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=held_back, capture_output=True, text=True, timeout=60, check=True
    )
    assert (ended.stdout, ended.stderr) == ("before after\n", "meanwhile")


@pytest.mark.parametrize(
    ("arguments", "alpha"),
    [([], 0.05), (["--fail-on-violation"], 1e-3), (["--fail-on-violation", "--alpha", "0.05"], 0.05)],
)
def test_what_fails_a_build_is_rarely_a_false_alarm(arguments: list[str], alpha: float, folder: Path) -> None:
    name = target(folder, f"return {NOISE}", f"noisy_{len(arguments)}")
    result = call("--target", name, *FEW, "--format", "json", *arguments)
    assert json.loads(result.stdout)["alpha"] == alpha
