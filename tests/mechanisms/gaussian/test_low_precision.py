"""Gaussian noise of few random bits: laws by every word, vectors, bad input."""

from typing import Any

import numpy as np
import pytest

from subnormal import member
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import scripted_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.samplers.float_normals import (
    BOX_MULLER_BFLOAT16,
    BOX_MULLER_FLOAT16,
    INVERSE_BFLOAT16,
    INVERSE_FLOAT16,
    INVERSE_FLOAT32,
    FloatNormal,
    noisy,
)
from tests.support.walks import EveryWord, law_of

SAMPLERS: dict[str, FloatNormal] = {
    "gaussian-inverse-bfloat16": INVERSE_BFLOAT16,
    "gaussian-inverse-float16": INVERSE_FLOAT16,
    "gaussian-inverse-float32": INVERSE_FLOAT32,
    "gaussian-box-muller-bfloat16": BOX_MULLER_BFLOAT16,
    "gaussian-box-muller-float16": BOX_MULLER_FLOAT16,
}
NAMES = tuple(SAMPLERS)
AT_ONCE = 1 << 16


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every word through the member's `sample`. In float32 at one value only: 2^23 words take a second."""
    words = 1 << SAMPLERS[mechanism.name].bits
    cases = [(1.0, 1.0), (-300.5, 0.7), (0.0, 1e-6), (1e5, 3.0)]
    for value, sigma in cases if words <= 1 << 16 else cases[:1]:
        parameters, bits = GaussianParameters(sigma=sigma, delta=1e-6), EveryWord()
        drawn = [mechanism.sample(value, parameters, bits, min(AT_ONCE, words)) for _ in range(0, words, AT_ONCE)]
        atoms, counts = np.unique(np.concatenate(drawn), return_counts=True)
        law = law_of(mechanism, value, parameters)
        assert law.denominator == words
        assert np.asarray(law.atoms).tobytes() == atoms.tobytes()
        assert np.array_equal(np.repeat(np.asarray(law.low), law.counts()), counts)


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_takes_the_normals_of_its_words_in_order(name: str) -> None:
    normal = SAMPLERS[name]
    parameters, data = GaussianParameters(sigma=2.0, delta=1e-6), np.array([0.0, 0.0, 0.0])
    script = "".join(f"{word:0{normal.bits}b}" for word in range(3, 9))
    drawn = np.asarray(member(name).sample(data, parameters, scripted_bits(script), 6 // -(-3 // normal.normals)))
    expected = normal.of_words(np.arange(3, 9, dtype=np.uint64), normal.float_type)
    flat = expected.reshape(len(drawn), -1)[:, :3]
    assert np.array_equal(drawn, noisy(0.0, 2.0, flat, normal.float_type))


def test_a_sum_is_added_up_in_float32_and_rounded_to_the_type() -> None:
    """257 has nine binary digits: in bfloat16 it is 256, also as the sum of two records."""
    law: Any = member("gaussian-inverse-bfloat16").law
    value = law(257.0, GaussianParameters(sigma=1e-3, delta=1e-6))
    total = law(np.array([256.0, 1.0]), GaussianParameters(sigma=1e-3, delta=1e-6, query="sum"))
    assert np.asarray(value.atoms).tolist() == np.asarray(total.atoms).tolist() == [256.0]
