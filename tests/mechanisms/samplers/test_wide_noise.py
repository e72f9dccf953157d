"""Wide noise: boxes lie below the probabilities, the rest is what they leave, string by string."""

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from subnormal.audit.evidence import exhaustive
from subnormal.audit.statistics import binomial
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import discrete_gaussian, wide_noise
from subnormal.mechanisms.samplers.discrete_gaussian import SUMMED, Bell, normaliser
from subnormal.mechanisms.samplers.discrete_laplace import Decay
from subnormal.mechanisms.samplers.float_weights import Rate
from subnormal.mechanisms.samplers.wide_noise import Rest, Shape, WideNoise, sampler
from tests.support.walks import EveryWord

ALPHA = 1e-6
PRECISION = 200
SMALL: list[tuple[Shape, int, int]] = [
    (Bell(Fraction(16)), 6, 1),
    (Bell(Fraction(30)), 7, 2),
    (Bell(Fraction(9, 4)), 4, 1),
    (Bell(Fraction(1, 3)), 3, 1),
    (Bell(Fraction(100)), 5, 0),
    (Decay(Fraction(1, 4)), 6, 1),
    (Decay(Fraction(1, 7)), 5, 1),
    (Decay(Fraction(3, 2)), 4, 0),
    (Decay(Eta(7, 3, 1)), 6, 2),
]
WIDE: list[Shape] = [Bell(Fraction(1 << 80)), Decay(Fraction(1, 1 << 40))]


@lru_cache(maxsize=16)
def probabilities(shape: Shape) -> list[Fraction]:
    """Return P(0), P(1), … to 2^−190, by sums that share nothing with the code: lower bounds over an upper one."""
    if isinstance(shape, Bell):
        exponents = [Fraction(k * k) / (2 * shape.variance) for k in range(20 * ceil(shape.variance**0.5) + 20)]
        weights = [exp_bounds(-exponent, PRECISION)[0] for exponent in exponents]
    else:
        assert isinstance(shape, Decay)
        rate = shape.rate
        if isinstance(rate, Eta):
            weights = [rate.base**k for k in range(1_100)]
        else:
            weights = [exp_bounds(-rate * k, PRECISION)[0] for k in range(ceil(150 / rate))]
    total = 1 + 2 * sum(weights[1:])
    return [weight / total for weight in weights]


def probability(shape: Shape, z: int) -> Fraction:
    known = probabilities(shape)
    return known[abs(z)] if abs(z) < len(known) else Fraction(0)


def cell_of(noise: WideNoise, z: int) -> int:
    return z >> noise.rest.boxes.split


def box(noise: WideNoise, z: int) -> Fraction:
    """Return the probability of z that its box has: prefixes over all of them, and over the integers of the cell."""
    boxes = noise.rest.boxes
    at = cell_of(noise, z) - boxes.first
    return Fraction(boxes.counts[at] if 0 <= at < len(boxes.counts) else 0, 1 << boxes.prefix + boxes.split)


@pytest.mark.parametrize("given", SMALL, ids=str)
def test_boxes_are_the_largest_below_the_probabilities(given: tuple[Shape, int, int]) -> None:
    noise = sampler(*given)
    boxes, width = noise.rest.boxes, 1 << noise.rest.boxes.split
    for cell in range(-20, 20):
        inside = range(cell * width, (cell + 1) * width)
        assert {abs(z) for z in inside} == set(range(boxes.nearest(cell), boxes.largest(cell) + 1))
        least = min(probability(given[0], z) for z in inside)
        assert box(noise, inside[0]) <= least < box(noise, inside[0]) + Fraction(1, 1 << boxes.prefix + boxes.split)


