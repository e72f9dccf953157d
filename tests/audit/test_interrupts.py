"""Ctrl-C ends an audit with exit code 130, wherever it comes and whatever swallows it; nothing is written by halves."""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from subnormal.audit import __main__, interrupts
from subnormal.audit.report import atomic_write
from subnormal.audit.targets.child_process import ChildProcess
from tests.support.clusters import wait_until
from tests.support.paths import ROOT
from tests.support.processes import SUBNORMAL, alive, ended, run, started

HERE = ROOT / "tests" / "support"
CHECK = [*SUBNORMAL, "check", "--in", "1", "--out", "0", "--epsilon", "9"]
TOLD = "interrupted: nothing was written"


@pytest.fixture
def heeded() -> Iterator[None]:
    """Interrupts of this process are raised as on a terminal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("where", ["once", "in_a_destructor", "in_a_collection", "in_a_class_body", "in_source"])
def test_an_interrupt_that_is_swallowed_ends_the_audit_all_the_same(where: str) -> None:
    with started([*CHECK, f"interrupted_target:{where}"], cwd=HERE, stderr=subprocess.PIPE) as audit:
        _, errors = ended(audit)
    assert audit.returncode == 130
    assert errors.splitlines()[-1] == TOLD
    assert "Traceback" not in errors


def test_an_interrupted_command_waits_for_threads_before_it_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread of worker processes may have unlinked a semaphore, and not yet told Python's tracker of it."""
    at_work, alive_then = threading.Thread(target=time.sleep, args=(0.3,)), list[bool]()
    at_work.start()
    monkeypatch.setattr(__main__, "_done", lambda: interrupts.EXIT_CODE)
    monkeypatch.setattr(interrupts, "install_handler", lambda: None)
    monkeypatch.setattr(interrupts, "interrupted", lambda: True)
    monkeypatch.setattr(interrupts, "end", lambda: None)
    monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: alive_then.append(at_work.is_alive()))
    with pytest.raises(SystemExit) as ended:
        __main__.entry()
    assert ended.value.code == interrupts.EXIT_CODE
    assert alive_then == [False]


def test_the_second_interrupt_ends_it_where_it_stands() -> None:
    with started([*CHECK, "interrupted_target:twice"], cwd=HERE, stderr=subprocess.PIPE) as audit:
        _, errors = ended(audit)
    assert audit.returncode == 130
    assert errors.split("\n")[-2:] == [TOLD, ""]


def test_an_interrupt_of_which_nothing_can_be_said_exits_130_too(tmp_path: Path) -> None:
    read, closed = os.pipe()
    os.close(read)
    asked = ["--attack", "grid-precision", "--mechanism", "laplace-naive-float64", "--runs", "1e12", "--jobs", "1"]
    with started([*SUBNORMAL, "run", *asked, "--out", str(tmp_path)], stderr=closed) as audit:
        os.close(closed)
        wait_until((tmp_path / ".audit.lock").exists, "the start of the audit")
        audit.send_signal(signal.SIGINT)
        ended(audit)
    assert audit.returncode == 130
    assert not any(name.startswith("report") for name in os.listdir(tmp_path))


@pytest.mark.parametrize("standard", ["stdout", "stderr"])
def test_a_pipe_that_is_closed_is_no_verdict(standard: str) -> None:
    """Exit code 1 means that a claim was violated, or that reports differ."""
    read, closed = os.pipe()
    os.close(read)
    mistake = [*SUBNORMAL, "list"] if standard == "stdout" else [*SUBNORMAL, "list", "--nonsense"]
    with started(mistake, **{standard: closed}) as listed:
        os.close(closed)
        ended(listed)
    assert listed.returncode == 2


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")
def test_a_program_that_outlives_its_input_ends_with_the_second_interrupt() -> None:
    script = (
        "import os, signal; from subnormal.audit import interrupts; "
        "from subnormal.audit.targets.child_process import ChildProcess; interrupts.install_handler()\n"
        "stubborn = ChildProcess(['sh', '-c', 'while :; do sleep 1; done'])\n"
        "print(stubborn.process.pid, flush=True)\n"
        "try: signal.raise_signal(signal.SIGINT)\n"
        "finally: signal.raise_signal(signal.SIGINT)\n"
    )
    shown = run([sys.executable, "-c", script], preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert (shown.returncode, shown.stderr) == (130, "")
    wait_until(lambda: not alive(int(shown.stdout)), "the end of the program")


def test_a_program_that_has_ended_is_no_longer_ended_with_the_audit() -> None:
    child = ChildProcess(["cat"])
    assert child.process.pid in interrupts.GROUPS
    child.close()
    assert child.process.pid not in interrupts.GROUPS


@pytest.mark.usefixtures("heeded")
def test_files_are_replaced_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace
    monkeypatch.setattr(interrupts, "files_left", interrupts.files_left)

    def interrupted(source: Path, target: Path) -> None:
        replace(source, target)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    for name in ("first", "second", "stale"):
        (tmp_path / name).write_text("before")
    with pytest.raises(KeyboardInterrupt):
        atomic_write.write(tmp_path, {"first": b"after", "second": b"after"}, ["stale"])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "after", "second": "after"}
    assert interrupts.files_left == f"{tmp_path} is written"
