"""The command check: what a function may do to its process, what is printed and written, and the exit codes."""

import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from subnormal.audit.commands import check, common, watched
from tests.support.processes import PATIENCE, SUBNORMAL, alive, ended, started

MODULE = """
import ctypes, os, random, sys, time
from pathlib import Path
from hypothesis import strategies as st

records = st.lists(st.integers(0, 9), max_size=3)
PAGE = 4096

def laplace():
    return random.expovariate(1.0) - random.expovariate(1.0)

def forgets_to_clip(records):
    return sum(records) + random.gauss(0.0, 1.0)

def noisy(records):
    return round(len(records) + laplace(), 2)

def makes():
    calls = []
    def once(records):
        calls.append(records)
        if len(calls) > 1:
            raise RuntimeError("no budget")
        return forgets_to_clip(records)
    return once

once = makes()

def raises(records):
    raise ValueError("no such column")

def iterates(records):
    return iter(records)

def takes_two(records, epsilon):
    return 1

def crashes(records):
    ctypes.string_at(0)

def exits_in_c(records):
    ctypes.CDLL(None)._exit(0)

def hangs(records):
    if os.fork() == 0:
        Path("child").write_text(str(os.getpid()))
        time.sleep(600)
        os._exit(0)
    while True:
        time.sleep(600)

def interrupts(records):
    raise KeyboardInterrupt

def waits(records):
    Path("writing").write_text(str(os.getpid()))
    os.replace("writing", "waiting")
    time.sleep(600)

def prints(records):
    print("from Python")
    os.write(1, b"from C\\n")
    os.system("echo from a child")
    return 1
"""
PAIR = ("--in", "[1, 1]", "--out", "[1]", "--epsilon", "1")
SOME = ("--data", "mine:records", "--adjacent", "add-or-remove", "--epsilon", "1", "--delta", "1e-6")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watched, "GRACE", 2.0)
    return tmp_path


def checked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("crashes", rf"was ended by signal {signal.SIGSEGV.value} \(Segmentation fault\)"),
        ("exits_in_c", "ended with exit code 0"),
        ("hangs", "a call did not end within 3 s"),
    ],
)
def test_a_function_that_takes_its_process_along_is_one_line_and_exit_code_3(
    function: str, error: str, folder: Path
) -> None:
    shown = checked(f"mine:{function}", *PAIR, "--seconds", "1", "--report", "out")
    assert shown.exit_code == 3, shown.output
    assert re.fullmatch(f"ERROR  mine:{function}: (it )?{error}[^\n]*\n", shown.stdout)
    document = json.loads((folder / "out" / "check.json").read_text())
    assert document["verdict"] is None
    assert re.search(error, document["error"])
    if function == "hangs":
        assert not alive(int((folder / "child").read_text()))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("form", ["json", "html"])
def test_a_function_that_raises_in_every_run_is_exit_code_3(form: str) -> None:
    shown = checked("mine:raises", *PAIR, "--seconds", "1", "--format", form)
    assert shown.exit_code == 3
    assert shown.stdout.startswith("{" if form == "json" else "<!doctype html>")
    assert "every run of every input raised; the last: ValueError: no such column" in shown.stdout


def test_a_bug_report_has_the_inputs_the_severity_the_test_and_the_versions() -> None:
    shown = checked("mine:forgets_to_clip", "--in", "[9]", "--out", "[]", "--epsilon", "1", "--format", "issue")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("# forgets_to_clip breaks its claim: epsilon = 1\n")
    for part in ("data_in = [9]", "Severity: large loss.", "def test_forgets_to_clip_keeps_its_claim", ", numpy "):
        assert part in shown.stdout
    silent = checked(
        "mine:noisy", "--in", "[9]", "--out", "[]", "--epsilon", "1", "--seconds", "1", "--format", "issue"
    )
    assert silent.stdout.startswith("Nothing to report: no violation was found.\n")


