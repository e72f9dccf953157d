"""JAX's normals: their law, by JAX's own operations, is that of its draws to the last bit."""

from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.families import installed
from subnormal.mechanisms.libraries.jax import PACKAGE, every_normal, key_of, noisy, normals
from subnormal.mechanisms.samplers.float_normals import DIGITS, INVERSE_BFLOAT16, INVERSE_FLOAT16, INVERSE_FLOAT32
from tests.support.walks import law_of

NAMES = [f"jax-normal-{float_type}" for float_type in DIGITS]
DRAWN = 1 << 18  # for a key
KEYS = 4
SIGMA = 1.5

needs_jax = pytest.mark.skipif(installed(PACKAGE) is None, reason="jax is not installed: pip install -e '.[training]'")


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """A million draws with known keys are the enumerated values of the bits that JAX draws for these keys. What is
    released is their sum with the data, and the law of that counts the words."""
    import jax

    float_type: Any = mechanism.name.rpartition("-")[2]
    every, width = every_normal(float_type), {"bfloat16": 8, "float16": 16, "float32": 32}[float_type]
    assert len(every) == 1 << DIGITS[float_type] - 1
    dropped = width + 1 - DIGITS[float_type]
    for key in range(KEYS):
        random = np.asarray(jax.random.bits(key_of(key, 7), (DRAWN,), f"uint{width}"))
        drawn = np.asarray(normals(key_of(key, 7), (DRAWN,), float_type)).astype(np.float32)
        assert every[random >> dropped].tobytes() == drawn.tobytes()
    parameters = GaussianParameters(sigma=SIGMA, delta=1e-6)
    bits = seeded_bits(1)
    released = mechanism.sample(3.0, parameters, bits, 100)
    again = seeded_bits(1)
    noise = normals(key_of(again.take(32), again.take(32)), (100,), float_type)
    assert np.asarray(released).tobytes() == noisy(3.0, SIGMA, noise, float_type).tobytes()
    law = law_of(mechanism, 3.0, parameters)
    sums = noisy(3.0, SIGMA, jax.numpy.asarray(every, float_type), float_type)
    atoms, counts = np.unique(sums, return_counts=True)
    assert law.denominator == len(every)
    assert np.asarray(law.atoms).tobytes() == atoms.tobytes()
    assert np.array_equal(np.repeat(np.asarray(law.low), law.counts()), counts)


@needs_jax
@pytest.mark.parametrize("ours", [INVERSE_BFLOAT16, INVERSE_FLOAT16, INVERSE_FLOAT32], ids=lambda one: one.float_type)
def test_our_inverse_error_function_is_that_of_jax(ours: Any) -> None:
    """To the last bit where the float32 polynomial is rounded to a shorter type; to 4 units in float32."""
    words = np.arange(1 << ours.bits, dtype=np.uint64)
    found, theirs = ours.of_words(words, ours.float_type)[:, 0], every_normal(ours.float_type)
    allowed = 4 if ours.float_type == "float32" else 0
    assert (np.abs(found - theirs) <= allowed * np.spacing(np.abs(theirs))).all()
