"""A step of DP-SGD: the law of each member against every string of bits, and batches by exact coins and shuffles."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.dp_sgd import batches, clipping, steps
from subnormal.mechanisms.dp_sgd.clipping import clipped
from subnormal.mechanisms.dp_sgd.family import CLIP_STEPS_MAX, DpSgdParameters
from subnormal.mechanisms.dp_sgd.steps import PRECISION, noise_bounds
from subnormal.mechanisms.families import family, member, members
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.samplers import discrete_gaussian
from tests.mechanisms.dp_sgd import test_naive
from tests.support.walks import assert_within_the_law

AnyMechanism = Mechanism[Any, Any, Any]

NAMES = [one.name for one in members(family("dp-sgd")) if one.name not in test_naive.NAMES]
CASES: list[tuple[list[list[float]], dict[str, Any]]] = [
    ([[2.0]], {}),
    ([[-0.5, 1.0]], {}),
    ([[1.0], [-1.0]], {"rate": 0.75}),
    ([[1.0], [-1.0], [7.0]], {"rate": 0.25, "batch_size": 2}),
    ([[1.0], [-1.0]], {"rate": 0.5, "steps": 2}),
    ([[70_000.0, 0.0], [0.0, 1.0]], {"rate": 0.5}),
]


def check_law(mechanism: AnyMechanism) -> None:
    """On the integers, with C = 1 and σ = 1/2: draws take few bits, and 12 bits decide most of them."""
    for gradients, options in CASES:
        parameters = DpSgdParameters(multiplier=0.5, grid=0, **options)
        assert_within_the_law(mechanism, np.array(gradients), parameters, rest=0.3, word_bits=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dp-sgd-exact", {"rate": 0.5}),  # what lies beyond the reach around one sum is on the atoms of another
        ("dp-sgd-microbatch-noise", {}),  # and beyond that of one draw, within that of two
        ("dp-sgd-exact", {"steps": 2}),
    ],
)
def test_a_short_reach_leaves_the_rest_of_the_noise_open(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """σ = 1 and noise followed to ±1: beyond lies more than a tenth, which 12 bits can see."""
    short = SimpleNamespace(**vars(discrete_gaussian) | {"gaussian_reach": lambda variance, precision: 1})
    monkeypatch.setattr(steps, "discrete_gaussian", short)  # of the law alone, not of the sampler's tables
    noise_bounds.cache_clear()
    try:
        assert noise_bounds(Fraction(1), 1).rest > Fraction(1, 10)
        parameters = DpSgdParameters(multiplier=1.0, grid=0, **options)
        assert_within_the_law(member(name), np.array([[1.0], [-1.0]]), parameters, rest=0.3, word_bits=1)
    finally:
        noise_bounds.cache_clear()


@pytest.mark.parametrize("multiplier", [10.0, 5_000.0], ids=["one table", "boxes"])
def test_the_noise_of_a_step_is_that_of_the_exact_gaussian(multiplier: float) -> None:
    parameters = DpSgdParameters(multiplier=multiplier, grid=0)
    released = member("dp-sgd-exact").sample(np.zeros((1, 3)), parameters, seeded_bits(1), 200)
    noise = gaussian_exact.sample(0, multiplier, seeded_bits(1), 600)
    assert np.array_equal(released, noise.reshape(200, 3))


def test_the_sum_of_several_draws_is_their_convolution() -> None:
    """σ = 2, against floats to their precision."""
    one = np.exp(-(np.arange(-60, 61) ** 2) / 8)
    one /= one.sum()
    expected = np.convolve(np.convolve(one, one), one)
    bounds = noise_bounds(Fraction(4), 3)
    for z in range(-20, 21):
        low, high = (side[z + bounds.reach] / 2**PRECISION for side in (bounds.low, bounds.high))
        assert low == pytest.approx(high, rel=1e-12) == pytest.approx(expected[z + 180], rel=1e-11)
    assert 0 < bounds.rest < Fraction(1, 2**60)


@pytest.mark.parametrize("rate", [0.0625, 0.3, 0.5, 0.99])
def test_coins_have_their_rate_exactly(rate: float) -> None:
    for word_bits in (1, 2, 5):
        law = exhaustive.law(lambda bits: bool(batches.coins(Fraction(rate), bits, 1)[0]), 12, word_bits)
        assert law.probability(True)[0] <= Fraction(rate) <= law.probability(True)[0] + law.rest
        assert law.rest <= 2**-10


def test_every_order_is_equally_likely() -> None:
    def draw(bits: BitSource) -> tuple[int, ...]:
        return tuple(batches._orders(3, bits, 1)[0].tolist())

    law = exhaustive.law(draw, 13)
    assert len(law.atoms) == math.factorial(3)
    assert len({law.probability(atom)[0] for atom in law.atoms}) == 1
    assert law.rest < 2**-9


def test_shuffled_batches_are_the_pieces_of_an_order() -> None:
    parameters = DpSgdParameters(multiplier=1.0, batch_size=2, steps=5)
    chosen = batches.shuffled(parameters, 5, seeded_bits(1), 50)
    assert chosen.shape == (50, 5, 5)
    assert (chosen.sum(axis=2) == [2, 2, 1, 2, 2]).all()  # the second epoch stops before its last batch
    assert (chosen[:, :3].sum(axis=1) == 1).all()
    assert len({chosen[run].tobytes() for run in range(50)}) > 40


ANY = arrays(np.float64, st.tuples(st.integers(0, 3), st.integers(1, 4)), elements=st.floats(width=64))
SMALL = arrays(np.float64, (2, 3), elements=st.integers(-12, 12).map(float))


def norms_squared(steps: Any) -> list[int]:
    return [sum(one * one for one in row) for row in steps.tolist()]


@given(ANY | SMALL, st.sampled_from([0.1, 1.0, 5.0]), st.integers(-20, -4))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_norm_is_above_the_bound(gradients: Any, clip: float, grid: int) -> None:
    parameters = DpSgdParameters(multiplier=1.0, clip=clip, grid=grid)
    steps = clipped(gradients, parameters)
    assert all(norm <= parameters.clip_steps**2 for norm in norms_squared(steps))
    finite = np.isfinite(gradients).all(axis=1)
    assert (steps[~finite] == 0).all()
    for row, made in zip(gradients[finite].tolist(), steps[finite].tolist(), strict=True):
        for one, step in zip(row, made, strict=True):
            grown = abs(step) * Fraction(2) ** grid - abs(Fraction(one))
            assert grown <= Fraction(2) ** grid / 2**20  # the floats of a scaled gradient may cross a step
            assert step == 0 or (step > 0) == (one > 0)


@given(SMALL)
@settings(deadline=None, derandomize=True)
def test_a_gradient_on_the_grid_is_kept_where_it_fits(gradients: Any) -> None:
    parameters = DpSgdParameters(multiplier=1.0, clip=12.0, grid=0)
    fits = (gradients * gradients).sum(axis=1) <= 144
    assert (clipped(gradients, parameters)[fits] == gradients[fits]).all()


@pytest.mark.parametrize("factor", [1.5, 1e9, np.inf, np.nan, -1.0])
def test_the_bound_holds_whatever_the_floats_do(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """False alarms: none. The float scaling is replaced by one that is wrong."""
    scaled = clipping._scaled
    monkeypatch.setattr(clipping, "_scaled", lambda *given: np.nan_to_num(scaled(*given) * factor, posinf=2.0**62))
    few, many = np.random.default_rng(1).normal(size=(20, 5)) * 100, np.full((1, 1 << 16), 100.0)
    for gradients, grid in ((few, -3), (few, -24), (many, -24)):  # of the last, squares add up to 2^64
        parameters = DpSgdParameters(multiplier=1.0, grid=grid)
        assert all(norm <= parameters.clip_steps**2 for norm in norms_squared(clipped(gradients, parameters)))


def test_the_finest_grid_wraps_no_integer_around() -> None:
    parameters = DpSgdParameters(multiplier=1.0, clip=float(CLIP_STEPS_MAX), grid=0)
    steps = clipped(np.full((1, 1 << 16), 1e300), parameters)
    assert norms_squared(steps)[0] <= CLIP_STEPS_MAX**2
    assert (steps > 0.99 * CLIP_STEPS_MAX / 256).all()
