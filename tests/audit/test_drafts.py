"""`subnormal write`: a first file of tests, which runs as it is."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.check.assertion import NotPrivateError

CODE = '''
import random

import numpy as np
import pandas as pd

EPSILON = 0.5


def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def noisy_count(records: list[float], epsilon: float = 1.0) -> float:
    return len(records) + np.random.laplace(0, 1 / epsilon)


def total(records: list[float], bounds: tuple[float, float], epsilon: float) -> float:
    """Return a noisy sum, with epsilon = 2."""
    return float(np.clip(records, *bounds).sum()) + np.random.laplace(0, 0.1 / epsilon)


def sales(frame: pd.DataFrame, threshold: float, *, epsilon: float) -> float:
    """Adds noise for neighbours with one row replaced."""
    return float(frame["price"].clip(0, 1).sum()) + np.random.laplace(0, 1 / epsilon)


def noisy_histogram(counts: dict[str, int], rho: float) -> dict[str, float]:
    return {key: count + random.gauss(0, 1) for key, count in counts.items()}


def noisy_mean(ages: np.ndarray) -> float:
    return ages.mean() + np.random.laplace(0, 2 / len(ages))


def noisy_value(value: float, sensitivity: float = 2.0) -> float:
    return value + np.random.laplace(0, 4)


def seniors(ages: list[int], epsilon: float = 1.0, limit: int = 65) -> float:
    """How many are old, of ages in 0 to 120; after Smith 2006.5, p. x7."""
    return sum(age >= limit for age in ages) + np.random.laplace(0, 1 / epsilon)


def changed(days: list[int], epsilon: float = 1.0) -> float:
    """A noisy count of weekends; neighbours: one record changed."""
    return sum(day > 31 for day in days) + np.random.laplace(0, 1 / epsilon)


def _private(records: list[float], epsilon: float) -> float:
    return 0.0
'''


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that writes the tests of a part of a module."""
    (tmp_path / "shop_of_drafts.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return lambda part="": CliRunner().invoke(main, ["write", f"shop_of_drafts{part}"])


def in_draft(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "drafts", "exec"), names)
    return names


def test_what_is_guessed_of_a_module(written: Any) -> None:
    shown = written()
    assert shown.exit_code == 0, shown.output
    assert shown.stderr == "left out, as nothing says that they are private: clip\n"
    compile(shown.stdout, "drafts", "exec")
    for guessed in (
        "        shop_of_drafts.noisy_count,\n        data=st.lists(st.floats(0.0, 1.0), max_size=20),\n"
        "        adjacent=add_or_remove(),\n        epsilon=1.0,\n",
        "lambda data: shop_of_drafts.total(data, bounds=(0.0, 1.0), epsilon=2.0),",
        "shop_of_drafts.sales(data, threshold=..., epsilon=0.5),  # edit: no value could be guessed for ...",
        'data=data_frames([column("price", elements=st.floats(0.0, 1.0))], index=range_indexes(max_size=20)),\n'
        "        adjacent=change_one(),",
        'data=st.dictionaries(st.sampled_from("abc"), st.integers(0, 10)),\n        adjacent=within(1, norm="l1"),',
        "seniors,\n        data=st.lists(st.integers(0, 120), max_size=20),",
        "changed,\n        data=st.lists(st.integers(0, 31), min_size=1, max_size=20),\n        adjacent=change_one(),",
        "claim=Zcdp(0.5),",
        "data=arrays(float, st.integers(1, 20), elements=st.floats(0.0, 1.0)),\n        adjacent=change_one(),",
        "data=st.floats(0.0, 1.0),\n        adjacent=within(2.0),\n        epsilon=0.5,",
    ):
        assert guessed in shown.stdout
    assert "_private(" not in shown.stdout.replace("assert_private(", "")


@pytest.mark.usefixtures("own_clock")
def test_a_draft_is_red_for_a_broken_function_and_green_for_a_sound_one(written: Any) -> None:
    for name in ("total", "noisy_value"):
        test = in_draft(written(f":{name}").stdout.replace("seconds=10", "seconds=3"))[f"test_{name}_keeps_its_claim"]
        with pytest.raises(NotPrivateError) if name == "total" else nullcontext():
            test()


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (":sale", "shop_of_drafts defines no public function 'sale'"),
        ("s", "'shop_of_draftss' cannot be imported: ModuleNotFoundError"),
        (".py", "names a file: write its module"),
    ],
)
def test_a_mistake_is_one_line(written: Any, part: str, problem: str) -> None:
    shown = written(part)
    assert shown.exit_code == 2
    assert problem in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_a_module_without_a_private_function_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_of_drafts.py").write_text("def add(one: int, other: int) -> int:\n    return one + other\n")
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(main, ["write", "plain_of_drafts"])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "no function of plain_of_drafts takes data and speaks of privacy" in shown.stderr
