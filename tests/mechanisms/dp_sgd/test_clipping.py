"""Clipped gradients: no norm above C, whatever the floats do, and no coordinate that grew."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from subnormal.mechanisms.dp_sgd import clipping
from subnormal.mechanisms.dp_sgd.clipping import clipped
from subnormal.mechanisms.dp_sgd.family import CLIP_STEPS_MAX, DpSgdParameters

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
