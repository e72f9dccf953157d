"""The command law, from its options to its exit codes."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from subnormal.audit.__main__ import main

FUNCTIONS = """
import os
import random

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
