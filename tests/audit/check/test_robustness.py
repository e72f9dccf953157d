"""Functions that misbehave under `check` end in a clear outcome, and the user's generators stay as they were."""

import functools
import multiprocessing
import os
import random
import secrets
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal import Claim, Verdict, add_or_remove, change_one, check, within
from subnormal.audit.randomness.catalogue import FUNCTIONS, METHODS, Primitive
from subnormal.audit.randomness.primitives import intercepted

VALUES = st.integers(0, 9)
LISTS = st.lists(st.integers(0, 9), max_size=3)
SHARED = np.random.default_rng(1)


def laplace() -> float:
    return random.expovariate(1.0) - random.expovariate(1.0)


def noisy_count(records: list[int]) -> int:
    """Keeps ε = 1.21, the logarithm of 10/3: discrete Laplace noise of random bits."""
    sign = 1 if secrets.randbits(1) else -1
    while (size := next(count for count in range(10**6) if secrets.randbelow(1_000) >= 300)) == 0 and sign < 0:
        sign = 1 if secrets.randbits(1) else -1
    return len(records) + sign * size


def found(function: Callable[..., Any], seconds: float = 1.0, **options: Any) -> Any:
    return check(function, LISTS, add_or_remove(), Claim(3.0), seconds=seconds, **options)


def raises(records: list[int]) -> None:
    raise ValueError("no such column")


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (raises, "ValueError: no such column"),
        (lambda records: os._exit(0), "SystemExit: 0"),
        (lambda records: sys.exit(4), "SystemExit: 4"),
    ],
)
def test_a_function_that_always_raises_or_exits_has_an_error_and_no_verdict(
    function: Callable[..., Any], error: str
) -> None:
    result = found(function)
    assert result.verdict is None
    assert result.stage == "first call"
    assert result.error.endswith(error)


class Unknown:
    """A type whose values cannot be compared."""


async def asynchronous(records: list[int]) -> int:
    return len(records)


