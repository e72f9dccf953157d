"""Programs under audit, in any language: what must be found, and what a program's mistake costs.

False alarms: ALPHA for the program that is sound.
"""

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from subnormal import Claim, Verdict, check
from subnormal.audit.__main__ import main
from subnormal.audit.check.result import Result as CheckResult
from subnormal.audit.targets import json_lines
from subnormal.audit.targets.child_process import ChildProcess
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.named import named
from subnormal.audit.targets.program import program
from tests.support.paths import MISBEHAVING_TARGET, ROOT
from tests.support.processes import SUBNORMAL, ended, run, started

ALPHA = 1e-6
EXAMPLES = ROOT / "docs" / "examples"
PYTHON = f"{sys.executable} -I -S"
MISBEHAVING = f"{PYTHON} {MISBEHAVING_TARGET}"
ONE_OR_NONE = ("--in", "1", "--out", "0", "--epsilon", "1")


def call(function: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", function, *ONE_OR_NONE, *arguments])


def found(command: str, runs: int | None = None, timeout: float = 30.0, pair: Any = (1, 0)) -> CheckResult:
    with program(command, {"epsilon": 1.0, "delta": 0.0}, timeout) as function:
        return check(function, pairs=[pair], claim=Claim(1.0), batch=True, seconds=6, runs=runs, alpha=ALPHA)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    compiled = tmp_path_factory.mktemp("compiled")
    commands = {"py": f"{PYTHON} {EXAMPLES}/laplace_target.py", "sh": f"sh {EXAMPLES}/laplace_target.sh"}
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
    compilers: dict[str, list[str | Path]] = {
        "c": ["cc", *strict, "-o", compiled / "c", EXAMPLES / "laplace_target.c", "-lm"],
        "rs": ["rustc", "-D", "warnings", "-o", compiled / "rs", EXAMPLES / "laplace_target.rs"],
        "java": ["javac", "-Xlint:all", "-Werror", "-d", compiled, EXAMPLES / "LaplaceTarget.java"],
    }
    for language, command in compilers.items():
        if shutil.which(str(command[0])) is not None:
            made = run(command)
            assert made.returncode == 0, made.stderr
            commands[language] = str(compiled / language)
    if "java" in commands:
        commands["java"] = f"java -cp {compiled} LaplaceTarget"
    if shutil.which("node") is not None:
        commands["js"] = f"node {EXAMPLES}/laplace_target.js"
    return commands


@pytest.mark.parametrize("language", ["py", "sh", "c", "rs", "java", "js"])
def test_naive_examples_are_violated(language: str, examples: dict[str, str]) -> None:
    if language not in examples:
        pytest.skip("neither a compiler nor an interpreter of it is installed")
    result = found(examples[language])
    assert (result.verdict, result.stage, result.worlds) == (Verdict.VIOLATED, "runs", (1, 0))
    assert [note for note in result.notes if "last bits of floats" not in note] == []


def test_a_program_has_a_verdict_on_the_command_line(examples: dict[str, str]) -> None:
    shown = call(f"cmd: {examples['py']}", "--seconds", "6", "--format", "json", "--fail-on-violation")
    assert shown.exit_code == 1, shown.stderr
    result = json.loads(shown.stdout)
    assert (result["verdict"], result["function"]) == ("VIOLATED", f"cmd: {examples['py']}")
    assert result["test"] is None  # the command line is the test


def test_a_function_of_the_examples_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    result = check(named("laplace_callable:release"), pairs=[(1, 0)], claim=Claim(1.0), seconds=6)
    assert result.verdict is Verdict.VIOLATED


def test_a_program_that_ignores_its_data_is_not_accused() -> None:
    assert found(f"{MISBEHAVING} 'ignores its data'", runs=10_000).verdict is Verdict.NOT_REFUTED


def test_a_program_that_returns_a_constant_is_told_of() -> None:
    result = found(f"{MISBEHAVING} 'always the same'", runs=10_000)
    assert (result.verdict, result.error) == (Verdict.NOT_REFUTED, None)
    seen = "all 128 runs that were looked at, of both inputs, returned '7'"
    assert result.notes == (f"{seen}: does the function read its data, and add noise?",)


def test_a_program_that_refuses_one_of_two_inputs_is_violated() -> None:
    assert found(f"{MISBEHAVING} 'refuses zero weights'", pair=([0, 0], [0, 1])).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("crashes", "(Aborted); its last standard error: 'a first line | Segmentation imminent'"),
        ("exits", "ended with exit code 3"),
        ("hangs", "gave no answer within 0.5 s"),
        ("chatters", "gave no answer within 0.5 s; its last standard error: 'busy | busy | busy'"),
        (
            "prints no JSON",
            "printed what is not a line of JSON: '0.5, 0.25,  [31m'; its last standard error: 'said before'",
        ),
        ("prints twice", "printed a line that was not asked for: '{\"more\": 1}'"),
        ("answers something else", 'answered [1, 2], not {"outcomes": […]}'),
        ("too few", "answered with 0 outcomes, not 1"),
        ("too many", "answered with 2 outcomes, not 1"),
        ("NaN", "answered with NaN"),
        ("overflow", "answered with an outcome that is not finite"),
        ("endless", "printed more than"),
        ("answers once", "ended with exit code 0"),
        ("leaves a child", "ended with exit code 1"),  # and the child holds its output open
    ],
)
def test_a_program_that_misbehaves_has_an_error_that_says_how(how: str, told: str) -> None:
    result: Any = found(f"{MISBEHAVING} '{how}'", timeout=0.5 if "gave no answer" in told else 30)
    assert result.verdict is None
    assert told in result.error
    assert "\n" not in result.error
    assert "\x1b" not in result.error