def test_a_mistake_that_the_process_of_the_function_finds_is_one_line() -> None:
    shown = checked("mine:iterates", *PAIR, "--seconds", "1", "--report", "out/deep")
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (2, "", 1)
    assert "outcomes of type builtins.list_iterator cannot be told apart" in shown.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("mine:takes_two", *PAIR), "takes_two is called as function(data), but its signature is (records, epsilon)"),
        (("mine:absent", *PAIR), "FUNCTION: 'mine:absent' cannot be imported: AttributeError"),
        (
            ("mine:raises", "--data", "mine:laplace", "--adjacent", "change-one", "--mu", "1"),
            "data must be a Hypothesis",
        ),
        (
            ("mine:raises", "--data", "mine:none", "--adjacent", "change-one", "--mu", "1"),
            "--data: 'mine:none' cannot be",
        ),
        (("mine:raises", *SOME[:2], "--adjacent", "mine:PAGE", "--rho", "1"), "--adjacent mine:PAGE: adjacent must"),
        (("mine:raises", "--adjacent", "change-one", "--rho", "1"), "--adjacent change-one: data must be given"),
        (("mine:PAGE", *PAIR), "FUNCTION: 'mine:PAGE' is no function but '4096'"),
        (("mine.py:raises", *PAIR), "FUNCTION: 'mine.py:raises' names a file"),
        (("mine:raises", "--data", "records", *SOME[2:]), "--data: 'records' is not package.module:name"),
    ],
)
def test_a_mistake_in_the_call_names_it(
    arguments: Sequence[str], error: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(check, "watched", lambda task, options, *, seconds, tell: task(options, tell, lambda: None))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    shown = checked(*arguments, "--seconds", "1")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert error in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--in", "[1]", "--epsilon", "1"), "--in and --out go together"),
        (("--in", "{", "--out", "1", "--epsilon", "1"), "'--in': '{' is no JSON"),
        (("--in", '{"a": 1, "a": 2}', "--out", "1", "--epsilon", "1"), "is no JSON: 'a' is given twice"),
        (("--in", "[" * 100_000, "--out", "1", "--epsilon", "1"), "is no JSON: maximum recursion depth exceeded"),
        (("--in", "1", "--out", "0"), "state one claim: --epsilon (with --delta), --rho, --mu or --renyi"),
        (("--in", "1", "--out", "0", "--epsilon", "1", "--rho", "1"), "given: --epsilon and --rho"),
        (("--in", "1", "--out", "0", "--mu", "1", "--delta", "0.1"), "--delta goes with --epsilon, not with --mu"),
        (("--in", "1", "--out", "0", "--renyi", "1:2"), "--renyi: alpha must be above 1 and finite, got 1.0"),
        (("--in", "1", "--out", "0", "--renyi", "2"), "--renyi: '2' is not ALPHA:EPSILON"),
        (("--in", "1", "--out", "1", "--epsilon", "1"), "--in and --out are one input, 1"),
        (("--adjacent", "swap", "--epsilon", "1"), "--adjacent: 'swap' is none of change-one, add-or-remove"),
        (("--adjacent", "within", "--epsilon", "1"), "--adjacent: 'within' is not within:DISTANCE or"),
        (
            ("--adjacent", "within:0", "--epsilon", "1"),
            "'within:0' is not within:DISTANCE or within:DISTANCE:NORM: ",
        ),
        (("--adjacent", "within:1:l3", "--epsilon", "1"), "norm must be 'l1', 'l2' or 'linf', got 'l3'"),
        (("--adjacent", "within:1:l1:2", "--epsilon", "1"), "'within:1:l1:2' is not within:DISTANCE or"),
        (("--in", "1", "--out", "0", "--epsilon", "nan"), "'--epsilon': nan is not a finite number"),
        (("--in", "1", "--out", "0", "--epsilon", "1", "--seconds", "0"), "'--seconds': 0.0 is not in the range"),
        (("--in", "1", "--out", "0", "--epsilon", "1", "--report", "mine.py"), "'mine.py' is a file"),
        (("--in", "1", "--out", "0", "--epsilon", "1", "--report", "mine.py/x"), "--report: Not a directory"),
        (("--epsilon", "1"), "name the inputs: --data and --adjacent, or one pair by --in and --out"),
        (
            ("--in", "1", "--out", "0", "--epsilon", "1", "--data", "a:b"),
            "--in and --out exclude --data and --adjacent",
        ),
    ],
)
def test_a_mistake_in_the_options_names_them_before_anything_starts(arguments: Sequence[str], error: str) -> None:
    shown = checked("mine:raises", *arguments)
    assert shown.exit_code == 2
    assert error in " ".join(shown.stderr.split())