@pytest.mark.parametrize("given", SMALL, ids=str)
def test_every_word_of_a_box_is_one_integer_of_its_cell(given: tuple[Shape, int, int]) -> None:
    noise = sampler(*given)
    width = noise.rest.boxes.prefix + noise.rest.boxes.split
    script = "".join(f"{word:0{width}b}" for word in range(1 << width))
    drawn = np.zeros(1 << width, dtype=np.int64)
    missing = noise._boxed(scripted_bits(script, word_bits=1), drawn, 0)
    values, counts = np.unique(np.delete(drawn, missing), return_counts=True)
    found = {int(z): Fraction(int(count), 1 << width) for z, count in zip(values, counts, strict=True)}
    assert found == {z: box(noise, z) for z in range(-200, 200) if box(noise, z)}
    assert (
        len(missing)
        == (1 - sum(found.values())) * (1 << width)
        == (len(noise.starts) - noise.chosen) << width - given[1]
    )


@pytest.mark.parametrize("given", SMALL, ids=str)
def test_the_rest_is_what_the_boxes_leave(given: tuple[Shape, int, int]) -> None:
    """Every string of 14 bits: what is decided lies below P(z) − box, in shares of all that boxes leave."""
    noise = sampler(*given)
    left = 1 - Fraction(noise.chosen, len(noise.starts))
    walked = exhaustive.law(lambda bits: int(noise.rest.draw(bits, 1)[0]), depth=14, word_bits=2)
    assert walked.rest < 0.52
    for z in range(-60, 60):
        ideal = (probability(given[0], z) - box(noise, z)) / left
        decided = walked.probability(z)[0]
        assert decided <= ideal * (1 + Fraction(1, 1 << 100)) <= (decided + walked.rest) * (1 + Fraction(1, 1 << 90))


@pytest.mark.parametrize("shape", [Bell(Fraction(9, 4)), Decay(Fraction(3, 4))], ids=str)
def test_draws_are_the_distribution_string_by_string(shape: Shape) -> None:
    """Box and rest together: what 15 bits decide lies below P(z), and P(z) below that and the rest."""
    noise = sampler(shape, 4, 1)
    walked = exhaustive.law(lambda bits: int(noise.draw(bits, 1)[0]), depth=15, word_bits=2)
    assert walked.rest < 0.4
    for z in range(-12, 13):
        decided, ideal = walked.probability(z)[0], probability(shape, z)
        assert decided <= ideal * (1 + Fraction(1, 1 << 100)) <= (decided + walked.rest) * (1 + Fraction(1, 1 << 90))