def test_an_error_of_a_program_exits_3() -> None:
    shown = call(f"cmd: {MISBEHAVING} crashes", "--format", "json", "--fail-on-violation")
    assert shown.exit_code == 3
    assert "was ended by signal 6 (Aborted)" in json.loads(shown.stdout)["error"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (f"{MISBEHAVING} 'greets with rubbish'", "printed what is not a line of JSON: 'Loading the library …'"),
        (f"{MISBEHAVING} 'wrong version'", "speaks protocol 2, not 1"),
        (f"{MISBEHAVING} 'crashes at once'", "code 1; its last standard error: 'no such  [31mlibrary | at all'"),
        (f"{MISBEHAVING} silent", "gave no answer within 0.5 s"),
        (f"{MISBEHAVING} 'never reads'", "printed what is not a line of JSON: 'xxx"),
        ("./nowhere --flag", "'./nowhere' cannot be started: No such file or directory"),
        ("/etc/passwd", "'/etc/passwd' cannot be started: Permission denied"),
        ("'open", "is not a command: No closing quotation"),
        ("", "it is empty"),
    ],
)
def test_a_program_that_cannot_be_greeted_does_not_begin(command: str, told: str) -> None:
    timeout = 0.5 if "silent" in command else 30
    with pytest.raises(TargetError, match=re.escape(told)), program(command, {}, timeout):
        pass


def test_where_programs_cannot_be_asked_an_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(TargetError, match="on Linux and macOS only"), program("true", {}, 30):
        pass


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("math.sqrt", "is neither 'cmd: …' nor 'package.module:name'"),
        ("nowhere:f", "ModuleNotFoundError: No module named 'nowhere'; the working directory was searched too"),
        ("math:nowhere", "cannot be imported: AttributeError"),
    ],
)
def test_what_is_not_there_is_named(name: str, told: str) -> None:
    with pytest.raises(TargetError, match=re.escape(told)):
        named(name)


@pytest.mark.parametrize(("function", "told"), [("cmd: ./nowhere", "cannot be started"), ("math:pi", "is no function")])
def test_what_cannot_be_started_is_one_line_and_exits_2(function: str, told: str) -> None:
    shown = call(function)
    assert shown.exit_code == 2
    assert told in shown.stderr
    assert shown.stdout == ""
    assert "Traceback" not in shown.stderr


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Any]:
    """A program that answers with its data and its parameters."""
    (tmp_path / "echo.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if 'protocol' in asked: print('{\"protocol\": 1}', flush=True); continue\n"
        "    print(json.dumps({'outcomes': [[asked['data'], asked['parameters']]] * asked['runs']}), flush=True)\n"
    )
    with program(f"{PYTHON} {tmp_path}/echo.py", {"rho": 0.5}, 30.0) as function:
        yield function


