"""The test to paste: it runs as it is, fails while the function breaks its claim, and passes when it is repaired."""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from hypothesis import strategies as st
from hypothesis.extra import pandas as drawn
from scipy.optimize import brentq

from subnormal import Claim, NotPrivateError, Profile, Verdict, Zcdp, add_or_remove, check, stability
from subnormal.audit.check.regression import as_test
from subnormal.audit.check.result import Result
from subnormal.audit.model import SequentialEvidence
from tests.support import processes
from tests.support.paths import ROOT
from tests.support.work_clock import work_counted

pytestmark = pytest.mark.usefixtures("own_clock")

MODULE = """
import random
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Patient:
    age: int

def noisy_count(records):
    return round(len(records) + random.expovariate(2.0) - random.expovariate(2.0), 1)

def noisy_ages(patients):
    return sum(patient.age for patient in patients) + random.gauss(0.0, 1.0)

def noisy_frame(frame):
    return float(round(frame["age"].sum() + np.random.laplace(0.0, 5.0), 2))

def batches(records, runs):
    return (len(records) + np.random.geometric(0.9, runs)).tolist()

class Release:
    def __call__(self, records):
        return len(records)

def claim(one, other):
    return Zcdp(0.5)

def data_in(records):
    return len(records)

def test_scores(records):
    return len(records)

class TestRelease(Release):
    @staticmethod
    def of(records):
        return len(records)

np_ = release = Release()
math = len
"""
ONE = Claim(1.0)
NUMBERS = st.lists(st.integers(0, 9), max_size=3)
FRAMES = drawn.data_frames(
    [drawn.column("age", elements=st.integers(0, 90), dtype=int)], index=drawn.range_indexes(max_size=4)
)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A user's module, in a folder of its own."""
    (tmp_path / "my_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("my_module")
    del sys.modules["my_module"]


@pytest.fixture(scope="module")
def of_len() -> Result:
    with work_counted():
        return checked(len)


def run(code: str) -> None:
    """Run the one test in a file."""
    names: dict[str, Any] = {}
    exec(code, names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    test()


def checked(function: Any, data: Any = NUMBERS, claim: Any = ONE, seconds: float = 15.0, **options: Any) -> Result:
    found = check(function, data, add_or_remove(), claim, seconds=seconds, **options)
    assert found.verdict is Verdict.VIOLATED
    return found


def test_a_pasted_test_runs_as_it_is_and_passes_when_the_function_is_repaired(tmp_path: Path, mine: ModuleType) -> None:
    found = checked(mine.noisy_count)
    (tmp_path / "test_pasted.py").write_text(as_test(found) or "")

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_pasted.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = processes.run(command, cwd=tmp_path, env=environment)
    assert (done.returncode, "NotPrivateError" in done.stdout) == (1, True), done.stdout
    exec(MODULE.replace("expovariate(2.0)", "expovariate(1.0)"), vars(mine))
    run((as_test(found) or "").replace("claim=", "seconds=2, claim="))


@pytest.mark.parametrize(
    ("name", "data", "claim"),
    [
        ("noisy_count", NUMBERS, Claim(1.0)),
        ("noisy_ages", None, Zcdp(0.5)),
        ("release", NUMBERS, Claim(1.0)),
        ("np_", NUMBERS, Zcdp(0.5)),
        ("math", st.lists(st.just(float("inf")), max_size=3), Claim(1.0)),
        ("noisy_count", NUMBERS, lambda one, other: Claim(abs(len(one) - len(other)))),
        ("noisy_count", NUMBERS, Profile(lambda epsilon: max(0.0, 0.5 - epsilon))),
    ],
    ids=["runs", "replay", "object", "other-name", "name-of-an-import", "claim-by-inputs", "profile"],
)
def test_a_pasted_test_fails_as_long_as_the_claim_is_broken(mine: ModuleType, name: str, data: Any, claim: Any) -> None:
    if data is None:
        data = st.lists(st.builds(mine.Patient, st.integers(0, 90)), max_size=3)
    code = as_test(checked(getattr(mine, name), data, claim))
    assert code is not None
    with pytest.raises(NotPrivateError):
        run(code)


def test_a_frame_is_shrunk_to_as_few_rows_as_show_the_flaw(mine: ModuleType) -> None:
    found = checked(mine.noisy_frame, FRAMES, seconds=5)
    assert sorted(map(len, found.worlds or ())) == [0, 1]
    assert "data_out = pd.DataFrame(" in str(as_test(found))
    with pytest.raises(NotPrivateError):
        run(str(as_test(found)))


def test_a_function_of_batches_is_called_for_one_run(mine: ModuleType) -> None:
    code = as_test(checked(mine.batches, batch=True)) or ""
    assert "lambda data: batches(data, 1)[0]" in code
    with pytest.raises(NotPrivateError):
        run(code)


def test_a_transformation_is_pasted_with_its_bound(mine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code = as_test(stability(mine.release, distance="l1", bound=0.5, pairs=[([], [9])])) or ""
    with pytest.raises(AssertionError, match="VIOLATED"):
        run(code)
    monkeypatch.setattr(mine.Release, "__call__", lambda self, records: self.total)  # a repair that raises in every run
    with pytest.raises(AssertionError, match="ERROR"):
        run(code)


def test_what_cannot_be_imported_is_named_in_a_comment() -> None:
    code = as_test(checked(lambda records: len(records))) or ""
    assert "# function must be imported or defined here\n" in code
    with pytest.raises(NotPrivateError):
        run(code.replace("# function must be imported or defined here", "function = len"))


def test_a_test_repeats_a_long_check_with_as_many_runs(of_len: Result) -> None:
    assert "seconds" not in str(as_test(of_len))
    evidence: Any = {"sequential": replace(cast("SequentialEvidence", of_len.evidence["sequential"]), runs=250_000)}
    code = str(as_test(replace(of_len, seconds=70.0, evidence=evidence)))
    assert "runs=750_000, seconds=210)" in code


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-6, 1e-9])
def test_a_test_has_the_runs_of_its_own_alpha(of_len: Result, alpha: float) -> None:
    """A check by luck of two standard deviations had m nats in the mean, where the test needs as many as at 1e-6."""

    def mean(alpha: float) -> float:
        return float(brentq(lambda m: m + 2 * math.sqrt(2 * m) + math.log(alpha), 0, 100))

    evidence: Any = replace(cast("SequentialEvidence", of_len.evidence["sequential"]), runs=250_000, alpha=alpha)
    code = str(as_test(replace(of_len, seconds=70.0, evidence={"sequential": evidence})))
    times = 3 * max(1, mean(1e-6) / mean(alpha))
    assert "alpha" not in code
    runs, seconds = (int(re.search(f"{name}=([0-9_]+)", code)[1]) for name in ("runs", "seconds"))  # type: ignore[index]
    assert (runs, seconds) == (pytest.approx(250_000 * times, abs=2), pytest.approx(70 * times, abs=2))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("data_in", "from my_module import data_in as function"),
        ("test_scores", "from my_module import test_scores as function"),
        ("TestRelease.of", "from my_module import TestRelease as function"),
    ],
)
def test_a_function_with_a_name_of_the_test_has_another_one_there(mine: ModuleType, name: str, line: str) -> None:
    code = as_test(checked(attrgetter(name)(mine))) or ""
    assert line in code
    with pytest.raises(NotPrivateError):
        run(code)


@pytest.mark.parametrize("name", ["data_in", "data_out", "result", "test_scores", "assert_private", "lambda", "_"])
def test_a_function_that_cannot_be_imported_has_a_name_that_is_free(of_len: Result, name: str) -> None:
    code = as_test(replace(of_len, function=f"outer.<locals>.{name}", place=None)) or ""
    assert "# function must be imported or defined here\n" in code


def test_without_short_expressions_there_is_no_test(of_len: Result) -> None:
    assert as_test(replace(of_len, worlds=(object(), []))) is None
    assert as_test(replace(of_len, worlds=None)) is None
    assert as_test(replace(of_len, function="cmd: ./mine")) is None
