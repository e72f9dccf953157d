"""Time, over plain floats. Nothing here fails for being slow: the table at the end says what met its bound."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import interleave, naive
from benchmarks.conftest import Duel, Record
from benchmarks.results import Row
from subnormal.mechanisms.bits import system_bits
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential.exact import sample
from subnormal.mechanisms.privacy import Eta

pytestmark = pytest.mark.benchmark(timer=interleave.clock, disable_gc=True)

ONE = Eta(1, 1, 1)
BITS = system_bits()
MILLION = 1_000_000
SPREAD = 0.2  # of the time of one draw, whatever the gap behind the best outcome


def ascending(outcomes: int) -> Utilities:
    """Return 0…outcomes − 1."""
    return np.arange(outcomes)


def shuffled(outcomes: int) -> Utilities:
    """Return 0…outcomes − 1 in random order."""
    return np.random.default_rng(1).permutation(outcomes)


def in_ten(outcomes: int) -> Utilities:
    """Return random integers in 0…9."""
    return np.random.default_rng(1).integers(0, 10, outcomes)


Make = Callable[[int], Utilities]
DESCRIPTION: dict[Make, str] = {ascending: "u = 0…n−1", shuffled: "u = 0…n−1 shuffled", in_ten: "u random in 0…9"}

ONE_DRAW: list[tuple[Make, int, float]] = [
    (ascending, 1_000, 1.0),
    (ascending, 5_000, 0.5),
    (ascending, 75_000, 0.3),
    (ascending, MILLION, 0.15),
    (shuffled, MILLION, 0.15),
    (in_ten, 10 * MILLION, 0.4),
]


@pytest.mark.parametrize(("make", "outcomes", "bound"), ONE_DRAW)
def test_one_draw(make: Make, outcomes: int, bound: float, duel: Duel) -> None:
    """One draw weighs every outcome that matters."""
    utilities, generator = make(outcomes), np.random.default_rng(2)
    exact = partial(sample, utilities, ONE, BITS, 1)
    plain = partial(naive.draw, utilities, naive.LN2, generator)
    duel(f"one draw, n = {outcomes:,}, {DESCRIPTION[make]}", exact, plain, bound, bits=BITS, over=utilities)


@pytest.mark.parametrize("make", [ascending, shuffled, in_ten])
def test_one_draw_beside_a_pass(make: Make, duel: Duel) -> None:
    """In passes over the input: the floor is one, which finds the best outcome."""
    utilities = make(MILLION)
    exact = partial(sample, utilities, ONE, BITS, 1)
    name = f"one draw, n = {MILLION:,}, {DESCRIPTION[make]}, beside a pass"
    duel(name, exact, partial(np.min, utilities), 2, "np.min", bits=BITS, over=utilities)


MANY_DRAWS: list[tuple[Make, int, float]] = [
    (ascending, 1_000, 0.25),
    (in_ten, 1_000, 0.10),
    (ascending, MILLION, 0.15),
    (in_ten, MILLION, 0.15),
]


@pytest.mark.parametrize(("make", "outcomes", "bound"), MANY_DRAWS)
def test_many_draws(make: Make, outcomes: int, bound: float, duel: Duel) -> None:
    """Many draws share one table of running sums, on both sides."""
    utilities, generator = make(outcomes), np.random.default_rng(2)
    exact = partial(sample, utilities, ONE, BITS, MILLION)
    plain = partial(naive.draw_many, utilities, naive.LN2, generator, MILLION)
    duel(f"{MILLION:,} draws, n = {outcomes:,}, {DESCRIPTION[make]}", exact, plain, bound, bits=BITS, over=utilities)


def test_same_time_whatever_the_gap(record: Record, benchmark: BenchmarkFixture) -> None:
    """The best outcome, and 1,000 behind a gap: the time does not tell how wide it is."""
    gaps = {f"{gap:,}": np.append(0, np.arange(gap, gap + 1_001)) for gap in (0, 1_000, 10_000, 30_000)}
    draws = {gap: partial(sample, utilities, ONE, BITS, 1) for gap, utilities in gaps.items()}
    taken = interleave.medians(draws)
    for gap in list(gaps)[1:]:
        name = f"one draw, u = 0 and g…g+1,000, g = {gap}"
        record(Row(name, "s", taken[gap], taken["0"], 1 + SPREAD, 1 - SPREAD, "exact, g = 0"))
    interleave.into_own_table(benchmark, draws["0"])


@pytest.mark.parametrize("eta", [Eta(3, 2, 1), Eta(255, 8, 1), Eta(1023, 10, 1)], ids=str)
def test_small_eta(eta: Eta, duel: Duel) -> None:
    """The flatter the weights, the more outcomes matter; the time hardly grows."""
    utilities = ascending(75_000)
    duel(
        f"one draw, n = 75,000, u = 0…n−1, η = −{eta.z}·log₂({eta.x}/2^{eta.y})",
        partial(sample, utilities, eta, BITS, 1),
        partial(sample, utilities, ONE, BITS, 1),
        2,
        "exact, η = 1",
        bits=BITS,
        over=utilities,
    )


@pytest.mark.parametrize(("outcomes", "bound"), [(75_000, 2.0), (MILLION, 0.4)])
def test_base_e(outcomes: int, bound: float, duel: Duel) -> None:
    """A budget in nats and float utilities: a real exponential on both sides."""
    utilities = np.random.default_rng(1).uniform(0, 100, outcomes)
    duel(
        f"one draw, n = {outcomes:,}, floats in [0, 100), ε = 1 nat",
        partial(sample, utilities, 1.0, BITS, 1),
        partial(naive.draw, utilities, 0.5, np.random.default_rng(2)),
        bound,
        bits=BITS,
        over=utilities,
    )


def test_keystream(duel: Duel) -> None:
    """The bits themselves, against those of the operating system."""
    asked = partial(os.urandom, 8)
    duel("64 bits as an array: words(1)", partial(BITS.words, 1), asked, 1, "os.urandom(8)", BITS)


def test_keystream_as_integer(duel: Duel) -> None:
    """The same 64 bits as a Python integer."""
    duel("64 bits as an integer: take(64)", partial(BITS.take, 64), partial(os.urandom, 8), 1, "os.urandom(8)", BITS)


def test_keystream_in_bulk(duel: Duel) -> None:
    """A MiB at once."""
    asked = partial(os.urandom, 1 << 20)
    duel("1 MiB of bits: words(2^17)", partial(BITS.words, 1 << 17), asked, rival="os.urandom(2^20)", bits=BITS)
