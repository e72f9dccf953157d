"""`audit run --target` as a user meets it: exit codes, one line for a mistake, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from tests.support.paths import MISBEHAVING_TARGET, ROOT
from tests.support.processes import SUBNORMAL, ended, run, started

EXAMPLES = ROOT / "docs" / "examples"
PYTHON = f"{sys.executable} -I -S"
NAIVE = f"cmd: {PYTHON} {EXAMPLES / 'laplace_target.py'}"
MISBEHAVING = f"cmd: {PYTHON} {MISBEHAVING_TARGET}"
GRID = ["--attack", "grid-precision"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments])


def test_a_target_gets_a_report_like_any_other_mechanism(tmp_path: Path) -> None:
    result = call("--target", NAIVE, *GRID, "--quick", "--format", "json", "--out", str(tmp_path), "--epsilon", "0.5")
    assert result.exit_code == 0
    (row,) = json.loads(result.stdout)["rows"]
    assert (row["mechanism"], row["attack"]) == (NAIVE, "grid-precision@epsilon=0.5")
    assert row["claim"] == {"epsilon": 0.5, "delta": 0.0}
    assert row["parameters"]["epsilon"] == 0.5
    assert (row["reproducible"], row["warnings"], row["exact"]) == (False, [], None)
    assert row["sampled"]["verdict"] == "VIOLATED"  # the event: 0.16 against 0, in 2,000 runs; never missed
    assert sorted(os.listdir(tmp_path)) == ["report.html", "report.json"]


def test_all_attacks_of_a_family_meet_a_callable_and_a_violation_exits_1(tmp_path: Path) -> None:
    command = [*SUBNORMAL, "run", "--target", "laplace_callable:release", "--family", "laplace"]
    result = run(
        [*command, "--quick", "--fail-on-violation", "--out", tmp_path],
        cwd=EXAMPLES,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert result.returncode == 1, result.stderr
    rows = json.loads((tmp_path / "report.json").read_text())["rows"]
    assert {"grid-precision", "absorption", "least-significant-bits"} <= {row["attack"] for row in rows}
    assert {row["mechanism"] for row in rows} == {"laplace_callable:release"}
    assert not any(row["error"] for row in rows)


def test_a_warning_is_in_every_rendering(tmp_path: Path) -> None:
    target = f"cmd: sh {EXAMPLES / 'laplace_target.sh'} %g"
    result = call("--target", target, *GRID, "--quick", "--out", str(tmp_path))
    told = "all outcomes are decimals of at most 15 digits"
    assert f"grid-precision, {target}: warning: {told}" in " ".join(result.stdout.split())  # lines end at 80 columns
    assert told in json.loads((tmp_path / "report.json").read_text())["rows"][0]["warnings"][0]
    assert told in (tmp_path / "report.html").read_text()


def test_a_name_with_markup_is_shown_as_it_is(tmp_path: Path) -> None:
    result = call("--target", f"{MISBEHAVING} 'ignores its data' [/bold]", *GRID, "--quick", "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "'ignores its data' [/bold]" in " ".join(result.stdout.split())  # lines end at 80 columns


def test_a_target_that_fails_costs_its_rows_and_exits_3(tmp_path: Path) -> None:
    attacks = [*GRID, "--attack", "absorption"]
    result = call("--target", f"{MISBEHAVING} crashes", *attacks, "--quick", "--format", "json", "--out", str(tmp_path))
    assert result.exit_code == 3
    for row in json.loads(result.stdout)["rows"]:
        assert row["error"].startswith("TargetError: was ended by signal 6 (Aborted); its last standard error: ")
    assert "Traceback" not in result.stderr


def test_a_target_that_fails_under_one_attack_exits_3_whatever_another_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "halting.py").write_text(
        "import random\n"
        "def release(data, parameters, runs):\n"
        "    if parameters['grid'] == 0:\n"
        "        return None\n"
        "    return [data + random.expovariate(1.0) - random.expovariate(1.0) for _ in range(runs)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = ["--target", "halting:release", "--quick", "--fail-on-violation", "--out", str(tmp_path / "out")]
    for attacks, code in ((GRID, 1), ([*GRID, "--attack", "absorption"], 3)):
        for more in ([], ["--until-decided"]):
            assert call(*asked, *attacks, *more).exit_code == code
            rows = json.loads((tmp_path / "out" / "report.json").read_text())["rows"]
            assert "VIOLATED" in {(row["sampled"] or row["sequential"] or {}).get("verdict") for row in rows}
            assert any(row["error"] for row in rows) == (code == 3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--target", "cmd: ./nowhere", *GRID],
            "Invalid value for --target: './nowhere' cannot be started: No such file",
        ),
        (["--target", f"{MISBEHAVING} 'wrong version'", *GRID], "speaks protocol 2, not 1"),
        (["--target", "nowhere:f", *GRID], "'nowhere:f' cannot be imported: ModuleNotFoundError"),
        (["--target", NAIVE], "a --target needs --family, one of exponential, gaussian, laplace, partitions"),
        (["--target", NAIVE, "--family", "gaussian", *GRID], "--attack and --family leave no attack for the target"),
        (["--target", NAIVE, *GRID, "--mechanism", "laplace-snapping"], "--target excludes --mechanism"),
        (["--target", NAIVE, *GRID, "--all"], "--target excludes --all"),
        (["--target", NAIVE, *GRID, "--sensitivity", "0.5"], "the inputs of grid-precision lie further apart"),
        (["--target", NAIVE, *GRID, "--sensitivity", "inf"], "inf is not a finite number"),
        (["--target", NAIVE, *GRID, "--epsilon", "0"], "0.0 is not in the range 0<x<=100000"),
        (["--target", NAIVE, *GRID, "--epsilon", "nan"], "nan is not a finite number"),
        (["--target", NAIVE, *GRID, "--delta", "2"], "2.0 is not in the range 0<=x<=1"),
        (["--target", NAIVE, "--family", "gaussian", "--delta", "0"], "delta must lie between 0 and 1, got 0.0"),
        (["--target", NAIVE, *GRID, "--timeout", "0"], "'--timeout': 0.0 is not in the range"),
        (["--epsilon", "1"], "--epsilon states the claim of a --target, and there is none"),
    ],
)
def test_a_mistake_in_the_call_exits_2_and_names_it(arguments: list[str], told: str, tmp_path: Path) -> None:
    result = call(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == []


def test_attacks_that_do_not_fit_the_claim_are_left_out_and_told_of(tmp_path: Path) -> None:
    arguments = ["--family", "laplace", "--sensitivity", "0.5", "--quick", "--out", str(tmp_path)]
    result = call("--target", f"{MISBEHAVING} 'ignores its data'", *arguments)
    assert result.exit_code == 0
    assert "left out: --sensitivity 0.5: the inputs of grid-precision lie further apart" in result.stderr
    assert "sensitivity-rounding" in result.stdout


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_target_ends_with_the_audit_however_it_ends(how: signal.Signals, tmp_path: Path) -> None:
    command = [*SUBNORMAL, "run", "--target", NAIVE, *GRID, "--runs", "100000000"]
    with started(command, cwd=tmp_path, stderr=subprocess.PIPE) as audit:
        target = _child(audit.pid)
        audit.send_signal(how)
        _, errors = ended(audit)
    assert audit.returncode == (130 if how is signal.SIGINT else -how)
    assert "Traceback" not in errors
    for _ in range(100):
        if not Path(f"/proc/{target}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{target}").exists()
    assert os.listdir(tmp_path / "reports") == []


def _child(parent: int) -> int:
    for _ in range(200):
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if found:
            time.sleep(0.5)  # until it is at work
            return int(found[0])
        time.sleep(0.1)
    raise AssertionError("no target has started")


def test_help_shows_how_to_name_a_target() -> None:
    shown = call("--help").stdout
    assert '--target "cmd: ./my_mechanism --flags" --family laplace --epsilon 1' in shown
    for option in ("--target", "--epsilon", "--delta", "--sensitivity", "--domain", "--timeout"):
        assert option in shown


def test_a_target_is_searched_where_no_attack_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No event of the house is noise half as large: the usual neighbours and a learned event find it."""
    (tmp_path / "halved.py").write_text(
        "import random\n"
        "def one(data):\n"
        "    return round(2.0**20 * (data + random.expovariate(2) - random.expovariate(2))) / 2.0**20\n"
        "def release(data, parameters, runs):\n"
        "    if parameters['query'] == 'sum':\n"
        "        data = sum(data)\n"
        "    return [one(data) for _ in range(runs)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = ["--target", "halved:release", "--family", "laplace", "--epsilon", "1", "--runs", "20000"]
    result = CliRunner().invoke(main, ["run", *asked, "--format", "json", "--out", str(tmp_path / "out")])
    rows = {row["attack"]: row for row in json.loads(result.stdout)["rows"]}
    assert rows["grid-precision"]["sampled"]["convicted_by"] == "distance"
    assert rows["neighbours"]["sampled"]["verdict"] == "VIOLATED"
    assert rows["neighbours"]["event"] is not None


@pytest.mark.parametrize(("times", "verdict"), [("math.inf", "VIOLATED"), ("2", "VIOLATED"), ("1", "NOT REFUTED")])
def test_a_target_of_randomized_response_is_judged_by_every_attack(
    times: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the truth always, at twice the budget claimed, and at the budget: there it is accused once in 10^6 times."""
    name = f"answering_{times.replace('.', '_')}"
    (tmp_path / f"{name}.py").write_text(
        "import math, random\n"
        "def one(truth, epsilon, others):\n"
        "    if random.random() < 1 / (1 + others * math.exp(-epsilon)):\n"
        "        return truth\n"
        "    lie = random.randrange(others)\n"
        "    return lie + (lie >= truth)\n"
        "def release(data, parameters, runs):\n"
        f"    epsilon, others = {times} * parameters['epsilon'], parameters['categories'] - 1\n"
        "    return [one(data, epsilon, others) for _ in range(runs)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = ["--target", f"{name}:release", "--family", "randomized-response", "--epsilon", "1", "--alpha", "1e-6"]
    result = call(*asked, "--runs", "20000", "--format", "json", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    rows = {row["attack"]: row["sampled"]["verdict"] for row in json.loads(result.stdout)["rows"]}
    assert set(rows) == {"certain-response@epsilon=1.0", "unreported-category", "uneven-choice", "neighbours"}
    rare = {"unreported-category", "uneven-choice"}  # of a thousand categories hardly anybody reports the one
    assert {found for attack, found in rows.items() if times != "2" or attack not in rare} == {verdict}
