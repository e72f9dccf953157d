"""How a target is asked: runs that bound all runs, requests as large as it is fast, rows that outlive the audit."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.audit.__main__ import main
from subnormal.audit.commands import common
from subnormal.audit.commands.target import TargetArguments, examine_target
from subnormal.audit.engine.scheduler import AuditProgress
from subnormal.audit.targets.outcome_warnings import OutcomeMonitor
from subnormal.audit.targets.stated_claim import StatedClaim
from subnormal.audit.targets.target import mechanism
from subnormal.mechanisms.bits import seeded_bits

TWO = ["--attack", "grid-precision", "--attack", "absorption"]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Give the name of a target whose body is the test's parameter; its module counts what it is asked, by data."""
    name = f"target_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(
        "import collections, os, random, signal\nasked, seen = collections.Counter(), []\n"
        "def release(data, parameters, runs):\n"
        "    asked[repr(data)] += runs\n"
        "    seen.append(parameters['grid'])\n"
        f"    {request.param}\n"
        "    return [random.random() for _ in range(runs)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return name


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments])


def asked(name: str) -> Counter[str]:
    counted: Counter[str] = sys.modules[name].asked
    return counted


@pytest.mark.parametrize("until_decided", [False, True])
@pytest.mark.parametrize("runs", [2, 9, 200, 3_000])
@pytest.mark.parametrize("written", ["pass"], indirect=True)
def test_runs_bound_all_runs_of_each_world(written: str, runs: int, until_decided: bool) -> None:
    """The pilot and the first call are among them. A claim that is not refuted takes all of them."""
    attack, arguments = grid_precision(), TargetArguments(f"{written}:release", StatedClaim(epsilon=1.0), 60.0)
    report = examine_target([attack], arguments, seed=1, runs=runs, alpha=1e-6, until_decided=until_decided)
    assert report.rows[0].error is None
    assert asked(written) == {repr(data): runs for data in attack.worlds()}


@pytest.mark.parametrize("runs", [1_000, 3_000])
@pytest.mark.parametrize("written", ["pass"], indirect=True)
def test_runs_bound_those_of_the_search_too(written: str, runs: int) -> None:
    arguments = TargetArguments(f"{written}:release", StatedClaim(epsilon=1.0), 60.0)
    report = examine_target([grid_precision()], arguments, seed=1, runs=runs, alpha=1e-6, search=True)
    assert [row.attack for row in report.rows][1:] == ["neighbours"]
    assert 3 * runs < asked(written).total() <= 4 * runs


@pytest.mark.parametrize("written", ["raise KeyError('scale')"], indirect=True)
def test_a_target_that_only_raises_is_asked_for_no_more_than_its_pilot(written: str) -> None:
    arguments = TargetArguments(f"{written}:release", StatedClaim(), 60.0)
    (row,) = examine_target([grid_precision()], arguments, seed=1, runs=8_000, alpha=0.05).rows
    assert row.error is not None
    assert "all of the first 1,000 runs of both worlds raised, the last \"KeyError: 'scale'\"" in row.error
    assert set(asked(written).values()) == {1_000}


@pytest.mark.parametrize("written", ["raise KeyError('scale')"], indirect=True)
def test_one_run_that_judges_nothing_is_too_few(written: str) -> None:
    arguments = TargetArguments(f"{written}:release", StatedClaim(), 60.0)
    (row,) = examine_target([grid_precision()], arguments, seed=1, runs=1, alpha=0.05).rows
    assert row.error == "ValueError: runs must leave one to judge by, got 1"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (2.0**-24, [1, 10, 100, 1_000, 10_000, 10_000, 889]),
        (2.0**-10, [1, 10, 100, 1_000, 1_024, 1_024, 189]),
        (0.25, [1, *[4] * 6, 1]),
        (45.0, [1] * 4),
    ],
)
def test_a_request_takes_about_a_second_whatever_the_speed(
    seconds: float, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, sizes = 0.0, list[int]()

    def target(data: Any, parameters: Any, of: Any, runs: int) -> list[Any]:
        nonlocal now
        now += seconds * runs
        sizes.append(runs)
        return [0.5] * runs

    monkeypatch.setattr("subnormal.audit.targets.target.time.monotonic", lambda: now)
    member = mechanism("f", "laplace", target, StatedClaim(), OutcomeMonitor())
    attack = grid_precision()
    bits = seeded_bits(1, "a", "m", "in", 0)
    assert len(member.sample(0, attack.parameters, bits, sum(expected))) == sum(expected)
    assert sizes == expected


def ending(how: str) -> str:
    """Return what ends the audit when a second attack begins."""
    return f"if parameters['grid'] != seen[0]: os.kill(os.getpid(), signal.{how})"


@pytest.mark.parametrize(
    ("written", "how"), [(ending(how), how) for how in ("SIGKILL", "SIGINT")], indirect=["written"]
)
def test_rows_that_are_finished_outlive_the_audit(written: str, how: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "audit", "run", "--target", f"{written}:release", *TWO, "--runs", "300"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job inherits it ignored
    )
    assert ended.returncode == (-signal.SIGKILL if how == "SIGKILL" else 130), ended.stderr
    told = "interrupted: reports/report.json has the rows that are finished, 1 by now"
    assert (told in ended.stderr) == (how == "SIGINT")
    _is_unfinished(tmp_path / "reports")


def _is_unfinished(out: Path) -> None:
    assert sorted(os.listdir(out)) == ["report.html", "report.json"]
    document = json.loads((out / "report.json").read_text())
    (row,) = document["rows"]
    assert row["error"] is None
    assert {row["attack"], *document["unfinished"]} == {"grid-precision", "absorption"}
    assert document["alpha_per_row"] == document["alpha"] / 2
    assert f"UNFINISHED: the rows of {document['unfinished'][0]} are missing" in (out / "report.html").read_text()


@pytest.mark.parametrize("written", ["pass"], indirect=True)
def test_a_report_that_cannot_be_kept_on_the_way_is_told_of_and_the_audit_goes_on(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from subnormal.audit.report import atomic_write

    def full(*arguments: Any) -> None:
        monkeypatch.undo()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_write, "write", full)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = call("--target", f"{written}:release", *TWO, "--runs", "300", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    assert "No space left on device; the audit goes on" in result.stderr
    assert json.loads((tmp_path / "out" / "report.json").read_text())["unfinished"] == []


def test_progress_in_a_pipe_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("subnormal.audit.commands.common.time.monotonic", lambda: now)
    with common.audit_progress() as told:
        for _ in range(250):  # of a tenth of a second each
            now += 0.1
            told(AuditProgress(7, 2, 1_000, 500, 0, None))
    assert capsys.readouterr().err.splitlines() == [
        "auditing: 2 of 7 rows; 50 runs/s, 0:00:10 left",
        "auditing: 2 of 7 rows; 25 runs/s, 0:00:20 left",
    ]
