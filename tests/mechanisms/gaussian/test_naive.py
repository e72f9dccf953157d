"""Naive Gaussian noise is what people write: each method against itself in plain Python, and against the bell curve."""

import math
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import GaussianParameters, Query
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.gaussian.naive import FLOAT32, FLOAT64, POLAR, box_muller, direction, polar, radius, uniforms

AnyMechanism = Mechanism[Any, Any, Any]

ALPHA = 1e-6  # the false-alarm rate of each statistical test


def drawn_by(mechanism: AnyMechanism, data: Any, n: int, query: Query = "value", seed: int = 1) -> Any:
    parameters = GaussianParameters(sigma=3.0, delta=1e-6, query=query)
    return np.asarray(mechanism.sample(data, parameters, seeded_bits(seed), n))


def plain_uniforms(n: int, width: int) -> list[float]:
    return [math.ldexp(word + 1, -width) for word in seeded_bits(1).words(n, width).tolist()]


@pytest.mark.parametrize(("float_type", "width", "tolerance"), [(np.float64, 53, 1e-14), (np.float32, 24, 3e-6)])
def test_box_muller(float_type: Any, width: int, tolerance: float) -> None:
    """No last bit is expected: math and numpy may differ in it."""
    pairs = box_muller(3.0, seeded_bits(1), 1000, float_type)
    drawn = plain_uniforms(2000, width)
    for pair, first, second in zip(pairs.tolist(), drawn[::2], drawn[1::2], strict=True):
        length = 3 * math.sqrt(-2 * math.log(first))
        angle = 2 * math.pi * second
        expected = length * math.cos(angle), length * math.sin(angle)
        assert pair == pytest.approx(expected, rel=tolerance, abs=length * tolerance)
    assert pairs.dtype == float_type


def test_polar() -> None:
    drawn = iter(plain_uniforms(6000, 53))
    rejected = 0
    for pair in polar(3.0, seeded_bits(1), 1, np.float64).tolist():
        while True:
            x, y = 2 * next(drawn) - 1, 2 * next(drawn) - 1
            square = x * x + y * y
            if 0 < square < 1:
                break
            rejected += 1
        factor = 3 * math.sqrt(-2 * math.log(square) / square)
        assert pair == pytest.approx((x * factor, y * factor), rel=1e-14)
    bits = seeded_bits(1)
    pairs = polar(3.0, bits, 100_000)
    tries = bits.consumed / 106
    assert abs(tries / 100_000 - 4 / math.pi) < 0.02  # the square over the disc; 9 standard deviations
    assert len(np.unique(pairs)) > 199_000


def test_polar_rejects_the_centre_and_what_lies_outside() -> None:
    half, least, most = (1 << 52) - 1, 0, (1 << 53) - 1  # the uniforms 1/2, 2^−53 and 1
    words = [half, half, least, least, most, half, half, (1 << 52) - 2]
    bits = scripted_bits("".join(f"{word:053b}" for word in words))
    x, y = polar(1.0, bits, 1)[0].tolist()
    assert x == 0  # the centre, a corner, an edge; then (0, −2^−52)
    assert y == pytest.approx(-math.sqrt(-2 * math.log(2.0**-104)), rel=1e-14)
    assert bits.consumed == 53 * 8


def test_uniforms_are_never_zero() -> None:
    for float_type, width in ((np.float64, 53), (np.float32, 24)):
        least, most = uniforms(scripted_bits("0" * width + "1" * width), 2, float_type).tolist()
        assert (least, most) == (2.0**-width, 1.0)
    pairs = box_muller(1.0, scripted_bits("1" * 106 + "0" * 53 + "1" * 53), 2)
    assert np.array_equal(pairs[0], [0, 0])  # ln 1
    assert pairs[1].tolist() == pytest.approx([math.sqrt(106 * math.log(2)), 0], abs=1e-14)  # the largest there is


def test_a_uniform_gives_the_same_noise_wherever_it_stands() -> None:
    """The inversion of Box-Muller runs the mechanism's arithmetic again, on other arrays."""
    for float_type in (np.float64, np.float32):
        drawn = uniforms(seeded_bits(1), 10_000, float_type)
        length, cosine, sine = radius(drawn, 3.0), *direction(drawn)
        for part in (*map(slice, (0, 5, 17, 1, 3), (1, 7, 20, 10_000, 36)), slice(2, 9_992, 7), slice(9_999, 999, -1)):
            assert np.array_equal(radius(drawn[part], 3.0), length[part])
            assert np.array_equal(direction(drawn[part])[0], cosine[part])
            assert np.array_equal(direction(drawn[part])[1], sine[part])


def test_pairs_fill_coordinates_in_order() -> None:
    parameters = GaussianParameters(sigma=3.0, delta=1e-6)
    pairs = box_muller(3.0, seeded_bits(1), 40)
    assert np.array_equal(drawn_by(FLOAT64, 1.0, 40), 1.0 + pairs[:, 0])  # the sine is discarded
    assert np.array_equal(drawn_by(FLOAT64, np.array([1.0, 2.0]), 40), np.array([1.0, 2.0]) + pairs)
    three = drawn_by(FLOAT64, np.zeros(3), 20)
    assert np.array_equal(three, pairs.reshape(20, 4)[:, :3])
    assert np.asarray(FLOAT64.sample(np.zeros(3), parameters, seeded_bits(1), 0)).shape == (0, 3)


@pytest.mark.parametrize("mechanism", [FLOAT64, FLOAT32, POLAR], ids=lambda one: one.name)
def test_samples_are_gaussian(mechanism: AnyMechanism) -> None:
    """Each coordinate, their sum and their difference by Dvoretzky-Kiefer-Wolfowitz: each fails with ALPHA."""
    first, second = drawn_by(mechanism, np.zeros(2), 100_000).astype(np.float64).T / 3
    for standard in (first, second, (first + second) / math.sqrt(2), (first - second) / math.sqrt(2)):
        assert distance_from_gaussian(standard) <= math.sqrt(math.log(2 / ALPHA) / 200_000)


def distance_from_gaussian(standard: Any) -> float:
    from scipy.special import ndtr

    ideal, runs = ndtr(np.sort(standard)), len(standard)
    above, below = np.arange(1, runs + 1) / runs - ideal, ideal - np.arange(runs) / runs
    return float(max(above.max(), below.max()))


def test_overflow_is_an_outcome() -> None:
    parameters = GaussianParameters(sigma=1e308, delta=1e-6)
    assert np.isinf(np.asarray(FLOAT64.sample(1e308, parameters, seeded_bits(1), 1000))).any()
    assert np.isinf(np.asarray(FLOAT32.sample(0.0, parameters, seeded_bits(1), 10))).all()
