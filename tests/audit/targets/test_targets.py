"""Commands and callables under audit: what they must show, and what nobody else's mistake may cost."""

import re
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal
from subnormal.attacks.threshold.boundary import boundary
from subnormal.audit.commands.target import TargetArguments, examine_target
from subnormal.audit.model import Row, Verdict
from subnormal.audit.targets import json_lines
from subnormal.audit.targets.json_lines import TargetError
from subnormal.audit.targets.stated_claim import StatedClaim
from subnormal.audit.targets.subprocess_io import Program
from subnormal.audit.targets.target import ANSWER_BYTES, OUTCOME_BYTES, CallableTarget, CommandTarget, opened
from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.core import input_patterns
from subnormal.mechanisms.families import family
from tests.support.paths import MISBEHAVING_TARGET, ROOT
from tests.support.processes import run

ALPHA = 1e-6  # chance that a statistical test here fails a sound program
EXAMPLES = ROOT / "docs" / "examples"
PYTHON = f"{sys.executable} -I -S"
MISBEHAVING = f"cmd: {PYTHON} {MISBEHAVING_TARGET}"


def row(
    target: str, attack: AnyAttack, runs: int = 20_000, timeout: float = 30.0, stated: StatedClaim | None = None
) -> Row:
    arguments = TargetArguments(target, stated or StatedClaim(), timeout)
    return examine_target([attack], arguments, seed=1, runs=runs, alpha=ALPHA).rows[0]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("c") / "laplace_target"
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]
    made = run([compiler, *strict, "-o", program, EXAMPLES / "laplace_target.c", "-lm"])
    assert made.returncode == 0, made.stderr
    return program


def verdict(found: Row) -> Verdict:
    assert found.error is None
    assert found.sampled is not None
    return found.sampled.verdict


@pytest.mark.parametrize("command", [f"{PYTHON} {EXAMPLES}/laplace_target.py", f"sh {EXAMPLES}/laplace_target.sh"])
def test_naive_examples_are_broken(command: str) -> None:
    found = row(f"cmd: {command}", grid_precision())
    assert verdict(found) is Verdict.VIOLATED
    assert found.warnings == ()
    assert not found.reproducible


def test_a_naive_example_in_c_is_broken(compiled: Path) -> None:
    found = row(f"cmd: {compiled}", grid_precision())
    assert verdict(found) is Verdict.VIOLATED
    assert found.warnings == ()


def test_six_digits_hide_the_loss_and_are_told_of() -> None:
    found = row(f"cmd: sh {EXAMPLES}/laplace_target.sh %g", grid_precision())
    assert verdict(found) is Verdict.NOT_REFUTED
    assert "all outcomes are decimals of at most 15 digits" in found.warnings[0]


def test_a_callable_of_the_examples_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    assert verdict(row("laplace_callable:release", grid_precision())) is Verdict.VIOLATED


def test_a_program_that_ignores_its_data_is_not_accused() -> None:
    target = f"{MISBEHAVING} 'ignores its data'"
    assert verdict(row(target, grid_precision())) is Verdict.NOT_REFUTED
    assert verdict(row(target, grid_precision(), runs=10)) is Verdict.UNDERPOWERED


def test_an_exception_that_depends_on_the_data_is_an_outcome_that_leaks() -> None:
    found = row(f"{MISBEHAVING} 'refuses zero weights'", zero_rounding_refusal())
    assert verdict(found) is Verdict.VIOLATED
    assert found.sampled is not None
    assert found.sampled.event_in[0] > 0.99


