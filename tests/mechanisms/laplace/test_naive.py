"""Naive Laplace noise: its laws are those of the code, string by string, and its outputs come in order."""

from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import LaplaceParameters
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.laplace.naive import FLOAT32, FLOAT64
from tests.support.walks import EveryWord, law_of

VALUES = [0.0, -0.0, 1.0, 0.1, -3.7, 2.0**20 + 0.5, 1e-300]
SCALES = [1.0, 100.0, 1 / 30, 1e-3]
AT_ONCE = 1 << 19


def by_every_string(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, width: int) -> None:
    """Outputs come in order: the law's atoms, each as often as it weighs, are the outputs of all strings in order."""
    law, bits = law_of(mechanism, data, parameters), EveryWord()
    assert law.denominator == 1 << width
    places = np.cumsum(np.repeat(law.low, law.counts()))  # the number of strings up to each atom
    for start in range(0, 1 << width, AT_ONCE):
        drawn = mechanism.sample(data, parameters, bits, min(AT_ONCE, 1 << width))
        first, last = np.searchsorted(places, [start, start + len(drawn) - 1], side="right")
        repeats = np.diff(np.clip(places[first : last + 1], start, start + len(drawn)), prepend=start)
        expected = np.repeat(np.asarray(law.atoms)[first : last + 1], repeats)
        assert drawn.tobytes() == expected.tobytes()  # type: ignore[union-attr]


def by_every_boundary(mechanism: Mechanism[Any, Any, Any], data: Any, parameters: Any, width: int) -> None:
    """Outputs come in order: the law is right when the first and the last string of each atom lead to it."""
    law = law_of(mechanism, data, parameters)
    assert law.denominator == 1 << width
    ends = np.cumsum(np.repeat(law.low, law.counts()))
    words = np.stack([np.append(0, ends[:-1]), ends - 1], axis=1).ravel().tolist()
    bits = scripted_bits("".join(f"{word:0{width}b}" for word in words))
    drawn = np.asarray(mechanism.sample(data, parameters, bits, len(words)))
    assert drawn.tobytes() == np.repeat(np.asarray(law.atoms), 2).tobytes()


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """float32: all 2^25 strings, where the float types differ most. float64: where the sum absorbs the noise."""
    if mechanism is FLOAT32:
        by_every_string(mechanism, 1.0, LaplaceParameters(epsilon=1.0), 25)
    for data in (2**60, 2**60 + 129, -(2**60), 2.0**50, np.array([2**40, 2**60])):
        parameters = LaplaceParameters(epsilon=1.0, query="sum" if isinstance(data, np.ndarray) else "value")
        by_every_boundary(mechanism, data, parameters, 25 if mechanism is FLOAT32 else 53)


@pytest.mark.parametrize("float_type", [np.float32, np.float64])
@pytest.mark.parametrize("uniform_bits", range(8, 15))
def test_the_law_is_that_of_every_string(uniform_bits: int, float_type: Any) -> None:
    options: dict[str, Any] = {"float_type": float_type, "uniform_bits": uniform_bits}
    total = 2 << uniform_bits
    script = "".join(f"{word:0{uniform_bits + 1}b}" for word in range(total))
    for value in VALUES:
        for scale in SCALES[uniform_bits % 2 :: 2]:
            drawn = laplace_naive.sample(value, scale, scripted_bits(script), total, **options)
            assert not np.signbit(drawn[drawn == 0]).any()
            atoms, counts = np.unique(drawn, return_counts=True)
            law = laplace_naive.law(value, scale, **options)
            assert np.asarray(law.atoms).tobytes() == atoms.tobytes()
            assert np.repeat(law.low, law.counts()).tolist() == counts.tolist()
            assert law.denominator == total


@pytest.mark.parametrize(("float_type", "widths"), [(np.float64, (40, 52, 53)), (np.float32, (24, 40, 53))])
def test_outputs_never_decrease(float_type: Any, widths: tuple[int, ...]) -> None:
    """Around the uniforms where neighbouring logarithms are closest in units of their last place, e^−1, e^−2, …, and at
    both ends of either sign. At fewer bits the logarithms lie further apart."""
    window = np.arange(-20_000, 20_000)
    for width in widths:
        uniforms = 1 << width
        centres = [int(uniforms * np.exp(-size)) for size in (0.25, 0.5, 1, 2, 4, 8, 16)]
        for index in [0, uniforms, *centres, *(2 * uniforms - count for count in centres), 2 * uniforms]:
            indices = np.clip(index + window, 0, 2 * uniforms - 1)
            for value in (0.0, 1.0):
                got = laplace_naive.outputs(indices, value, 1.0, float_type=float_type, uniform_bits=width)
                assert (got[1:] >= got[:-1]).all()


def test_the_float32_logarithm_is_the_same_on_every_processor() -> None:
    """No logarithm of the 2^24 uniforms comes within 20 units in the last place of a float64 to a midpoint between two
    float32: whoever's logarithm errs by less rounds to the same float32."""
    for start in range(1, 1 << 24, 1 << 20):
        exact = -np.log(np.ldexp(np.arange(start, min(start + (1 << 20), 1 << 24), dtype=np.float64), -24))
        nearest = exact.astype(np.float32)
        for direction in (np.float32(np.inf), np.float32(-np.inf)):
            midpoint = (nearest.astype(np.float64) + np.nextafter(nearest, direction).astype(np.float64)) / 2
            assert (np.abs(midpoint - exact) > 20 * np.spacing(exact)).all()


def test_a_draw_takes_one_bit_for_the_sign_and_the_uniform_s() -> None:
    for mechanism, width in ((FLOAT64, 53), (FLOAT32, 25)):
        for data, coordinates in ((1.5, 1), (np.array([1.0, 2.0, -5.0]), 3)):
            bits = seeded_bits(1)
            outcomes = mechanism.sample(data, LaplaceParameters(epsilon=1.0), bits, 10)
            assert np.shape(outcomes) == ((10,) if coordinates == 1 else (10, 3))
            assert bits.consumed == 10 * coordinates * width
            assert np.asarray(outcomes).dtype == (np.float64 if mechanism is FLOAT64 else np.float32)


def test_a_sum_is_taken_in_the_member_s_float_type() -> None:
    records = np.array([2.0**24, 1.0, 1.0])  # a float32 swallows both ones
    parameters = LaplaceParameters(epsilon=1.0, query="sum")
    for data, value in ((records, 2.0**24), (records[::-1], 2.0**24 + 2)):
        law = law_of(FLOAT32, data, parameters)
        assert law.atoms is laplace_naive.law(value, 1.0, float_type=np.float32).atoms
