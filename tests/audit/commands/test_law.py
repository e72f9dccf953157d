"""The command law, from its options to its exit codes."""

import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main
from tests.support.processes import run as run_process

FUNCTIONS = """
import math
import os
import random
import sys
from fractions import Fraction

import numpy as np


def respond(answer):
    return answer if random.random() < 0.75 else 1 - answer


def third(_, bits):
    while (drawn := bits.take(2)) == 3:
        pass
    return drawn


def beside(_, bits):
    return bits.take(1) ^ random.getrandbits(1)


def beside_the_second_string(_, bits):
    return bits.take(1) and random.getrandbits(1)


def from_numpy(value):
    return value + np.random.laplace()


def laplace(value):
    return value + random.choice([-1, 1]) * math.log(1 - random.random())


def tells_a_replay(answer):
    return answer if random.random() < (0.75 if "click" in sys.modules else 0.7) else 1 - answer


def exact(answer):
    return Fraction(answer, 2) if random.random() < 0.75 else None


def exits(_):
    os._exit(5)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["law", *arguments])


def test_the_law_of_code_that_nobody_changed() -> None:
    shown = run("functions:respond", "--in", "1", "--format", "json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout) == {
        "in": {
            "outcomes": [{"outcome": "1", "low": "3/4", "high": "3/4"}, {"outcome": "0", "low": "1/4", "high": "1/4"}],
            "rest": "0",
            "is_complete": True,
        }
    }
    assert "1: 0.75\n0: 0.25\n" in run("functions:respond", "--in", "1").stdout


def test_the_law_of_all_strings_of_bits() -> None:
    shown = run("functions:third", "--in", "null", "--format", "json")
    law = json.loads(shown.stdout)["in"]
    assert [one["outcome"] for one in law["outcomes"]] == ["0", "1", "2"]
    bounds = [(Fraction(one["low"]), Fraction(one["high"])) for one in law["outcomes"]]
    assert all(low < Fraction(1, 3) < high < low + Fraction(1, 1 << 39) for low, high in bounds)
    assert 0 < Fraction(law["rest"]) <= Fraction(1, 1 << 40)


@pytest.mark.parametrize(("epsilon", "verdict"), [("1", "VIOLATED"), ("1.2", "HOLDS")])
def test_two_laws_decide_a_claim(epsilon: str, verdict: str) -> None:
    asked = ["functions:respond", "--in", "1", "--out", "0", "--epsilon", epsilon]
    shown = run(*asked, "--fail-on-violation")
    assert f"\n{verdict}: on this pair" in shown.stdout
    assert shown.exit_code == (1 if verdict == "VIOLATED" else 0)
    evidence = json.loads(run(*asked, "--format", "json").stdout)["evidence"]
    assert evidence["verdict"] == verdict


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["functions:beside", "--in", "1"], 2),  # beside its bits it draws a bit of its own
        (["functions:beside_the_second_string", "--in", "0"], 2),
        (["functions:from_numpy", "--in", "1"], 3),  # it cannot be followed
        (["functions:exits", "--in", "1"], 3),
        (["functions:respond", "--in", "1", "--epsilon", "1"], 2),
        (["functions:respond", "--in", "1", "--out", "0"], 2),
        (["functions:nothing", "--in", "1"], 2),
        (["functions:respond", "--in", "one"], 2),
    ],
)
def test_what_has_no_law_is_one_line(arguments: list[str], code: int) -> None:
    shown = run(*arguments)
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (["functions:respond", "--in", "1", "--out", "0", "--epsilon", "1"], "VIOLATED"),
        (["functions:respond", "--in", "1", "--out", "0", "--epsilon", "1.2"], "HOLDS"),
        (["functions:laplace", "--in", "0.0", "--out", "1.0", "--epsilon", "1"], "VIOLATED"),
    ],
)
def test_a_verdict_has_a_certificate(arguments: list[str], verdict: str, tmp_path: Path) -> None:
    shown = run(*arguments, "--certificate", "proof.json", "--fail-on-violation")
    assert shown.exit_code == (verdict == "VIOLATED"), shown.output
    assert f"{verdict}: " in shown.stdout
    command = "python -m subnormal.audit.function_certificate proof.json " + arguments[0]
    assert f"certificate: proof.json; check it with {command}\n" in shown.stderr
    checked = run_process([sys.executable, *command.split()[1:]], cwd=tmp_path)
    assert (checked.returncode, checked.stdout.split(":")[0]) == (0, verdict), checked.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["functions:tells_a_replay", "--in", "1", "--out", "0", "--epsilon", "1"], 0, "none: the checker says: 'not"),
        (
            ["functions:exact", "--in", "1", "--out", "0", "--epsilon", "1"],
            0,
            "an outcome of type Fraction has no text",
        ),
        (["functions:third", "--in", "1", "--out", "1", "--epsilon", "1"], 0, "none: a function of bits has no boxes"),
        (["functions:respond", "--in", "1"], 2, "--certificate proves a verdict: it needs --out and --epsilon"),
        (["functions:laplace", "--in", "0.0", "--out", "0.0", "--epsilon", "1"], 3, "certificate: no float was found"),
    ],
)
def test_what_has_no_certificate_leaves_no_file(arguments: list[str], code: int, message: str, tmp_path: Path) -> None:
    shown = run(*arguments, "--certificate", "proof.json")
    assert shown.exit_code == code, shown.output
    assert message in shown.stderr
    assert not (tmp_path / "proof.json").exists()
    nowhere = run(*arguments[:1], "--in", "1", "--out", "0", "--epsilon", "1", "--certificate", "none/proof.json")
    assert (nowhere.exit_code, nowhere.stdout) == (2, "")
