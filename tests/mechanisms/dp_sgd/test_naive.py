"""DP-SGD in floats: laws by every word, clipping and sums operation by operation, and the figures of the attacks."""

import math
from typing import Any

import numpy as np
import pytest

from subnormal.attacks.dp_sgd.float_noise import accumulation, bounded_noise, unreachable_sums
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.dp_sgd import naive
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.families import member
from subnormal.mechanisms.samplers.float_normals import (
    INVERSE_BFLOAT16,
    INVERSE_FLOAT16,
    INVERSE_FLOAT32,
    FloatType,
    law_of_normals,
    noisy,
)
from tests.support.walks import EveryWord, evidence, law_of

NORMALS = {f"dp-sgd-{one.float_type}": one for one in (INVERSE_BFLOAT16, INVERSE_FLOAT16, INVERSE_FLOAT32)}
NAMES = tuple(NORMALS)
WORDS = 1 << 12  # of the 2^23 of float32: the law of noise added to a number is tried by all of them elsewhere


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every word through `sample`, each batch with both records; of float32 the first 2^12, each in the law."""
    normal = NORMALS[mechanism.name]
    parameters = DpSgdParameters(multiplier=0.75, clip=2.0)
    data = np.array([[1.25], [7.0]])
    law = law_of(mechanism, data, parameters)
    words = min(WORDS, 1 << normal.bits)
    drawn = np.asarray(mechanism.sample(data, parameters, EveryWord(), words))
    normals = normal.of_words(np.arange(words, dtype=np.uint64), normal.float_type)[:, 0]
    assert np.array_equal(drawn, noisy(3.25, 1.5, normals, normal.float_type))
    atoms, counts = np.unique(drawn + np.float32(0), return_counts=True)
    assert law.denominator == 1 << normal.bits
    if words == law.denominator:
        assert np.asarray(law.atoms).tobytes() == atoms.tobytes()
        assert np.array_equal(np.repeat(np.asarray(law.low), law.counts()), counts)
    else:
        places = np.searchsorted(np.asarray(law.atoms), atoms)
        assert np.array_equal(np.asarray(law.atoms)[places], atoms)
        assert (counts <= np.repeat(np.asarray(law.low), law.counts())[places]).all()


@pytest.mark.parametrize(("float_type", "delta"), [("bfloat16", 111 / 128), ("float16", 907 / 1024)])
def test_most_outcomes_prove_the_world(float_type: str, delta: float) -> None:
    attack = unreachable_sums(mechanism=f"dp-sgd-{float_type}")
    found = evidence(attack, member(f"dp-sgd-{float_type}"))
    assert (found.epsilon, found.delta, found.event_in, found.event_out) == (math.inf, delta, (0, 0), (delta, delta))
    told = member("dp-sgd-exact").claim(attack.parameters, *attack.worlds())
    assert (round(told.epsilon, 1), told.delta) == (4.7, 1e-5)


def test_noise_in_bfloat16_is_bounded() -> None:
    values, counts = law_of_normals(INVERSE_BFLOAT16)
    assert (values[0], values[-1], counts.sum()) == (-2.890625, 2.515625, 128)
    found = evidence(bounded_noise(), member("dp-sgd-bfloat16"))
    assert (found.event_in, found.event_out) == ((8 / 128, 8 / 128), (0, 0))


def test_a_sum_in_bfloat16_moves_by_far_more_than_the_clipping_norm() -> None:
    data_in, data_out = accumulation().worlds()

    def added_up(float_type: FloatType) -> list[float]:
        worlds = (naive.clipped(data, 1.0, float_type) for data in (data_in, data_out))
        return [float(naive.added_up(terms, float_type)[0]) for terms in worlds]

    assert added_up("bfloat16") == [129.0, 96.0]
    assert added_up("float32") == pytest.approx([112.36, 111.36], abs=1e-3)


def test_gradients_are_clipped_in_the_type() -> None:
    data = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [1e30, 0.0]])
    single = naive.clipped(data, 1.0, "float32")
    assert single[:3] == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4], [0, 0]]), rel=1e-6)
    assert single[3].tolist() == [0, 0]  # the norm overflows, and the gradient is lost
    half = naive.clipped(data, 1.0, "bfloat16")[0]
    assert half.tolist() == [0.6015625, 0.80078125]  # 0.2 has 8 digits, 3 and 4 times it are rounded again


def test_steps_and_coordinates_are_released_in_their_order() -> None:
    parameters = DpSgdParameters(multiplier=2.0**-8, steps=2, rate=0.5, clip=8.0)
    drawn = np.asarray(member("dp-sgd-float32").sample(np.array([[1.0, 2.0]]), parameters, seeded_bits(1), 100))
    assert drawn.shape == (100, 4)
    steps = np.round(drawn).reshape(200, 2)
    assert {tuple(row) for row in steps.tolist()} == {(0.0, 0.0), (1.0, 2.0)}
