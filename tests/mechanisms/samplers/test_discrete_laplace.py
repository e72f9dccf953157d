"""Discrete noise: bounds against rationals, parts against the whole, samples against the law.

A test of fit fails on sound code with probability at most ALPHA, by the chi-square distribution of many large cells.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Trace
from subnormal.mechanisms.numerics.mpfr import exp_bounds, power_bounds
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import bernoulli, discrete_gaussian, discrete_laplace
from subnormal.mechanisms.samplers.float_weights import Rate
from subnormal.mechanisms.samplers.inverse_transform import FAR
from tests.support.walks import traces

ALPHA = 1e-6
RUNS = 200_000


def q_bounds(rate: Rate, exponent: int, precision: int = 600) -> tuple[Fraction, Fraction]:
    if isinstance(rate, Eta):
        return power_bounds(rate.base, exponent, precision)
    return exp_bounds(-rate * exponent, precision)


def laplace_cdf(rate: Rate, z: int) -> tuple[Fraction, Fraction]:
    """Bounds on P(Z ≤ z), z in steps, from the definition."""
    low_q, high_q = q_bounds(rate, 1)
    low, high = q_bounds(rate, -z if z < 0 else z + 1)
    low, high = low / (1 + high_q), high / (1 + low_q)
    return (low, high) if z < 0 else (1 - high, 1 - low)


RATES: list[Rate] = [
    Eta(1, 1),
    Eta(3, 2),
    Eta(1, 1, 7),
    Eta.from_epsilon(Fraction(1, 300)),
    Fraction(1),
    Fraction(1, 16),
]
RATES += [Fraction(20), Fraction(1, 300), Fraction(1, 2**40), Fraction(2, 3 * 2**30)]


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("precision", [64, 128])
def test_the_coarse_part_has_the_distribution_function_of_the_noise_at_multiples(rate: Rate, precision: int) -> None:
    """T ≤ t exactly when Z < 2^m·(t + 1)."""
    sampler = discrete_laplace.laplace(rate)
    bounds = sampler.coarse.bounds(precision)
    for low, high, t in list(zip(bounds.low, bounds.high, range(bounds.first, FAR), strict=False))[::7]:
        least, most = laplace_cdf(rate, ((t + 1) << sampler.split) - 1)
        assert low <= least * 2**precision
        assert most * 2**precision <= high
        assert high - low <= 2


@pytest.mark.parametrize("rate", [Eta(15, 4), Eta(4094, 12), Fraction(1, 300), Fraction(1, 2**40)], ids=str)
def test_the_digits_have_the_law_of_a_geometric_remainder(rate: Rate) -> None:
    """P(b) = q^(place·b)·(1 − q^place)/(1 − q^(place·2^w)); both sides in high precision."""
    for place, width in ((0, 3), (4, 2), (8, 8)):
        bounds = discrete_laplace._digit_bounds(rate, place, width, 128)
        whole = [1 - bound for bound in q_bounds(rate, 1 << (place + width))]
        assert (bounds.low[0], bounds.high[0], bounds.low[-1]) == (0, 0, 2**128)
        for digit in range((1 << width) - 1):
            part = [1 - bound for bound in q_bounds(rate, (digit + 1) << place)]
            assert bounds.low[digit + 1] <= part[1] / whole[0] * 2**128
            assert part[0] / whole[1] * 2**128 <= bounds.high[digit + 1]
            assert bounds.high[digit + 1] - bounds.low[digit + 1] <= 2


def test_parts_make_the_whole() -> None:
    """In rationals: P(T = t)·Π P(digits of R) = (1−q)/(1+q)·q^|z|, each z in exactly one way, for q = 255/256."""
    q, split = Fraction(255, 256), 5

    def coarse(t: int) -> Fraction:
        start = t << split if t >= 0 else ((-t - 1) << split) + 1
        return (1 - q ** (1 << split)) / (1 + q) * q**start

    seen = set()
    for t in range(-4, 5):
        for r in range(1 << split):
            z = int(discrete_laplace.join(np.array([t]), np.array([r]), split)[0])
            remainder = q**r * (1 - q) / (1 - q ** (1 << split))
            assert coarse(t) * remainder == (1 - q) / (1 + q) * q ** abs(z)
            seen.add(z)
    assert seen == set(range(-4 << split, 5 << split))


def test_every_short_string_of_a_split_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scale of 2 drawn in parts, as if it were large: what bits decide lies below the law, and the law below both."""
    monkeypatch.setattr(discrete_laplace, "COARSE", Fraction(1, 2))
    rate = Fraction(1, 2)
    sampler = discrete_laplace.laplace.__wrapped__(rate)
    assert sampler.split >= 2
    walked = exhaustive.law(lambda bits: int(sampler.draw(bits, 1)[0]), depth=14, word_bits=2)
    assert walked.rest < Fraction(1, 20)
    within(walked, laplace_masses(rate))


