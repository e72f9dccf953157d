"""An attack and a mechanism of the user in a report: named on the command line as MODULE:NAME, or given to `run`."""

import dataclasses
import importlib
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal import run
from subnormal.attacks.catalogue import attack
from subnormal.audit.__main__ import main
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.scheduler import identity
from subnormal.mechanisms.families import member
from tests.support import processes
from tests.support.processes import SUBNORMAL

MINE = """
import multiprocessing, pathlib
import numpy as np
from subnormal.attacks.core.attack import Attack, index_statistic
from subnormal.attacks.core.events import OneOf
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.validation import epsilon_claim
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits

print("a module may print")
PARTS = 1
def least(data, n):
    pathlib.Path("drawn-here" if multiprocessing.parent_process() is None else "drawn-by-a-worker").touch()
    return np.full(n, np.argmin(data))
LEAST = Mechanism(  # neither it nor the attack can be pickled
    "always-the-least", "exponential", lambda data, parameters, bits, n: least(data, n), epsilon_claim
)
WORLDS = np.array([0, 1]), np.array([1, 0])
TAKES_IT = Attack(
    name="takes-the-least", family="exponential", worlds=lambda: WORLDS,
    parameters=ExponentialParameters(0.5, Limits(0, 1, 2)), event=OneOf((0,)), statistic=index_statistic,
    breaks=("always-the-least",), source="this test", description="the least utility moves",
)
ELSEWHERE = Mechanism("elsewhere", "no-such-family", LEAST.sample, epsilon_claim)
TWIN = Mechanism("exponential-exact", "exponential", LEAST.sample, epsilon_claim)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine_of_tests.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.delitem(sys.modules, "mine_of_tests", raising=False)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", "--runs", "40000", *arguments])


BOTH = ("--attack", "mine_of_tests:TAKES_IT", "--mechanism", "mine_of_tests:LEAST")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_it_is_a_row_in_every_format_and_workers_draw_it(jobs: str, folder: Path) -> None:
    asked = [*SUBNORMAL, "run", *BOTH, "--mechanism", "exponential-exact", "--runs", "40000", "--jobs", jobs]
    shown = processes.run([*asked, "--format", "json"], cwd=folder)
    assert shown.returncode == 0, shown.stderr
    rows = {row["mechanism"]: row for row in json.loads(shown.stdout)["rows"]}
    assert set(rows) == {"always-the-least", "exponential-exact"}
    assert rows["always-the-least"]["sampled"]["verdict"] == "VIOLATED"
    assert rows["exponential-exact"]["exact"]["verdict"] == "HOLDS"
    assert [path.name for path in folder.glob("drawn-*")] == ["drawn-here" if jobs == "1" else "drawn-by-a-worker"]
    assert "takes-the-least" in (folder / "reports" / "report.html").read_text()


def test_it_is_a_case_of_junit() -> None:
    assert 'classname="takes-the-least" name="always-the-least"' in call(*BOTH, "--format", "junit").stdout


def test_a_mechanism_of_the_user_meets_the_quick_attacks_of_its_family() -> None:
    own = importlib.import_module("mine_of_tests")
    report = run(["zero-rounding", "rejection-tries"], [own.LEAST], runs=3_000, jobs=1)
    assert [(row.attack, row.mechanism) for row in report.rows] == [("zero-rounding", "always-the-least")]
    slow = dataclasses.replace(own.TAKES_IT, breaks=(), slow=True)  # an attack of the user meets it in any case
    assert [one.mechanism for one in crossings([slow], mechanisms=[own.LEAST])] == [own.LEAST]
    report = run([own.TAKES_IT], [own.LEAST, "exponential-exact"], runs=3_000, jobs=1)
    assert {row.mechanism: row.violated for row in report.rows} == {
        "always-the-least": True,
        "exponential-exact": False,
    }


def test_counts_of_another_source_are_not_resumed(folder: Path) -> None:
    own = importlib.import_module("mine_of_tests")
    crossing = Crossing(own.TAKES_IT, own.LEAST)
    before = identity([crossing], seed=1)
    assert before == identity([crossing], seed=1)
    (folder / "mine_of_tests.py").write_text(MINE.replace("np.argmin", "np.argmax"))
    changed = identity([crossing], seed=1)
    assert {key for key in changed["row"][0] if changed["row"][0][key] != before["row"][0].get(key)} == {
        "source of the attack",
        "source of the mechanism",
    }
    shipped = identity([Crossing(attack("zero-rounding"), member("exponential-exact"))], seed=1)
    assert set(shipped["row"][0]) == {"attack", "mechanism", "parameters"}


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("--mechanism", "no_such_module:MEMBER", "cannot be imported: ModuleNotFoundError"),
        ("--attack", "mine_of_tests:NONE", "cannot be imported: AttributeError"),
        ("--mechanism", "mine_of_tests:PARTS", "is of the type int, not Mechanism"),
        ("--mechanism", "mine_of_tests:TAKES_IT", "is of the type Attack, not Mechanism"),
        ("--attack", "mine_of_tests:LEAST", "is of the type Mechanism, not Attack"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_option_and_its_value(option: str, value: str, error: str) -> None:
    shown = call(option, value)
    assert shown.exit_code == 2
    (line,) = [line for line in shown.stderr.splitlines() if line.startswith("Error")]
    assert line.startswith(f"Error: Invalid value for {option}: '{value}' {error}")


@pytest.mark.parametrize(
    ("name", "error"),
    [("ELSEWHERE", "unknown family 'no-such-family'"), ("TWIN", "two different mechanisms are named")],
)
def test_a_mechanism_of_no_family_or_with_a_taken_name_is_refused(name: str, error: str) -> None:
    shown = call("--mechanism", f"mine_of_tests:{name}", "--attack", "zero-rounding")
    assert (shown.exit_code, error in shown.stderr) == (2, True), shown.output


def test_what_is_no_mechanism_is_refused_in_python_too() -> None:
    with pytest.raises(TypeError, match="mechanisms must hold names or mechanisms, got 3"):
        run(mechanisms=[3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="attacks must hold names or attacks, got 3"):
        run(attacks=[3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="two different mechanisms are named 'exponential-exact'"):
        run(["zero-rounding"], [dataclasses.replace(member("exponential-exact"), law=None), "exponential-exact"])
