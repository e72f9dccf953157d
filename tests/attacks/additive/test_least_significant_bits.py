"""Is this output reachable from that value? The answer is right for every float, and never excludes the truth."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from subnormal.attacks.additive.least_significant_bits import MANY, Reachable, least_significant_bits, reachable
from subnormal.audit.evidence import sampled
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.laplace.naive import FLOAT32
from tests.support.walks import law_of

VALUES = [0.0, 1.0, 0.1, -3.7, 2.0**20 + 0.5, 1e-300]
EPSILONS = [1e-3, 0.01, 1.0, 30.0]


def neighbours(centre: float, count: int, float_type: Any) -> NDArray[np.floating[Any]]:
    """Return all the floats around a float that is not 0: `count` before it, itself, and `count` after it."""
    bits = np.array([centre], dtype=float_type).view(f"i{np.dtype(float_type).itemsize}")
    return (bits + np.arange(-count, count + 1, dtype=bits.dtype)).view(float_type)


def every_output(value: float, scale: float, float_type: Any, uniform_bits: int) -> NDArray[np.floating[Any]]:
    indices = np.arange(2 << uniform_bits)
    return laplace_naive.outputs(indices, value, scale, float_type=float_type, uniform_bits=uniform_bits)


def laws(mechanism: Mechanism[Any, Any, Any], attack: Any) -> tuple[Law[Any], Law[Any]]:
    law_in, law_out = (law_of(mechanism, data, attack.parameters) for data in attack.worlds())
    return law_in, law_out


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("uniform_bits", [52, 53])
def test_the_truth_is_never_excluded(epsilon: float, uniform_bits: int) -> None:
    options: dict[str, Any] = {"float_type": np.float64, "uniform_bits": uniform_bits}
    for value in VALUES:
        bits = seeded_bits(uniform_bits, f"{epsilon}", f"{value}")
        outputs = laplace_naive.sample(value, 1 / epsilon, bits, 100_000, **options)
        assert reachable(outputs, value, 1 / epsilon, **options).all()


def test_the_truth_is_never_excluded_at_either_end_nor_in_float32() -> None:
    for float_type, uniform_bits in ((np.float64, 53), (np.float64, 52), (np.float32, 24), (np.float32, 12)):
        options: dict[str, Any] = {"float_type": float_type, "uniform_bits": uniform_bits}
        total, step = 2 << uniform_bits, np.arange(5_000)
        indices = np.concatenate([step, total // 2 - 2_500 + step, total - 1 - step]) % total
        for value in VALUES:
            for epsilon in EPSILONS:
                outputs = laplace_naive.outputs(indices, value, 1 / epsilon, **options)
                assert reachable(outputs, value, 1 / epsilon, **options).all()


@pytest.mark.parametrize("float_type", [np.float32, np.float64])
@pytest.mark.parametrize("uniform_bits", [8, 11, 14])
def test_exactly_the_outputs_are_reachable(float_type: Any, uniform_bits: int) -> None:
    """Every output, and every float near one: what is called reachable is an output, and the other way round."""
    wrong = 0
    for value in VALUES:
        for scale in (1.0, 100.0, 1 / 30):
            outputs = every_output(value, scale, float_type, uniform_bits)
            chosen = outputs[:: max(1, len(outputs) // 40)]
            windows = [neighbours(float(output), 200, float_type) for output in chosen if output != 0]
            candidates = np.concatenate([outputs, *windows])
            answers = reachable(candidates, value, scale, float_type=float_type, uniform_bits=uniform_bits)
            wrong += int((answers != np.isin(candidates, outputs)).sum())
    assert wrong == 0


def agree_on_windows(support: NDArray[np.float32], value: float, scale: float) -> None:
    """Windows of all 2^17 floats around a centre, against the enumerated support of 2^25 strings."""
    hits = 0
    for centre in (-14 * scale, -0.3 * scale, 2.0**-12, 0.25, 1 - 2.0**-10, 1.0, 1.5, 2.0, 7.3 * scale):
        window = neighbours(centre, 1 << 16, np.float32)
        answers = reachable(window, value, scale, float_type=np.float32, uniform_bits=24)
        low, high = np.searchsorted(support, [window.min(), np.nextafter(window.max(), np.float32(np.inf))])
        assert (answers == np.isin(window, support[low:high])).all()
        hits += int(answers.sum())
    assert hits > 10_000


def test_the_atoms_of_a_law_are_looked_up_with_the_same_answer() -> None:
    attack = least_significant_bits(float_type=np.float32)
    event = attack.event
    assert isinstance(event, Reachable)
    _, law_out = laws(FLOAT32, attack)
    atoms = np.asarray(law_out.atoms)[: 2 * MANY : 2]
    looked_up, widened = event(atoms), event(atoms.astype(np.float64))
    judged = reachable(atoms, 1.0, 1.0, float_type=np.float32, uniform_bits=24)
    assert 0 < judged.sum() < len(atoms)
    assert (looked_up == judged).all()
    assert (widened == judged).all()
    between = np.unique(atoms.astype(np.float64) * (1 + 2.0**-40))  # no float32
    assert len(between) >= MANY
    assert not event(between).any()


@pytest.mark.parametrize("epsilon", [1.0, 0.01])
def test_on_naive_float32(epsilon: float) -> None:
    attack = least_significant_bits(epsilon, np.float32)
    law_in, law_out = laws(FLOAT32, attack)
    for law, value in ((law_in, 1.0), (law_out, 0.0)):
        agree_on_windows(np.asarray(law.atoms), value, 1 / epsilon)
    edges = sampled.bin_edges(FLOAT32, attack, attack.worlds(), (law_in, law_out), 1, 0)
    assert len(edges) == sampled.BINS
    for law in (law_in, law_out):
        masses = sampled.bin_masses(law, attack, edges)
        assert masses.sum() == pytest.approx(1, abs=1e-12)
        counted = law.measure(np.asarray(law.atoms) <= edges[1000])[0] / law.denominator
        assert masses[:1001].sum() == pytest.approx(counted, abs=1e-12)


def test_a_value_that_swallows_the_noise_is_reachable_and_no_other() -> None:
    for outcome, expected in ((2.0**60, True), (2.0**60 + 256, False), (2.0**60 - 128, False)):
        answer = reachable(np.array([outcome]), 2.0**60, 1.0, float_type=np.float64, uniform_bits=52)
        assert answer.tolist() == [expected]


@pytest.mark.parametrize("float_type", [np.float64, np.float32])
def test_outcomes_of_any_member_can_be_judged(float_type: Any) -> None:
    event: Any = least_significant_bits(float_type=float_type).event
    assert event(np.arange(-5, 5)).shape == (10,)  # int64, of a grid of whole numbers
    assert event(range(-5, 5)).shape == (10,)
    assert event(np.arange(-64, 64, 1 / 16)).shape == (2048,)
    assert event(np.zeros((7, 3))).shape == (7,)
    assert event([]).shape == (0,)
    odd = [Refused("ValueError: no"), math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, -0.0, (1.0, 2.0), 1.0]
    assert event(odd).tolist() == [False] * 8 + [True, True]
    if float_type is np.float32:
        assert event(np.array([1.0, 1 + 2.0**-30])).tolist() == [True, False]