SIGNATURE = r"called as function\(data\)"
MISTAKES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"seconds": "5"}, TypeError, "^seconds must be a number, got "),
    ({"function": lambda: 1}, TypeError, rf"{SIGNATURE}, but its signature is \(\)"),
    ({"function": lambda records, epsilon: 1}, TypeError, rf"{SIGNATURE}.*\(records, epsilon\).*'epsilon'"),
    (
        {"function": lambda records: [1], "batch": True},
        TypeError,
        r"called as function\(data, runs\), but its signature",
    ),
    (
        {"function": functools.partial(sorted, key=len), "batch": True},
        TypeError,
        r"^sorted is called as function\(data, runs",
    ),
    ({"function": 3}, TypeError, "function must be callable, got '3'$"),
    ({"function": "cmd: awk 1"}, TypeError, "function must be callable, got .*: a program is started by .*program"),
    ({"function": st.integers()}, TypeError, "function must be callable, got .*: the function comes first, then the"),
    (
        {"function": asynchronous},
        TypeError,
        r"^asynchronous is async, .* lambda data: asyncio.run\(asynchronous\(data\)\)$",
    ),
    ({"function": lambda records, runs: 3, "batch": True}, TypeError, "returned .3., not a sequence"),
    ({"function": lambda records, runs: [1, 2], "batch": True}, TypeError, "returned 2 outcomes"),
    *(
        ({"function": function}, TypeError, f"outcomes of type [\\w.]*{kind} cannot be told apart")
        for function, kind in (
            (iter, "list_iterator"),
            (lambda records: (one for one in records), "generator"),
            (lambda records: Unknown(), r"test_robustness\.Unknown"),
            (lambda records: {"model": [Unknown()]}, r"test_robustness\.Unknown"),
        )
    ),
    *(
        ({"data": data}, ValueError, "no pair of neighbouring inputs could be drawn")
        for data in (st.nothing(), LISTS.filter(lambda records: False))
    ),
    ({"adjacent": lambda one, other: 1 // 0}, ValueError, "drawing a pair raised 'ZeroDivisionError: "),
    ({"claim": lambda one, other: 1.0}, TypeError, r"claim\(data_in, data_out\) must return a Claim.*got '1.0'"),
    ({"data": st.integers}, TypeError, r"data must be a Hypothesis strategy.*: call it"),
    ({"adjacent": within}, TypeError, r"call it, as within\(1\)"),
    ({"adjacent": change_one}, TypeError, r"call it, as change_one\(\)"),
    ({"adjacent": add_or_remove}, TypeError, r"call it, as add_or_remove\(\)"),
    *(
        ({"data": data, "adjacent": relation}, ValueError, rf"for {kind} use {instead}")
        for relation in (change_one(), add_or_remove(), add_or_remove(st.just(1)))
        for data, kind, instead in (
            (st.just(1), "int", r"within\(...\) or a predicate"),
            (st.text(), "str", r"within\(...\) or a predicate"),
            (st.dictionaries(st.integers(), st.integers()), "dict", r"within\(...\) or a predicate"),
            (st.frozensets(st.integers()), "frozenset", r"a predicate, such as lambda x, y: len\(x \^ y\) == 1"),
        )
    ),
]


@pytest.mark.parametrize(("changes", "error", "message"), MISTAKES)
def test_a_mistake_is_named(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    asked: dict[str, Any] = {
        "function": noisy_count,
        "data": LISTS,
        "adjacent": add_or_remove(),
        "claim": Claim(3.0),
        "seconds": 1.0,
    }
    with pytest.raises(error, match=message):
        check(**(asked | changes))


def forks(records: list[int]) -> int:
    if (child := os.fork()) == 0:
        return -1
    os.waitpid(child, 0)
    return noisy_count(records)


def forks_and_raises(records: list[int]) -> int:
    if (child := os.fork()) == 0:
        raise ValueError
    os.waitpid(child, 0)
    return noisy_count(records)


def starts_a_process(records: list[int]) -> int:
    process = multiprocessing.get_context("fork").Process(target=noisy_count, args=(records,))
    process.start()
    process.join()
    return noisy_count(records) + 0 * (process.exitcode or 0)


@pytest.mark.timeout(60)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # later Pythons warn where a process has threads
@pytest.mark.parametrize("function", [forks, forks_and_raises, starts_a_process])
def test_a_child_of_the_function_goes_no_further(function: Callable[..., Any], tmp_path: Path) -> None:
    log = tmp_path / "processes"

    def told(message: str) -> None:
        with log.open("a") as stream:
            stream.write(f"{os.getpid()}\n")

    result = found(function, on_progress=told)
    with log.open("a") as stream:
        stream.write(f"{os.getpid()}\n")
    assert set(log.read_text().split()) == {str(os.getpid())}
    assert result.error is None
    assert result.verdict is not Verdict.VIOLATED


def test_a_function_that_seeds_the_generator_has_no_noise() -> None:
    def seeded(records: list[int]) -> float:
        random.seed(5)
        return len(records) + laplace()

    result = found(seeded, seconds=30)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "stability")
    assert "the function seeds a global generator of random or numpy: noise from it is no secret" in result.notes
    assert not any("seeds" in note for note in found(len, seconds=30).notes)


def test_a_slow_function_is_called_once_and_the_result_says_how_long_a_run_takes() -> None:
    calls = []

    def slow(records: list[int]) -> float:
        calls.append(records)
        time.sleep(0.3)
        return len(records) + laplace()

    result = found(slow, seconds=0.2)
    assert len(calls) == 1
    assert result.verdict is Verdict.UNDERPOWERED
    assert result.worlds is not None
    assert "one run takes 0.3" in result.notes[0]
    assert "seconds" in result.notes[0]


def test_some_pair_is_tried_however_long_the_first_one_takes_to_draw() -> None:
    @st.composite
    def slow(draw: Any) -> list[int]:
        time.sleep(0.02)
        records: list[int] = draw(LISTS)
        return records

    result = check(raises, slow(), add_or_remove(), Claim(3.0), seconds=0.05)
    assert result.error is not None


def test_a_function_may_change_its_input() -> None:
    def clears(records: list[int]) -> int:
        size = len(records)
        records.append(99)
        records.clear()
        return size

    result = check(clears, LISTS, add_or_remove(), Claim(3.0), seconds=30)
    assert (result.verdict, result.worlds) in [(Verdict.VIOLATED, ([0], [])), (Verdict.VIOLATED, ([], [0]))]


def test_a_strategy_that_draws_other_pairs_each_time_is_an_error() -> None:
    asked = iter(range(10**9))

    @st.composite
    def unsteady(draw: Any) -> list[int]:
        size = next(asked) % 3
        return [draw(st.integers(0, 9)) if size else draw(st.booleans()) for _ in range(size + 1)]

    with pytest.raises(ValueError, match="data and adjacent"):
        check(len, unsteady(), add_or_remove(), Claim(3.0), seconds=30)


def primitives() -> dict[str, Any]:
    """Return what every known primitive, and every reference to one in this module, now is."""
    now = {str(one): getattr(sys.modules.get(one.holder), one.name, None) for one in FUNCTIONS}
    for one in METHODS:
        module, _, name = one.holder.partition(":")
        now[str(one)] = vars(getattr(sys.modules.get(module), name, object)).get(one.name)
    return now | {"os._exit": os._exit, "default_rng": np.random.default_rng, "SHARED": SHARED}


class StopError(Exception):
    """Raised by a callback of the tests."""


@pytest.mark.parametrize(
    ("stage", "error"), [("first call", SystemExit), ("replay", KeyboardInterrupt), ("runs", StopError)]
)
def test_the_users_generators_are_as_before_whatever_happens(stage: str, error: type[BaseException]) -> None:
    mine = np.random.default_rng(2)
    noises: list[Callable[[], float]] = [
        lambda: random.gauss(0.0, 1.0),
        lambda: np.random.normal(),
        SHARED.normal,
        lambda: mine.normal(),
    ]

    def noisy(value: int) -> float:
        return value + sum(noise() for noise in noises) + SHARED.normal() + mine.normal()

    def told(message: str) -> None:
        if message.startswith(stage):
            raise error

    before, state, state_numpy = primitives(), random.getstate(), np.random.get_state(legacy=False)
    with pytest.raises(error):
        check(noisy, st.integers(0, 9), within(1), Claim(3.0, 1e-3), seconds=30, on_progress=told)
    after = primitives()
    assert {name for name in before if before[name] is not after[name]} == set()
    assert type(mine) is np.random.Generator
    assert random.getstate() == state
    assert str(np.random.get_state(legacy=False)) == str(state_numpy)


def test_what_a_function_imports_or_keeps_during_a_replay_is_not_left_patched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text(
        "from random import gauss\nimport numpy\nfrom numpy.random import normal\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    kept: dict[str, Any] = {"calls": 0}

    def noisy() -> float:
        import imported_late  # type: ignore[import-not-found]  # written by the test

        noisy.calls = noisy.calls + 1  # type: ignore[attr-defined]  # a state of its own
        noisy.generator = np.random.default_rng()  # type: ignore[attr-defined]  # a state of its own
        kept["late"] = imported_late
        return float(imported_late.gauss(0.0, 1.0) + imported_late.normal())

    noisy.calls = 0  # type: ignore[attr-defined]  # a state of its own
    seen = []

    def intercept(primitive: Primitive, original: Any, given: Any, options: Any) -> Any:
        seen.append(str(primitive))
        return original(*given, **options)

    with intercepted(noisy, intercept):
        noisy()
        assert kept["late"].gauss is not random.Random.gauss
    assert set(seen) >= {"random.gauss", "numpy.random.normal"}
    assert kept["late"].gauss is random.gauss
    assert kept["late"].normal is np.random.normal
    assert type(noisy.generator) is np.random.Generator  # type: ignore[attr-defined]  # a state of its own
    assert noisy.calls == 1  # type: ignore[attr-defined]  # a state of its own


def test_a_generator_made_from_another_one_draws_from_its_stream_during_a_replay() -> None:
    mine = np.random.default_rng(3)
    with intercepted(len, lambda primitive, original, given, options: original(*given, **options)):
        assert np.random.default_rng(mine).bit_generator is mine.bit_generator
        drawn = np.random.default_rng(np.random.SeedSequence(4)).normal()
    assert drawn == np.random.default_rng(np.random.SeedSequence(4)).normal()


def test_a_warning_is_shown_once_in_a_check(capfd: pytest.CaptureFixture[str]) -> None:
    """Hypothesis resets Python's filter at each input. The process that is forked for first calls shows none."""

    def warned(value: int) -> int:
        warnings.warn("deprecated", stacklevel=1)
        return value

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *place: print(message, flush=True)
        result = check(warned, VALUES.map(abs), within(1), Claim(1.0), seconds=60)
    assert (result.stage, result.runs > 100) == ("stability", True)
    assert capfd.readouterr().out == "deprecated\n"


@pytest.mark.usefixtures("own_clock")
@pytest.mark.parametrize("sorts", [False, True])
def test_nobody_is_accused_on_inputs_outside_the_domain(sorts: bool) -> None:
    """Hypothesis does not say which lists `map(sorted)` may draw; most changes of one record leave them."""

    def of_sorted(records: list[int]) -> int:
        if records != sorted(records):
            raise ValueError("records must be sorted")
        return round(random.gauss(0.0, 50.0))

    records = st.lists(st.integers(0, 9), min_size=2, max_size=6)
    data = records.map(sorted) if sorts else records
    found = check(of_sorted, data, change_one(), Claim(1.0, 1e-5), seconds=4, runs=1 << 10)
    assert (found.verdict is Verdict.VIOLATED) is not sorts