@pytest.mark.parametrize("runs", [200, 20_000])
def test_a_program_that_always_refuses_has_tried_nothing(runs: int) -> None:
    """With few runs that is known in the end, with many after the pilot."""
    found = row(f"{MISBEHAVING} 'always refuses'", grid_precision(), runs=runs)
    assert found.verdict is None
    assert found.error is not None
    assert "runs of both worlds raised, the last 'ImportError: no noise'" in found.error.replace("every run", "runs")


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
        ("text", "answered with the outcome '0.5': no hexadecimal float, integer, or 'error:'"),
        ("endless", "printed more than"),
        ("answers once", "ended with exit code 0"),
    ],
)
def test_a_program_that_misbehaves_costs_its_row_and_says_how(how: str, told: str) -> None:
    found = row(f"{MISBEHAVING} '{how}'", grid_precision(), timeout=0.5 if "gave no answer" in told else 30)
    assert found.error is not None
    assert found.error.startswith("TargetError: ")
    assert told in found.error
    assert "\n" not in found.error
    assert "\x1b" not in found.error
    assert found.sampled is None


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("greets with rubbish", "printed what is not a line of JSON: 'Loading the library …'"),
        ("wrong version", "speaks protocol 2, not 1"),
        ("crashes at once", "ended with exit code 1; its last standard error: 'no such  [31mlibrary | at all'"),
        ("silent", "gave no answer within 0.5 s"),
        ("never reads", "printed what is not a line of JSON: 'xxx"),
    ],
)
def test_a_program_that_cannot_be_greeted_does_not_begin(how: str, told: str) -> None:
    timeout = 0.5 if how == "silent" else 30
    with pytest.raises(TargetError, match=re.escape(told)), opened(f"{MISBEHAVING} '{how}'", timeout):
        pass


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("cmd: ./nowhere --flag", "'./nowhere' cannot be started: No such file or directory"),
        ("cmd: /etc/passwd", "'/etc/passwd' cannot be started: Permission denied"),
        ("cmd: 'open", "is not a command: No closing quotation"),
        ("cmd:", "it is empty"),
        ("math.sqrt", "is neither 'cmd: …' nor 'package.module:function'"),
        ("nowhere:f", "cannot be imported: ModuleNotFoundError"),
        ("math:nowhere", "cannot be imported: AttributeError"),
        ("math:pi", "is not callable"),
    ],
)
def test_a_target_that_is_none_is_named(target: str, told: str) -> None:
    with pytest.raises(TargetError, match=re.escape(told)), opened(target):
        pass


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("how", ["hangs", "never reads", "leaves a child", "too few"])
def test_no_process_is_left_behind(how: str) -> None:
    program = Program(f"{MISBEHAVING.removeprefix('cmd: ')} '{how}'", 0.5)
    assert _members(program.group)
    with suppress(TargetError):
        program.ask(json_lines.hello(), 1 << 12)
        program.ask(b'{"data": 0, "parameters": {}, "runs": 5}\n', 1 << 12)
    program.close()
    for _ in range(50):
        if not _members(program.group):
            break
        time.sleep(0.1)
    assert _members(program.group) == []


def _members(group: int) -> list[int]:
    """Return the processes of a group that run; those that have ended and wait for their parent do not."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = entry.read_text().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == group and state != "Z":
            found.append(int(entry.parent.name))
    return found


def test_a_program_that_reads_no_more_does_not_hang_the_audit() -> None:
    program = Program(f"{MISBEHAVING.removeprefix('cmd: ')} 'stops reading'", 0.5)
    program.ask(json_lines.hello(), 1 << 12)
    with pytest.raises(TargetError, match=r"gave no answer within 0\.5 s"):
        program.ask(b"0" * 10_000_000 + b"\n", 1 << 12)


def test_an_answer_that_comes_late_is_not_taken_for_the_next() -> None:
    command = CommandTarget(f"{MISBEHAVING.removeprefix('cmd: ')} 'answers again, late'", 30)
    parameters = grid_precision().parameters
    assert command(5.0, parameters, family("laplace"), 3) == [0.5] * 3
    time.sleep(0.3)
    with pytest.raises(TargetError, match="printed a line that was not asked for"):
        command(0.0, parameters, family("laplace"), 3)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("exponential", zero_rounding().parameters), ("laplace", LaplaceParameters(epsilon=1.0, query="sum"))],
)
def test_an_answer_of_one_number_ends_early_however_many_the_data_have(name: str, parameters: Any) -> None:
    command = CommandTarget(f"{MISBEHAVING.removeprefix('cmd: ')} endless", 30)
    with pytest.raises(TargetError, match=f"printed more than {ANSWER_BYTES + OUTCOME_BYTES:,} bytes"):
        command(np.zeros(1000), parameters, family(name), 1)


def test_a_program_is_started_once_and_anew_after_it_has_failed() -> None:
    command = CommandTarget(f"{MISBEHAVING.removeprefix('cmd: ')} 'ignores its data'", 30)
    attack = grid_precision()
    command.start()
    first = command._program
    for _ in range(2):
        assert len(command(0, attack.parameters, family("laplace"), 3)) == 3
    assert command._program is first
    with pytest.raises(TargetError, match="another family's outcome"):
        command(np.zeros(2), zero_rounding().parameters, family("exponential"), 3)
    assert command._program is None
    command.start()
    assert command._program is not first
    command.end()


def test_a_million_records_are_asked_for() -> None:
    records = np.linspace(0, 1, 1_000_000)
    with opened(f"cmd: {PYTHON} {EXAMPLES}/laplace_target.py") as target:
        (outcome,) = target(records, LaplaceParameters(epsilon=1.0, query="sum"), family("laplace"), 1)
    assert abs(outcome - records.sum()) < 40  # noise of scale 1: beyond with a chance of e^−40


def test_a_callable_may_return_mappings() -> None:
    """As dictionaries, sorted here; nothing released is an empty one. They are searched for inputs, too."""
    release = CallableTarget(lambda data, parameters, runs: [{**data, "a": 0.5}, {}][:runs])
    outcomes = release({"b": 1}, boundary().parameters, family("threshold"), 2)
    assert outcomes == [(("a", 0.5), ("b", 1)), ()]
    assert json_lines.gathered(outcomes) == outcomes
    assert all(family("threshold").to_json(one.data_in) is not None for one in input_patterns.mappings(2))