def test_data_are_any_json_and_parameters_are_those_of_the_claim(echo: Any) -> None:
    for data in (1, 0.1, "text", None, True, [[1, "a"], {"b": None}], {"a": [1.5]}, 5e-324, (1 << 53) - 1):
        assert echo(data, 2) == [[data, {"rho": 0.5}]] * 2
    assert echo((1, 2), 1) == [[[1, 2], {"rho": 0.5}]]
    assert len(echo(0, 25_000)) == 25_000


@pytest.mark.parametrize("data", [float("nan"), [float("inf")], {1, 2}, b"bytes", object()])
def test_data_that_no_json_holds_are_an_error_and_no_outcome(data: Any, echo: Any) -> None:
    with pytest.raises(TargetError, match=r"^the input .* cannot be sent: "):
        echo(data, 1)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("how", ["hangs", "never reads", "leaves a child", "too few"])
def test_no_process_is_left_behind(how: str) -> None:
    asked = ChildProcess([*MISBEHAVING.split(), how])
    group = asked.process.pid
    assert _members(group)
    with suppress(TargetError):
        asked.ask(json_lines.hello(), 1 << 12, 0.5)
        asked.ask(b'{"data": 0, "parameters": {}, "runs": 5}\n', 1 << 12, 0.5)
    asked.close()
    for _ in range(50):
        if not _members(group):
            break
        time.sleep(0.1)
    assert _members(group) == []


def _members(group: int) -> list[int]:
    """Return the processes of a group that run; those that have ended and wait for their parent do not."""
    members = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = entry.read_text().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == group and state != "Z":
            members.append(int(entry.parent.name))
    return members


def test_a_program_that_reads_no_more_does_not_hang_the_check() -> None:
    asked = ChildProcess([*MISBEHAVING.split(), "stops reading"])
    asked.ask(json_lines.hello(), 1 << 12, 30.0)
    before = set(threading.enumerate())
    with pytest.raises(TargetError, match=r"gave no answer within 0\.5 s"):
        asked.ask(b"0" * 10_000_000 + b"\n", 1 << 12, 0.5)
    assert set(threading.enumerate()) <= before  # one that writes on might write into the next program's input


def test_an_answer_to_a_line_that_was_not_read_is_a_mistake() -> None:
    asked = ChildProcess(["sh", "-c", "echo 1; sleep 60"])
    with pytest.raises(TargetError, match="answered a line before it had read it"):
        asked.ask(b"0" * 10_000_000 + b"\n", 1 << 12, 0.5)


def test_an_answer_that_comes_late_is_not_taken_for_the_next() -> None:
    with program(f"{MISBEHAVING} 'answers again, late'", {}, 30.0) as function:
        assert function(5.0, 3) == [0.5] * 3
        time.sleep(0.3)
        with pytest.raises(TargetError, match="printed a line that was not asked for"):
            function(0.0, 3)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_program_ends_with_the_check_however_it_ends(how: signal.Signals) -> None:
    command = [*SUBNORMAL, "check", f"cmd: {MISBEHAVING} 'ignores its data'", *ONE_OR_NONE]
    with started(command, stderr=subprocess.PIPE) as check:
        asked = _program(check.pid)
        check.send_signal(how)
        _, errors = ended(check)
    assert check.returncode == (130 if how is signal.SIGINT else -how)
    assert "Traceback" not in errors
    for _ in range(100):
        if not Path(f"/proc/{asked}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{asked}").exists()


def _program(check: int) -> int:
    """Return the process of the program, which is a child of the child of the command."""
    for _ in range(300):
        for child in _children(check):
            for grandchild in _children(child):
                time.sleep(0.5)  # until it is at work
                return grandchild
        time.sleep(0.1)
    raise AssertionError("no program has started")


def _children(parent: int) -> list[int]:
    return list(map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()))
