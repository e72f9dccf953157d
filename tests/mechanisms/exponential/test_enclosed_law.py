"""Laws as enclosures, against rationals; trials of uniform proposals, over every string of bits."""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal import Eta
from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.exponential import base2, uniform_proposals
from subnormal.mechanisms.exponential import exact as exponential_exact
from subnormal.mechanisms.exponential.cumulative_cells import LARGE
from subnormal.mechanisms.exponential.enclosed_law import enclosed_law
from subnormal.mechanisms.exponential.uniform_proposals import TRIALS, first_accepted
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.float_weights import Weighing, scale_of

ETAS = (Eta(1, 1, 1), Eta(3, 2, 1), Eta(200, 8, 3), Eta(0xFFFFFFF1, 32, 1))


def test_bounds_on_a_weight_are_near_and_hold_it() -> None:
    random = Random(1)
    for _ in range(300):
        eta, distance, precision = random.choice(ETAS), random.randrange(800), random.choice((8, 64, 700, 4000))
        low, high = weight_bounds(eta, Fraction(distance), precision)
        assert low <= eta.base**distance * (1 << precision) <= high <= low + 2


def test_enclosures_hold_the_exact_law() -> None:
    random = Random(2)
    for _ in range(100):
        eta, most = random.choice(ETAS), random.choice((3, 30, 300))
        utilities = np.array([random.randint(-most, most) for _ in range(random.randint(1, 6))])
        exact, enclosed = base2.law(utilities, eta), enclosed_law(utilities, eta)
        for outcome in range(len(utilities)):
            low, high = enclosed.probability(outcome)
            probability = exact.probability(outcome)[0]
            assert low <= probability <= high <= probability * (1 + Fraction(1, 1 << 120))
            assert low >= probability * (1 - Fraction(1, 1 << 120))


def test_the_law_of_utilities_far_apart_is_an_enclosure() -> None:
    """Written with whole weights, it would have 32 million bits for each outcome."""
    far = 10**6
    law = base2.law(np.array([0, far, far + 1]), Eta(0xFFFFFFF1, 32, 1))
    near = base2.law(np.array([0, 0, 1]), Eta(0xFFFFFFF1, 32, 1))
    (low, high), (next_low, next_high) = law.probability(1), law.probability(2)
    ratio = near.probability(2)[0] / near.probability(1)[0]
    assert next_low / high <= ratio <= next_high / low
    assert 0 < low < high < low * (1 + Fraction(1, 1 << 120))


def test_the_law_of_many_long_weights_is_an_enclosure() -> None:
    """Ten thousand weights of 320,000 bits would take 400 MB, and minutes."""
    utilities, eta = np.arange(10_000), Eta(0xFFFFFF00, 32, 1)
    law = base2.law(utilities, eta)
    assert law.denominator.bit_length() < 1_000
    low, high = law.probability(7)
    assert high < low * (1 + Fraction(1, 1 << 120))
    first = law.probability(0)
    assert first[0] * eta.base**7 <= high
    assert low <= first[1] * eta.base**7
    few = base2.law(utilities[:100], eta)
    assert few.low is few.high  # in rationals


ONE = Eta(1, 1, 1)
SIZE = 140_000  # outcomes, more than `LARGE`
FEW = 2  # trials, so that every string of bits can be tried


