"""The command line as a user meets it: exit codes, streams, and files whole or not at all."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from subnormal import attack, load
from subnormal.audit.__main__ import main
from subnormal.audit.commands.run import Runs
from subnormal.audit.engine import provenance
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.families import family, members
from tests.support.processes import SUBNORMAL, alive, ended, run, started

FAST = ["--attack", "truncated-addition", "--mechanism", "exponential-naive-float64", "--quick", "--jobs", "1"]
FEW = [word for name in ("float64", "float32", "shifted") for word in ("--mechanism", f"exponential-naive-{name}")]
LAPLACE = ("laplace-naive-float64", "laplace-naive-float32", "laplace-rounded", "laplace-exact-base-e", "laplace-exact")
FEW += ["--mechanism", "exponential-base2", "--quick"]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments])


def rows_of(folder: Path, *arguments: str) -> Any:
    """Return the rows of a run, as they are in its report."""
    result = call("run", *arguments, "--jobs", "1", "--format", "json", "--out", str(folder))
    assert result.exit_code == 0
    return json.loads(result.stdout)["rows"]


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, *arguments], cwd=cwd)


def test_a_run_prints_the_table_and_writes_the_report(tmp_path: Path) -> None:
    result = python("-m", "audit", "run", "--attack", "zero-rounding", *FEW, cwd=tmp_path)
    assert result.returncode == 0
    assert "exponential-naive-float64" in result.stdout
    assert "VIOLATED" in result.stdout
    assert "NOT REFUTED" in result.stdout
    assert "…" not in result.stdout  # a pipe has no width: nothing is cut off
    assert sorted(os.listdir(tmp_path / "reports")) == ["report.html", "report.json"]


def test_standard_output_is_one_document_and_files_are_those_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "mine.png").write_text("mine")
    for form in ("json", "html"):
        shown = call("run", *FAST, "--format", form, "--out", str(tmp_path)).stdout
        assert shown == (tmp_path / f"report.{form}").read_text()
    assert sorted(os.listdir(tmp_path)) == ["mine.png", "report.html", "report.json"]


def test_rows_that_tell_nothing_have_a_note_and_change_no_exit_code(tmp_path: Path) -> None:
    members = [
        word for kind in ("float16", "float32", "float64") for word in ("--mechanism", f"exponential-naive-{kind}")
    ]
    command = ("run", "--attack", "zero-rounding", "--all", "--quick", "--jobs", "1", "--out", str(tmp_path))
    result = call(*command, *members)
    assert result.exit_code == 0
    assert "3 rows: 1 VIOLATED, 2 NO VERDICT." in result.output
    assert "both worlds refuse in every run, so nothing was tried" in result.output
    assert call(*command, *members, "--fail-on-violation").exit_code == 1
    alone = call(*command, *members[:4], "--fail-on-violation", "--format", "junit")
    assert alone.exit_code == 0
    assert (
        alone.stdout.count('<skipped type="no evidence" message="There is no verdict on this claim: both worlds') == 2
    )
    assert "No row has a verdict on its claim." in (tmp_path / "report.html").read_text()
    saved = load(tmp_path / "report.json")
    assert [row.note is None for row in saved.rows] == [False, False]


def test_a_report_names_its_command_line_and_its_commit_and_no_path(tmp_path: Path) -> None:
    asked = ["--attack", "zero-rounding", "--runs", "0", "--until-decided", "--mechanism", "exponential-base2"]
    asked += ["--attack", "gumbel-ties", "--mechanism", "exponential-naive-float64"]
    result = call("run", *asked, "--jobs", "1", "--out", str(tmp_path / "out"), "--format", "junit")
    assert result.exit_code == 0, result.output
    report, page = load(tmp_path / "out" / "report.json"), (tmp_path / "out" / "report.html").read_text()
    assert report.command == " ".join(["subnormal", "run", *asked])
    assert report.commit == provenance.commit()
    for made in filter(None, (report.command, report.commit)):
        assert f"<dd>{made}</dd>" in page.partition("How it was made</h2>")[2]
        assert f'value="{made}"' in result.stdout
    assert not [name for name in os.listdir(tmp_path / "out") if str(tmp_path) in (tmp_path / "out" / name).read_text()]


def test_the_same_seed_gives_the_same_rows_whatever_else_the_report_holds(tmp_path: Path) -> None:
    def rows(*arguments: str) -> Any:
        return rows_of(tmp_path, *arguments, "--runs", "1000", "--seed", "7")

    shifted = "--attack", "zero-rounding", "--mechanism", "exponential-naive-shifted"
    alone = rows(*shifted, "--alpha", "0.01")
    among = rows(*shifted, "--mechanism", "exponential-base2", "--alpha", "0.02")  # two rows, 0.01 each
    assert alone[0] in among
    assert alone == rows(*shifted, "--alpha", "0.01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--attack", "zero-roundin"], "unknown attack 'zero-roundin'; did you mean 'zero-rounding'?"),
        (["run", "--mechanism", "exponential-bas2"], "did you mean 'exponential-base2'?"),
        (["run", "--family", "exponentail"], "did you mean 'exponential'?"),
        (["run", "--attack", "exponential-exact"], "--attack: 'exponential-exact' is a mechanism"),
        (["run", "--attack", "laplace"], "--attack: 'laplace' is a family"),
        (["run", "--mechanism", "zero-rounding"], "--mechanism: 'zero-rounding' is an attack"),
        (["run", "--family", "zero-rounding"], "--family: 'zero-rounding' is an attack"),
        (["list", "--family", "exponential-exact"], "--family: 'exponential-exact' is a mechanism"),
        (["list", "--family", "exponentail"], "did you mean 'exponential'?"),
        (["vectors", "make", "--attack", "exponential-exact"], "--attack: 'exponential-exact' is a mechanism"),
        (["compose", "--attack", "exponential-exact"], "--attack: 'exponential-exact' is a mechanism"),
        (["run", "--runs", "-1"], "-1 is not in the range 0<=x<="),
        (["run", "--alpha", "1"], "1.0 is not in the range 1e-12<=x<1"),
        (["run", "--out", "/dev/null/nowhere"], "Error: --out: Not a directory: /dev/null/nowhere"),
        (["run", "--attack", "zero-rounding-refusal", "--mechanism", "exponential-naive-float16"], "--all tries"),
        (["run", "--alpha", "nan"], "nan is not a finite number"),
        (["run", "--out", ""], "the name of the folder is empty"),
        (["run", "--out", __file__], "is a file"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_a_mistake_in_the_call_exits_2_and_names_it(arguments: list[str], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_row_that_fails_becomes_its_error_and_exits_3_whatever_the_others_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("no such luck [bold]")

    monkeypatch.setattr(base2, "law", fail)
    asked = ["run", "--attack", "zero-rounding", "--jobs", "1", "--format", "json", "--fail-on-violation"]
    for met, code in ((FEW, 3), (FEW[:2], 1)):
        result = call(*asked, *met, "--quick", "--out", str(tmp_path))
        rows = {row["mechanism"]: row for row in json.loads(result.stdout)["rows"]}
        assert rows["exponential-naive-float64"]["exact"]["verdict"] == "VIOLATED"
        failed = [row["error"] for row in rows.values() if row["error"]]
        assert failed == ["RuntimeError: no such luck [bold]"] * (code == 3)
        assert ("no such luck [bold]" in (tmp_path / "report.html").read_text()) == (code == 3)
        assert result.exit_code == code


def takes(one: AnyMechanism, data: object, parameters: object) -> bool:
    """Return whether a member takes data: floats of few bits hold few utilities."""
    return one.takes is None or one.takes(data, parameters)


def test_all_shows_the_crossings_that_tell_nothing(tmp_path: Path) -> None:
    shown = rows_of(tmp_path, "--attack", "zero-rounding", "--quick", "--all")
    of, named = attack("zero-rounding"), members(family("exponential"))
    met = [one for one in named if not one.variant_of and all(takes(one, data, of.parameters) for data in of.worlds())]
    assert len(shown) == len(met)


def workers(parent: int) -> list[int]:
    """Return the worker processes of an audit, waiting until there are some."""
    for _ in range(200):
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        spawned = [int(child) for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
        if spawned:
            return spawned
        time.sleep(0.1)
    raise AssertionError("no worker has started")


def test_an_interrupted_run_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "report.json").write_text("before")
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started([*SUBNORMAL, "run"], cwd=tmp_path, start_new_session=True, **piped) as process:
        if Path("/proc/self/task").exists():
            workers(process.pid)
        else:
            time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)  # the workers too, as a terminal does
        _, errors = ended(process)
    assert process.returncode == 130
    assert errors.strip() == "interrupted: nothing was written"
    assert os.listdir(tmp_path / "reports") == ["report.json"]
    assert (tmp_path / "reports" / "report.json").read_text() == "before"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found through /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_audit_however_it_ends(how: signal.Signals, tmp_path: Path) -> None:
    with started([*SUBNORMAL, "run"], cwd=tmp_path, stderr=subprocess.DEVNULL) as audit:
        spawned = workers(audit.pid)
        time.sleep(1)  # until they have begun to work
        audit.send_signal(how)
        ended(audit)
        for _ in range(300):
            if not any(alive(worker) for worker in spawned):
                break
            time.sleep(0.1)
        assert not any(alive(worker) for worker in spawned)
    assert set(os.listdir(tmp_path / "reports")) <= {"checkpoint.json", ".checkpoint.json.new", ".audit.lock"}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found through /proc")
def test_a_worker_that_dies_costs_nothing(tmp_path: Path) -> None:
    attacks = "least-significant-bits", "grid-precision", "grid-precision@epsilon=0.1"
    asked = ["run", *(word for name in attacks for word in ("--attack", name)), "--quick", "--format", "json"]
    asked += [word for name in LAPLACE for word in ("--mechanism", name)]
    expected = call(*asked, "--jobs", "1", "--out", str(tmp_path / "expected"))
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started([*SUBNORMAL, *asked, "--jobs", "2"], cwd=tmp_path, **quiet) as audit:
        os.kill(workers(audit.pid)[0], signal.SIGKILL)
        printed, _ = ended(audit)
    assert audit.returncode == 0
    whole, again = (json.loads(text)["rows"] for text in (expected.stdout, printed))
    assert len(whole) > 10
    assert {row["reproducible"] for row in whole} == {True}  # others' libraries have a randomness of their own
    assert again == whole


def test_list_is_as_wide_as_a_terminal() -> None:
    terminal = CliRunner(env={"FORCE_COLOR": "1", "COLUMNS": "80"}).invoke(main, ["list"])
    whole, folded = call("list").stdout, terminal.stdout
    assert "exponential-base2 (exact)" in whole
    assert max(map(len, whole.splitlines())) > 80
    assert [line for line in folded.splitlines() if len(line) > 80] == []
    assert folded.split() == whole.split()
    assert "\n    zero-rounding: " in folded


def test_list_shows_one_family_alone() -> None:
    result = call("list", "--family", "gaussian")
    assert result.stdout in call("list").stdout
    assert result.stdout.startswith("family gaussian\n")
    assert result.stdout.count("family ") == 1
    assert "gaussian-exact" in result.stdout
    assert "laplace-exact" not in result.stdout


def test_imports_are_lazy(tmp_path: Path) -> None:
    heavy = "[name for name in ('scipy', 'matplotlib', 'gmpy2') if name in sys.modules]"
    probe = f"import sys, subnormal.audit\nfrom subnormal.audit.__main__ import main\nprint({heavy})"
    assert python("-c", probe, cwd=tmp_path).stdout.strip() == "[]"


def test_runs_until_decided_stop_early_and_convict_by_themselves(tmp_path: Path) -> None:
    asked = ["--attack", "grid-precision", "--mechanism", "laplace-rounded", "--mechanism", "laplace-exact"]
    broken, exact = rows_of(tmp_path, *asked, "--until-decided", "--runs", "20000")
    assert broken["sampled"] is None
    assert broken["sequential"]["verdict"] == "VIOLATED"
    assert broken["sequential"]["runs"] < 2_000
    assert broken["sequential"]["looks"][-1] == [broken["sequential"]["runs"], broken["sequential"]["log_e_value"]]
    assert exact["sequential"]["verdict"] == "NOT REFUTED"
    assert exact["sequential"]["runs"] == 20_000
    gating = ["--until-decided", "--fail-on-violation", "--jobs", "1", "--out", str(tmp_path)]
    convicted = call("run", *asked, *gating)
    assert convicted.exit_code == 1
    assert call("run", *asked[:2], *asked[4:], "--runs", "2000", *gating).exit_code == 0
    assert "sequential" in convicted.stdout


@pytest.mark.parametrize(
    ("written", "runs"),
    [("2e1", 20), ("1.5E1", 15), ("1_0", 10), *((bad, None) for bad in ("1.55e1", "1e99", "e", "-1e3", "nan"))],
)
def test_many_runs_may_be_written_short(written: str, runs: int | None) -> None:
    if runs is None:
        with pytest.raises(click.BadParameter):
            Runs(0, 10**12).convert(written, None, None)
    else:
        assert Runs(0, 10**12).convert(written, None, None) == runs


def test_a_terminal_sees_runs_a_second_the_time_left_and_the_bound(tmp_path: Path) -> None:
    """In a pipe nothing moves; on a terminal the last line tells how far the audit is: 80 columns have room for it."""
    shown, terminal = pty.openpty()
    command = [*SUBNORMAL, "run", "--attack", "zero-rounding", "--runs", "3000000", "--jobs", "1"]
    command += ["--mechanism", "exponential-naive-float64", "--mechanism", "exponential-exact"]
    environment = os.environ | {"COLUMNS": "80", "TERM": "xterm"}
    with started(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=terminal, env=environment) as audit:
        os.close(terminal)
        seen = b""
        with contextlib.suppress(OSError):  # the terminal is gone when the audit is
            while part := os.read(shown, 1 << 16):
                seen += part
        ended(audit)
    os.close(shown)
    assert audit.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert re.search(r" 0 of 2 rows; [\d,]+ runs/s, 0:00:\d\d left; ε ≥ 1[\d.]+ of 0.5:", text)
    assert "2 of 2 rows" in text
