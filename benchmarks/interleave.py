"""Times of several functions, measured turn by turn, so that a machine that slows down slows them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

ROUNDS = 15  # the fewest
ROUNDS_MAX = 101
SECONDS = 1.5  # of measuring beyond the fewest rounds
TURN = 0.002  # seconds: shorter functions are called many times in one turn
OWN_ROUNDS = 15  # for pytest-benchmark's own table; the ratios come from the turns

clock = time.process_time  # what other programs do meanwhile does not count; nothing timed here waits or has threads


def medians(contenders: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of a call of each, over at least `ROUNDS` rounds in random order."""
    loops = {name: _loops(call) for name, call in contenders.items()}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    order, shuffle = list(contenders), Random(1).shuffle
    started = clock()
    for done in range(ROUNDS_MAX):
        if done >= ROUNDS and clock() - started > SECONDS:
            break
        shuffle(order)
        for name in order:
            times[name].append(_turn(contenders[name], loops[name]))
    return {name: median(taken) for name, taken in times.items()}


def _loops(call: Callable[[], object]) -> int:
    """Return how many calls fill a turn. Warms up: the tables that a process makes once are made here."""
    call()
    return max(1, round(TURN / max(_turn(call, 3), 1e-9)))


def _turn(call: Callable[[], object], loops: int) -> float:
    """Return the seconds of a call. The first is not timed: nobody pays for what a rival left in the caches."""
    call()
    started = clock()
    for _ in range(loops):
        call()
    return (clock() - started) / loops


def into_own_table(benchmark: BenchmarkFixture, call: Callable[[], object]) -> None:
    """Let pytest-benchmark time a function by itself: its table compares one run with an earlier one."""
    benchmark.pedantic(call, rounds=OWN_ROUNDS, iterations=_loops(call), warmup_rounds=1)  # type: ignore[no-untyped-call]