@pytest.fixture
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make trials for any number of outcomes, but few."""
    monkeypatch.setattr(exponential_exact, "LARGE", 0)
    for module in (exponential_exact, uniform_proposals):
        monkeypatch.setattr(module, "TRIALS", FEW)


def weighing_of(utilities: NDArray[Any], rate: Eta | float) -> Weighing:
    scale = scale_of(rate, 1.0, utilities.dtype.kind, len(utilities).bit_length())
    return Weighing.of(utilities, scale, False)


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("rate", [ONE, Eta(3, 2, 1), 1.5], ids=str)
@pytest.mark.parametrize("utilities", [[0, 1, 2], [2, 0, 0, 1], [0, 0, 0]], ids=str)
def test_every_string_of_bits_leads_where_the_law_says(utilities: list[int], rate: Eta | float) -> None:
    """Two trials, then a draw by inverse transform; and further bits no more often than is stated."""
    fixed, word_bits, depth = 2 * (1 + 2 * FEW), 2, 14

    def draw(bits: BitSource) -> tuple[int, bool]:
        outcome = int(exponential_exact.sample(utilities, rate, bits, 1)[0])
        return outcome, bits.consumed > fixed

    law, walked = exponential_exact.law(utilities, rate), exhaustive.law(draw, depth, word_bits)
    at_once = Fraction(0)
    for index in range(len(utilities)):
        (low, high), least = law.probability(index), [walked.probability((index, more))[0] for more in (False, True)]
        assert sum(least) <= high
        assert low <= sum(least) + walked.rest
        at_once += least[0]
    boundaries = len(utilities) - 1 + FEW
    assert 1 - at_once <= Fraction(boundaries, 1 << word_bits)
    assert walked.rest <= Fraction(boundaries, 1 << word_bits + depth - fixed)


@pytest.mark.parametrize("utilities", [np.arange(-3, 61), np.arange(64) * 0.75], ids=["integers", "floats"])
@pytest.mark.parametrize("rate", [ONE, Eta(3, 2, 1), 0.7], ids=str)
def test_a_trial_accepts_below_the_weight(
    utilities: NDArray[Any], rate: Eta | float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words at all distances from each weight: the weights as rationals, in base e as bounds far closer than words."""
    if isinstance(rate, Eta) and utilities.dtype.kind == "f":
        utilities = utilities.astype(np.int64)
    monkeypatch.setattr(uniform_proposals, "TRIALS", 1)
    weighing, law = weighing_of(utilities, rate), exponential_exact.law(utilities, rate)
    for outcome in range(0, len(utilities), 7):
        low, high = (mass / law.probability(0)[1 - side] for side, mass in enumerate(law.probability(outcome)))
        edge = int(low * 2**64)
        for offset in (0, *(sign * (1 << shift) for shift in range(0, 40, 3) for sign in (-1, 1))):
            word = edge + offset
            if not 0 <= word < 2**64:
                continue
            accepted = outcome == 0 or Fraction(word + 1, 2**64) <= low
            straddled = not accepted and Fraction(word, 2**64) < high
            for further in ("0", "1") if straddled else ("",):
                bits = scripted_bits(f"{outcome:06b}{0:058b}{word:064b}{further * 1_024}")
                expected = outcome if accepted or further == "0" else None
                assert first_accepted(weighing, bits) == expected
                assert (bits.consumed > 128) == straddled


def test_the_first_accepted_trial_counts_and_an_index_beyond_the_outcomes_is_none() -> None:
    weighing = weighing_of(np.array([0, 40, 1]), ONE)
    proposals = [3, 1, 2, 0, *[3] * (TRIALS - 4)]
    words = [0, 1 << 63, 1 << 63, 1 << 62, *[0] * (TRIALS - 4)]
    script = "".join(f"{index:02b}{0:062b}" for index in proposals)
    assert first_accepted(weighing, scripted_bits(script + "".join(f"{word:064b}" for word in words))) == 0
    words[2] -= 1
    assert first_accepted(weighing, scripted_bits(script + "".join(f"{word:064b}" for word in words))) == 2
    assert first_accepted(weighing, scripted_bits(f"{3:02b}{0:062b}" * TRIALS + "0" * 64 * TRIALS)) is None


MANY: list[tuple[str, Callable[[np.random.Generator], NDArray[Any]]]] = [
    ("all accepted", lambda rng: np.zeros(SIZE, dtype=np.int64)),
    ("most accepted", lambda rng: rng.integers(0, 10, SIZE)),
    ("none accepted", lambda rng: np.append(0, np.full(SIZE - 1, 40))),
    ("few rows matter", lambda rng: np.arange(SIZE)),
]


@pytest.mark.parametrize(("name", "make"), MANY, ids=[name for name, _ in MANY])
def test_the_bits_of_a_draw_do_not_depend_on_the_data(
    monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[np.random.Generator], NDArray[Any]]
) -> None:
    """A word, and two for each trial, which smaller vectors do not make."""
    utilities = make(np.random.default_rng(1))
    for seed in range(3):
        bits = seeded_bits(seed)
        drawn = exponential_exact.sample(utilities, ONE, bits, 1)
        assert bits.consumed == 64 * (1 + 2 * TRIALS)
        with monkeypatch.context() as patch:
            patch.setattr(exponential_exact, "LARGE", len(utilities))
            bits = seeded_bits(seed)
            without = exponential_exact.sample(utilities, ONE, bits, 1)
        assert bits.consumed == 64
        if name in ("none accepted", "few rows matter"):
            assert drawn == without


def test_words_shorter_than_an_index_make_no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    utilities, length = np.random.default_rng(1).integers(0, 10, SIZE), 17
    for seed in range(5):
        string = f"{seeded_bits(seed).take(length * (9 + 2 * TRIALS)):0{length * (9 + 2 * TRIALS)}b}"
        rest = string[:length] + string[length * (1 + 2 * TRIALS) :]
        drawn = exponential_exact.sample(utilities, ONE, scripted_bits(string, length), 1)
        with monkeypatch.context() as patch:
            patch.setattr(exponential_exact, "LARGE", SIZE)
            assert drawn == exponential_exact.sample(utilities, ONE, scripted_bits(rest, length), 1)


def test_what_takes_further_words_is_part_of_the_claim() -> None:
    assert exponential_exact.straddle_bound(LARGE) == Fraction(LARGE - 1, 2**64)
    assert exponential_exact.straddle_bound(LARGE + 1) == Fraction(LARGE + TRIALS, 2**64)