@pytest.mark.parametrize("shape", WIDE, ids=str)
def test_candidates_are_decided_alike_by_floats_and_by_bounds(shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = sampler(shape)
    by_floats = noise.rest.draw(seeded_bits(1), 2_000)
    monkeypatch.setattr(wide_noise, "EXPONENTIAL_ERROR", 2.0**60)  # every float is in doubt
    assert np.array_equal(by_floats, noise.rest.draw(seeded_bits(1), 2_000))


@pytest.mark.parametrize("variance", [Fraction(SUMMED + 1), Fraction(SUMMED) + Fraction(1, 7), Fraction(10_007)])
def test_poissons_sum_encloses_the_sum_of_the_weights(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = normaliser.__wrapped__(variance, 128)
    monkeypatch.setattr(discrete_gaussian, "SUMMED", 1 << 20)
    summed_low, summed_high = normaliser.__wrapped__(variance, 128)
    assert low <= summed_high
    assert summed_low <= high
    assert high - low < 1 << 12
    assert summed_high - summed_low < 1 << 13


@pytest.mark.parametrize("rate", [Fraction(1, 70), Fraction(1, 10_000), Eta(1023, 10, 1)], ids=str)
@pytest.mark.parametrize(("start", "split"), [(0, 0), (1, 3), (7, 3), (1 << 10, 10)])
def test_weights_of_laplace_noise_enclose_the_powers(rate: Rate, start: int, split: int) -> None:
    """From one product to the next, against each by itself; and their sum in closed form, against theirs."""
    shape = Decay(rate)
    for number, (low, high) in enumerate(shape.weights(start, split, 300, 96)):
        least, most = shape.weight(start + (number << split), 200)
        assert low << 104 <= most
        assert least <= high << 104
        assert high - low <= 2
    beyond = sum(low for low, _ in shape.weights(start + (1 << split), split, 300, 96))
    assert 0 < beyond <= shape.tail(start, shape.weight(start, 96)[1], split)
    last = shape.reach(64)
    sums = [sum(side) for side in zip(*shape.weights(1, 0, last, 64), strict=True)]
    low, high = shape.normaliser(64)
    assert (1 << 64) + 2 * sums[0] <= high
    assert low <= (1 << 64) + 2 * (sums[1] + shape.tail(last, shape.weight(last, 64)[1], 0))
    assert high - low < 1 << 16


@pytest.mark.parametrize("scale", [70, 1 << 40])
@pytest.mark.parametrize("ideal", [stats.laplace, stats.norm], ids=lambda one: one.name)
def test_a_real_sample_has_the_distribution(ideal: Any, scale: int) -> None:
    """False-alarm rate: ALPHA for each of the cells, and for the place in them."""
    n, wide = 1 << 18, Bell(Fraction(scale) ** 2) if ideal is stats.norm else Decay(Fraction(1, scale))
    noise = sampler(wide)
    drawn = noise.draw(seeded_bits(1), n)
    points = np.unique(np.rint(np.linspace(-7, 7, 201) * scale).astype(np.int64))
    found = np.searchsorted(np.sort(drawn), points, side="right") / n
    apart = np.max(np.abs(found - ideal.cdf((points + 0.5) / scale)))
    assert apart <= binomial.dkw_margin(n, ALPHA) + 1 / (24 * 70**2)  # the discrete sum, to less than that
    split = noise.rest.boxes.split
    if split > 8:
        for digits in (drawn >> (split - 8) & 255, drawn & 255):
            assert stats.chisquare(np.bincount(digits, minlength=256)).pvalue > ALPHA


def test_bits_depend_on_the_number_of_draws_and_on_candidates_alone() -> None:
    """Three words for a candidate, one for a draw: nothing says how many draws came from a box."""
    noise = sampler(Bell(Fraction(1 << 60)))
    for seed in range(20):
        for n in (1, 2, 100, 3_000):
            bits = seeded_bits(seed)
            noise.draw(bits, n)
            assert bits.consumed == 64 * (n + 3 * bits.tries)


def test_how_many_draws_the_rest_makes_depends_on_the_number_of_draws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    noise, made, draw = sampler(Bell(Fraction(1 << 60))), list[int](), Rest.draw

    def counted(self: Rest, bits: BitSource, n: int) -> NDArray[np.int64]:
        made.append(n)
        return draw(self, bits, n)

    monkeypatch.setattr(Rest, "draw", counted)
    for seed in range(20):
        noise.draw(seeded_bits(seed), 3_000)
    assert made == [noise.spare(3_000)] * 20


@pytest.mark.parametrize("n", [1, 3, 50, 1_000, 1 << 14, 1 << 20])
def test_the_rest_suffices(n: int) -> None:
    noise = sampler(Bell(Fraction(1 << 40)))
    share = 1 - noise.chosen / len(noise.starts)
    assert stats.binom.sf(noise.spare(n), n, share) <= 2.0**-64
    assert noise.spare(n) <= n
    assert noise.spare(1 << 20) < 1.2 * share * (1 << 20)


def test_where_it_does_not_suffice_more_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WideNoise, "spare", lambda self, n: 0)
    drawn = sampler(Bell(Fraction(1 << 40))).draw(seeded_bits(1), 1 << 16)
    assert stats.kstest(drawn / 2.0**20, stats.norm.cdf).pvalue > ALPHA


def test_a_part_and_a_block_that_end_early_are_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide_noise, "PART", 1_000)
    monkeypatch.setattr(wide_noise, "BLOCK", 300)
    drawn = np.full(2_345, np.iinfo(np.int64).max)
    noise = sampler(Bell(Fraction(1 << 40)))
    noise.fill(seeded_bits(1), drawn)
    assert np.abs(drawn).max() < 8 << 20
    noise.fill(EveryWord(), drawn[:0])
