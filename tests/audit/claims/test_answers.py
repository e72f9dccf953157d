"""Packages answer from a process of their own, whatever their code does."""

import shutil
import sys
from pathlib import Path

import pytest

from subnormal.audit.claims import answers
from subnormal.audit.claims.answers import interpreter, of_function, of_package, package
from subnormal.audit.claims.holding import RefusedError
from subnormal.audit.targets.environments import Environment

CODE = """
import os

def endless(scale):
    while True:
        pass

ANSWERS = {
    ("one", "double"): lambda scale: 2 * scale,
    ("one", "endless"): endless,
    ("one", "gone"): lambda scale: os._exit(3),
    ("one", "raises"): lambda scale: 1 / 0,
    ("one", "infinite"): lambda scale: float("inf"),
    ("one", "nothing"): lambda scale: float("nan"),
}
"""


def test_a_process_that_ends_or_hangs_refuses_and_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(answers.FOLDER / "answering.py", tmp_path)
    (tmp_path / "opendp.py").write_text(CODE)
    monkeypatch.setattr(answers, "FOLDER", tmp_path)
    monkeypatch.setattr(answers, "SECONDS", 0.2)
    with of_package(package("OpenDP"), Path(sys.executable)) as known:
        for name, why in (
            ("endless", "TimeoutError: no answer within 0.2 s of processor time"),
            ("gone", "exit"),
            ("raises", "ZeroDivisionError"),
            ("nothing", "NaN"),
        ):
            with pytest.raises(RefusedError, match=why):
                known["one", name](scale=1.0)
            assert known["one", "double"](scale=0.1) == 0.2
        assert known["one", "infinite"](scale=1.0) == float("inf")


def test_a_release_has_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[Environment] = []
    monkeypatch.setattr(answers, "install", wanted.append)
    found = interpreter(package("opacus"), "1.1.3", tmp_path)
    (one,) = wanted
    assert one.requirements == ("opacus==1.1.3", "numpy", "scipy")
    assert one.bare == ("opacus==1.1.3",)
    assert one.editable is None
    assert found == one.folder / "bin" / "python"
    assert tmp_path in found.parents
    assert interpreter(package("opendp"), "", tmp_path) == Path(sys.executable)


def test_a_function_that_returns_no_number_refuses() -> None:
    with pytest.raises(RefusedError, match="no number: 'much'"):
        of_function(lambda scale: "much")(scale=1.0)
