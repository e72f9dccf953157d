"""Packages answer from a process of their own, whatever their code does."""

import ast
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import claims
from subnormal.audit.claims import TOLERANCE, answers
from subnormal.audit.claims.answers import Package, interpreter, of_function, of_package, package
from subnormal.audit.claims.holding import RefusedError
from subnormal.audit.claims.kinds import KINDS, kind
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


@pytest.mark.parametrize("one", answers.PACKAGES, ids=lambda one: one.name)
def test_packages_answer_kinds_that_there_are(one: Package) -> None:
    """The files cannot be imported where their libraries are not installed, so their text is read."""
    nodes = list(ast.walk(ast.parse(one.file.read_text(encoding="utf-8"))))
    pairs = [[getattr(part, "value", None) for part in node.elts] for node in nodes if isinstance(node, ast.Tuple)]
    named = {name for pair in pairs if len(pair) == 2 for name in pair if isinstance(name, str) and "-" in name}
    assert named
    assert named <= NAMES


NAMES = {one.name for one in KINDS}
ORDINARY: dict[str, Any] = {
    "sigma": 2.0,
    "scale": 2.0,
    "sampling": 0.125,
    "sample": 5,
    "left_out": 35,
    "batch": 9,
    "records": 40,
    "steps": 2,
    "delta": 1e-5,
    "epsilon": 1.0,
    "failure": 0.0,
    "budgets": ((1.0, 0.0), (0.5, 0.0)),
    "tau": 0.1,
    "rho": 0.5,
    "threshold": 5,
    "categories": 3,
    "probability": 0.75,
    "place": 1,
    "others": False,
}
INSTALLED = [one for one in answers.PACKAGES if find_spec(one.name.replace("-", "_"))]


@pytest.mark.parametrize("one", INSTALLED, ids=lambda one: one.name)
def test_what_is_installed_answers_every_kind_with_a_number(one: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SECONDS", 30.0)  # of processor time, of which a loaded machine needs more
    with of_package(one, Path(sys.executable)) as known:
        for (who, name), answer in known.items():
            of = {**ORDINARY, "alpha": 0.05 if name.endswith("accuracy") else 2.0}
            asked = {parameter: of[parameter] for parameter in kind(name).parameters}
            assert 0 < answer(**asked) < 1e6, (who, name)


def test_releases_of_the_table_are_asked_about_kinds_that_there_are() -> None:
    for release, names, _ in claims.RELEASES:
        assert package(release.partition("==")[0])
        assert set(names) <= NAMES


ODD = """
def odd(sigma, **parameters):
    if sigma == 5:
        raise SystemExit("boom")
    return ["much", "0.5", b"0.5", 10**400, float("nan"), 1.0][int(sigma) % 6]
"""


def test_what_is_no_number_is_refused_and_the_next_question_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd_numbers.py").write_text(ODD)
    monkeypatch.syspath_prepend(tmp_path)
    with of_function("odd_numbers:odd", "gaussian") as known:
        (answer,) = known.values()
        reasons = ("'much'", "'0.5'", "b'0.5'", "OverflowError", "NaN", "SystemExit: boom")
        for sigma, why in enumerate(reasons):
            with pytest.raises(RefusedError, match=why):
                answer(sigma=sigma, steps=1, delta=0.0)
            assert answer(sigma=11, steps=1, delta=0.0) == 1.0


def test_loss_distributions_answer_in_time_where_losses_are_large_small_or_many() -> None:
    """An interval that follows the deviation alone takes a second where single losses are far larger than it."""
    with of_package(package("dp-accounting"), Path(sys.executable)) as known:
        for name, parameters in (
            ("gaussian", {"sigma": 0.01, "steps": 10, "delta": 1e-5}),
            ("gaussian", {"sigma": 1e6, "steps": 10**9, "delta": 1e-5}),
            ("sampled-gaussian", {"sigma": 1.0, "sampling": 2.1e-5, "steps": 1, "delta": 1e-8}),
            ("sampled-gaussian", {"sigma": 1.0, "sampling": 0.01, "steps": 10, "delta": 1e-3}),
            ("sampled-laplace", {"scale": 0.1, "sampling": 1e-4, "steps": 1, "delta": 1e-5}),
            ("discrete-gaussian", {"sigma": 2.0, "steps": 100, "delta": 1e-5}),
        ):
            low, up = kind(name).bounds(**parameters)
            assert low * (1 - TOLERANCE) <= known["pld", name](**parameters) <= 1.1 * up, (name, parameters)
        with pytest.raises(RefusedError, match="1000000000 steps of few intervals take minutes"):
            known["pld", "laplace"](scale=1.0, steps=10**9, delta=1e-5)