@pytest.mark.timeout(120)
def test_a_violation_in_every_format(folder: Path) -> None:
    arguments = ("mine:forgets_to_clip", *SOME, "--seconds", "10")
    text = checked(*arguments, "--fail-on-violation", "--report", "out")
    assert text.exit_code == 1, text.output
    words, _, test = text.stdout.partition("A test for it:")
    assert words.startswith("VIOLATED  forgets_to_clip")
    assert max(map(len, words.splitlines())) <= 80
    compile(test, "test", "exec")
    document = json.loads((folder / "out" / "check.json").read_text())
    assert document["verdict"] == "VIOLATED"
    assert document["test"].strip() == test.strip()
    assert f"({document['pairs']:,} pair" in words
    assert f", {document['runs']:,} run" in words
    assert document["command"] == shlex.join(["subnormal", "check", *arguments, "--fail-on-violation"])
    assert (document["domain"], document["relation"]) == (
        "lists(integers(min_value=0, max_value=9), max_size=3)",
        "add_or_remove",
    )
    assert sorted(os.listdir("out")) == ["check.html", "check.json"]
    assert document["worlds"]["in"] in (folder / "out" / "check.html").read_text()


@pytest.mark.timeout(120)
def test_a_function_with_a_state_is_made_afresh() -> None:
    spent = checked("mine:once", *SOME, "--seconds", "10")
    assert spent.exit_code == 3, spent.output
    assert "the function stopped answering after 1 call, the last: RuntimeError: no budget;" in " ".join(
        spent.stdout.split()
    )
    fresh = checked("mine:makes", *SOME, "--seconds", "10", "--fresh")
    assert fresh.stdout.startswith("VIOLATED  makes.<locals>.once"), fresh.output
    assert "from mine import makes\n" in fresh.stdout
    assert "assert_private(fresh=makes, adjacent=" in fresh.stdout
    program = checked("cmd: ./mine", *PAIR, "--fresh")
    assert (program.exit_code, "--fresh goes with module:function" in program.stderr) == (2, True)


@pytest.mark.timeout(60)
def test_standard_output_is_one_document_whatever_the_function_prints() -> None:
    with started(
        [*SUBNORMAL, "check", "mine:prints", *PAIR, "--seconds", "1", "--format", "json"],
        stdout=-1,
        stderr=-1,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    ) as process:
        out, err = ended(process)
    assert process.returncode == 0, err
    assert json.loads(out)["function"] == "prints"
    assert {"from Python", "from C", "from a child"} <= set(err.splitlines())


@pytest.mark.timeout(60)
def test_an_interrupt_ends_the_check_and_its_process(folder: Path) -> None:
    with started(
        [*SUBNORMAL, "check", "mine:waits", *PAIR, "--report", "out/deep"],
        stdout=-1,
        stderr=-1,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
    ) as process:
        until = time.monotonic() + PATIENCE
        while not (folder / "waiting").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = ended(process)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted: nothing was written" in err
    assert not (folder / "out").exists()
    assert not alive(int((folder / "waiting").read_text()))


@pytest.mark.timeout(60)
def test_an_interrupt_in_the_function_ends_the_check() -> None:
    with pytest.raises(click.Abort):  # exit code 130
        CliRunner().invoke(
            main, ["check", "mine:interrupts", *PAIR, "--seconds", "1"], standalone_mode=False, catch_exceptions=False
        )


@pytest.mark.timeout(60)
def test_progress_in_a_pipe_names_the_stage_the_pairs_and_the_best_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "PROGRESS_INTERVAL", 0.0)
    shown = checked("mine:noisy", *SOME, "--examples", "10", "--runs", "40000")
    assert max(map(len, shown.stderr.splitlines())) <= 80
    assert re.search(
        r"(replay|runs): \d+ pairs; best: .* against epsilon = 1, delta = 1e-06, in \[", " ".join(shown.stderr.split())
    )
    assert re.search(r"runs: judging, [\d,]+ runs, e-value", " ".join(shown.stderr.split()))
