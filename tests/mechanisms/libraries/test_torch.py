"""PyTorch's normals of few bits: their law, by PyTorch's own operations, is that of its draws to the last bit."""

from typing import Any

import numpy as np
import pytest

from subnormal.attacks.additive.coarse_noise import coarse_noise
from subnormal.mechanisms.additive.family import GaussianParameters
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.families import installed, member
from subnormal.mechanisms.libraries import torch as libraries_torch
from subnormal.mechanisms.samplers.float_normals import (
    BOX_MULLER_BFLOAT16,
    BOX_MULLER_FLOAT16,
    DIGITS,
    FloatNormal,
    FloatType,
    rounded,
)
from tests.support.walks import law_of

OURS: dict[FloatType, FloatNormal] = {"bfloat16": BOX_MULLER_BFLOAT16, "float16": BOX_MULLER_FLOAT16}
NAMES = [f"torch-normal-{float_type}" for float_type in OURS]
DRAWN = 1 << 20
SEED = 7
SIGMA = 1.5
PARAMETERS = GaussianParameters(sigma=SIGMA, delta=1e-6)

NOT_ITS_OWN = "no torch that makes its bfloat16 normals in bfloat16 is installed: pip install -e '.[torch]'"
in_its_own_type = pytest.mark.skipif(
    installed(libraries_torch.PACKAGE) is None or not libraries_torch.enumerable("bfloat16"), reason=NOT_ITS_OWN
)


def words_of_seed(seed: int, count: int) -> Any:
    """Return the words of MT19937 for a seed, by numpy."""
    return np.random.RandomState(seed).randint(0, 1 << 32, count, dtype=np.uint32)


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """A million draws are the enumerated values of the words of their seed; the values are those of our own Box-Muller,
    which makes −0 where PyTorch adds a mean of 0. What is released is their sum with the data."""
    import torch

    float_type: Any = mechanism.name.rpartition("-")[2]
    if not libraries_torch.enumerable(float_type):
        pytest.skip(NOT_ITS_OWN)
    ours, digits = OURS[float_type], DIGITS[float_type]
    every = libraries_torch.every_normal(float_type)
    assert np.array_equal(every, ours.of_words(np.arange(1 << ours.bits, dtype=np.uint64), float_type)[:, 0])
    pairs = words_of_seed(SEED, 2 * DRAWN).reshape(-1, 2, 8) & ((1 << digits) - 1)
    drawn = libraries_torch.normals(torch.Generator().manual_seed(SEED), 2 * DRAWN, float_type)[:, 0]
    assert every[pairs[:, 0] << digits | pairs[:, 1]].tobytes() == drawn.tobytes()
    released = np.asarray(mechanism.sample(3.0, PARAMETERS, seeded_bits(1), 100))
    generator = torch.Generator().manual_seed(seeded_bits(1).take(32))
    noise = libraries_torch.normals(generator, 208, float_type)[:, 0].reshape(-1)[:100]
    assert released.tobytes() == libraries_torch.noisy(3.0, SIGMA, noise, float_type).tobytes()
    law = law_of(mechanism, 3.0, PARAMETERS)
    atoms, counts = np.unique(libraries_torch.noisy(3.0, SIGMA, every, float_type), return_counts=True)
    assert law.denominator == len(every)
    assert np.asarray(law.atoms).tobytes() == atoms.tobytes()
    assert np.array_equal(np.repeat(np.asarray(law.low), law.counts()), counts)


def test_a_generators_words_are_found_from_its_state() -> None:
    """By numpy's MT19937: when all words of its state have been handed out, the state is still theirs."""
    source = np.random.MT19937(1)
    source.random_raw(1)  # numpy seeds a state of which only the last word is left
    words = source.random_raw(624).astype(np.uint32)
    state: Any = source.state["state"]
    assert state["pos"] == 624
    assert np.array_equal(libraries_torch.untempered(words), state["key"])


@in_its_own_type
@pytest.mark.parametrize(("float_type", "most"), [("bfloat16", 3.328125), ("float16", 3.904296875)])
def test_the_support_and_what_no_finite_epsilon_explains(float_type: str, most: float) -> None:
    """The range that pytorch/pytorch#166853 reports for bfloat16, by law. What is released has the law of the words."""
    mechanism = member(f"torch-normal-{float_type}")
    atoms = np.asarray(law_of(mechanism, 0.0, GaussianParameters(sigma=1.0, delta=1e-6)).atoms)
    assert (atoms[0], atoms[-1]) == (-most, most)
    attack = coarse_noise(mechanism=mechanism.name)
    law_in, law_out = (law_of(mechanism, world, attack.parameters) for world in attack.worlds())
    beyond = np.isin(np.asarray(law_out.atoms), np.asarray(law_in.atoms), invert=True)
    mass = int(np.repeat(np.asarray(law_out.low), law_out.counts())[beyond].sum()) / law_out.denominator
    assert mass == pytest.approx({"bfloat16": 0.4382, "float16": 0.4329}[float_type], abs=1e-4)


@pytest.mark.skipif(
    installed(libraries_torch.PACKAGE) is None or libraries_torch.enumerable("bfloat16"),
    reason="no torch that makes its bfloat16 normals in float32 is installed: pip install 'torch>=2.12'",
)
@pytest.mark.parametrize("float_type", OURS)
def test_later_versions_round_their_float32_normals_once(float_type: FloatType) -> None:
    """So a short normal depends on 24 bits of each of two words, and not on 8 or 11. It was so in 2.12.1, 2.13.0 and
    2.14.1. Their float32 normals, and those of float64, are the ones of 2.11."""
    words = libraries_torch.PROBE
    of_float32 = libraries_torch.normals_of_words(words, "float32")
    assert np.array_equal(libraries_torch.normals_of_words(words, float_type), rounded(of_float32, float_type))


def test_normals_of_more_bits_have_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a PyTorch that computes in float32, the members take no data."""
    monkeypatch.setattr(libraries_torch, "enumerable", lambda float_type: False)
    mechanism: Any = member("torch-normal-bfloat16") if installed(libraries_torch.PACKAGE) else libraries_torch.BFLOAT16
    assert not mechanism.takes(0.0, PARAMETERS)
    libraries_torch.every_normal.cache_clear()
    with pytest.raises(NoLawError, match="48 bits"):
        law_of(mechanism, 0.25, PARAMETERS)