def laplace_masses(rate: Rate) -> Callable[[int], list[Fraction]]:
    def mass(z: int) -> list[Fraction]:
        (low, high), (low_before, high_before) = laplace_cdf(rate, z), laplace_cdf(rate, z - 1)
        return [low - high_before, high - low_before]

    return mass


def within(walked: Law[int], mass: Callable[[int], list[Fraction]]) -> None:
    for z in walked.atoms:
        assert isinstance(z, int)
        least, most = mass(z)
        low = walked.probability(z)[0]
        assert low <= most
        assert least <= low + walked.rest


def bell_masses(variance: Fraction, reach: int) -> Callable[[int], list[Fraction]]:
    weights = {z: exp_bounds(-Fraction(z * z) / (2 * variance), 300) for z in range(-reach, reach + 1)}
    total = [sum(weight[side] for weight in weights.values()) for side in (0, 1)]
    return lambda z: [weights[z][0] / (total[1] + Fraction(1, 10**30)), weights[z][1] / total[0]]


def test_every_short_string_of_a_split_gaussian(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the mass waits for more than 12 bits: words that do not decide, and rejections."""
    monkeypatch.setattr(discrete_laplace, "COARSE", 1)
    monkeypatch.setattr(discrete_gaussian, "COARSE", 1)
    sampler = discrete_gaussian.gaussian.__wrapped__(Fraction(9, 2))
    assert sampler.split == 2
    walked = exhaustive.law(lambda bits: int(sampler.draw(bits, 1)[0]), depth=12, word_bits=2)
    assert walked.rest < 0.5
    within(walked, bell_masses(Fraction(9, 2), 60))


def test_the_tries_of_a_split_gaussian_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are independent and alike, so P(z, second try) = P(first rejected)·P(z, first try), for every z."""
    monkeypatch.setattr(discrete_laplace, "COARSE", 1)
    monkeypatch.setattr(discrete_gaussian, "COARSE", 1)
    sampler = discrete_gaussian.gaussian.__wrapped__(Fraction(9, 2))
    walked = traces(lambda bits: int(sampler.draw(bits, 1)[0]), depth=12, word_bits=2)
    pairs: Sequence[Any] = walked.atoms
    kept = {noise: walked.probability((noise, trace))[0] for noise, trace in pairs if trace == Trace(1, 6, 1)}
    again = {noise: walked.probability((noise, Trace(2, 12, 2)))[0] for noise in kept}
    assert len(kept) >= 4
    assert len(set(kept.values())) > 1
    (rejected,) = {again[noise] / kept[noise] for noise in kept}
    assert 0 < rejected <= 1 - sum(kept.values())


def test_undecided_bounds_the_traces_that_differ() -> None:
    """2^50 tables' words are not walked: samples have only the one trace, and the bounds are what the tables count."""
    for rate, parts in ((Eta(1, 1), 1), (Fraction(1, 16), 1), (Fraction(1, 3000), 2)):
        sampler, bits = discrete_laplace.laplace(rate), seeded_bits(1)
        assert 0 < sampler.undecided() < 2.0**-50
        for _ in range(200):
            sampler.draw(bits, 1)
        assert (bits.tries, bits.consumed, bits.steps) == (0, 200 * parts * 64, 200 * parts)
    assert 0 < discrete_gaussian.gaussian(Fraction(100)).undecided() < 2.0**-50
    assert 0 < discrete_gaussian.gaussian(Fraction(10**6)).undecided() < 2.0**-49
    source = scripted_bits("0" * 64 + "1" * 64)
    discrete_laplace.laplace(Fraction(1, 16)).draw(source, 1)  # the word of zeros holds a whole tail
    assert source.consumed == 128


def test_the_parts_of_a_gaussian_make_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """T weighs e^(−s²/(2σ²)) and R is kept with e^(−(z² − s²)/(2σ²)), exactly, s the least magnitude with that T."""
    variance = Fraction(500) ** 2
    sampler, asked = discrete_gaussian.gaussian(variance), []
    monkeypatch.setattr(discrete_gaussian, "UNIT", 1.0)  # floats decide nothing
    monkeypatch.setattr(discrete_gaussian, "bernoulli_exp", lambda exponent, *_: asked.append(exponent))
    coarse = np.repeat(np.arange(-9, 10), 1 << sampler.split)
    rest = np.tile(np.arange(1 << sampler.split), 19)
    sampler._accepted(coarse, rest, seeded_bits(1))
    whole = discrete_laplace.join(coarse, rest, sampler.split)
    assert sorted(whole.tolist()) == list(range(-9 << sampler.split, 10 << sampler.split))
    least = {
        t: min(abs(z) for z, own in zip(whole.tolist(), coarse.tolist(), strict=True) if own == t)
        for t in range(-9, 10)
    }
    for exponent, t, z in zip(asked, coarse.tolist(), whole.tolist(), strict=True):
        assert exponent == Fraction(z * z - least[t] ** 2) / (2 * variance)
    bounds = sampler.coarse.bounds(128)
    weight = {t: exp_bounds(-Fraction(least[t] ** 2) / (2 * variance), 200)[0] for t in least}
    mass = {t: bounds.low[t - bounds.first] - bounds.low[t - 1 - bounds.first] for t in least}
    for t in least:
        assert mass[t] / mass[0] == pytest.approx(float(weight[t] / weight[0]), rel=1e-12)


def test_gaussian_bounds_hold_the_distribution_function() -> None:
    for variance, precision in ((Fraction(1, 4), 64), (Fraction(400), 64), (Fraction(33, 7), 128)):
        reach = discrete_gaussian.gaussian_reach(variance, 200)
        masses = bell_masses(variance, reach)
        bounds = discrete_gaussian.gaussian(variance).coarse.bounds(precision)
        below = [sum((masses(z)[side] for z in range(-reach, bounds.first)), Fraction(0)) for side in (0, 1)]
        for z, low, high in zip(range(bounds.first, FAR), bounds.low, bounds.high, strict=False):
            below = [below[0] + masses(z)[0], below[1] + masses(z)[1]]
            assert low <= below[1] * 2**precision
            assert below[0] * 2**precision <= high
            assert high - low <= 2


@pytest.mark.parametrize("scale", [1000, 2**30])
@pytest.mark.parametrize("ideal", [stats.laplace, stats.norm], ids=lambda one: one.name)
def test_wide_noise_fits_its_law(ideal: Any, scale: int) -> None:
    """Chi-square in cells of about equal mass: the sum over integers is the integral, but for 1/(24·scale²)."""
    if ideal is stats.norm:
        drawn = discrete_gaussian.gaussian(Fraction(scale) ** 2).draw(seeded_bits(4), RUNS)
    else:
        drawn = discrete_laplace.laplace(Fraction(1, scale)).draw(seeded_bits(3), RUNS)
    edges = np.unique(np.round(scale * np.linspace(-2.5, 2.5, 31)))
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    fits = [
        stats.chisquare(counts, RUNS * np.diff([0.0, *ideal.cdf((edges + 0.5) / wrong), 1.0])).pvalue > ALPHA
        for wrong in (scale, 1.02 * scale)
    ]
    assert fits == [True, False]  # a scale that is wrong by a fiftieth is noticed


def test_the_tail_beyond_the_table() -> None:
    """A first word of zeros lies below every bound of 64 bits; the next word decides, in the real numbers' place."""
    rate = Fraction(1, 2**50)
    drawn = int(discrete_laplace.laplace(rate).coarse.draw(scripted_bits("0" * 64 + "1" + "0" * 63), 1)[0])  # U = 2^−65
    split = discrete_laplace.laplace(rate).split
    assert (
        laplace_cdf(rate, (drawn << split) - 1)[0]
        <= Fraction(1, 2**65)
        <= laplace_cdf(rate, ((drawn + 1) << split) - 1)[1]
    )
    assert drawn < discrete_laplace.laplace(rate).coarse.first


def test_noise_beyond_the_integers_is_saturated() -> None:
    assert discrete_laplace.join(np.array([-FAR, FAR]), np.array([0, 0]), 45).tolist() == [
        -FAR + (1 << 45) - 1,
        FAR - (1 << 45),
    ]


def test_bernoulli_exp_agrees_with_rationals_bit_by_bit() -> None:
    exponent = Fraction(1, 3)
    walked = exhaustive.law(
        lambda bits: bernoulli.bernoulli_exp(exponent, bits, bits.take(1), 1), depth=12, word_bits=1
    )
    low, high = exp_bounds(-exponent)
    assert walked.rest == Fraction(1, 2**12)
    assert walked.probability(True)[0] <= high
    assert low <= walked.probability(True)[0] + walked.rest


def test_near_words_go_to_the_exact_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make floats useless: every acceptance is decided exactly, and equals what floats decided."""
    sampler = discrete_gaussian.gaussian(Fraction(500) ** 2)
    fast = sampler.draw(seeded_bits(6), 500)
    monkeypatch.setattr(discrete_gaussian, "UNIT", 1.0)
    assert sampler.draw(seeded_bits(6), 500).tolist() == fast.tolist()
