"""What a target's signature tells before it is called: a function of something else is refused by name."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from subnormal.audit.__main__ import main
from subnormal.audit.targets.signature import mismatch


def noisy_mean(xs: Any, epsilon: float = 1.0, lower: float = 0, upper: float = 1) -> None: ...


def release(data: Any, parameters: Any, runs: int) -> None: ...


class Release:
    def __call__(self, data: Any, parameters: Any = None, runs: int = 1, *, seed: int | None = None) -> None: ...


def four(data: Any, parameters: Any, runs: int, seed: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (noisy_mean, "'epsilon: float = 1.0' would get the mapping of all parameters"),
        (partial(noisy_mean, [1]), "'lower: float = 0' would get"),
        (lambda data, sigma, n: None, "'sigma' would get"),
        (lambda data, parameters, epsilon: None, "'epsilon' would get the number of runs"),
        (lambda data, parameters, runs=True: None, "'runs=True' would get the number of runs"),
        (lambda data: None, "its signature is '(data)': too many positional arguments"),
        (lambda data, *, parameters, runs: None, "too many positional arguments"),
        (four, "missing a required argument: 'seed'"),
        (np.random.default_rng().laplace, "'scale=1.0' would get"),
    ],
)
def test_a_function_of_something_else_is_refused_by_name(function: Callable[..., Any], told: str) -> None:
    assert told in str(mismatch(function))


@pytest.mark.parametrize(
    "function",
    [
        release,
        Release(),
        partial(four, seed=1),
        lambda *everything: None,
        lambda data, *others: None,
        lambda d, p, n: None,
        max,  # tells no signature
        math.hypot,  # any number of arguments
    ],
)
def test_what_may_be_called_so_is_not_refused(function: Callable[..., Any]) -> None:
    assert mismatch(function) is None


def test_a_target_of_another_signature_is_a_mistake_in_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was run until the end before, and its TypeErrors were NOT REFUTED."""
    (tmp_path / "mylib.py").write_text("def noisy_mean(xs, epsilon=1.0, lower=0, upper=1):\n    return 0.5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ["--target", "mylib:noisy_mean", "--family", "laplace", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(main, ["run", *arguments])
    assert result.exit_code == 2
    (told,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert "'mylib:noisy_mean' is called with (data, parameters, runs): 'epsilon=1.0' would get" in told
    assert not list((tmp_path / "out").iterdir())
