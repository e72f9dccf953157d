"""Losses add up only where noises are independent: two draws that begin at one state of a generator are one noise."""

import copy
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from diffprivlib import mechanisms
from hypothesis import strategies as st
from scipy import stats

from subnormal import Claim, Gdp
from subnormal.audit.check.function import Function, isolated
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.recorder import Recorder
from subnormal.audit.check.replay.unrecorded import Watch
from subnormal.audit.check.result import ModelledEvidence
from subnormal.audit.check.search import Found
from subnormal.audit.check.stages.replaying import Replaying
from subnormal.audit.check.stages.state import Check
from subnormal.audit.check.words import evidence_words
from subnormal.mechanisms.curves import AnyClaim

pytestmark = pytest.mark.usefixtures("own_clock")

ALPHA = 1e-6  # of runs, that judge none of the functions below
NONCES = itertools.count(1)
RNG, LEGACY, PYTHON = np.random.default_rng(1), np.random.RandomState(2), random.Random(3)


def seeded() -> Callable[[], Any]:
    """Return what makes generators that all begin at one state."""
    seed = next(NONCES)
    return lambda: np.random.default_rng(seed)


def same_query(x: int) -> list[float]:
    made = seeded()
    return [round(x + made().laplace(), 2) for _ in range(2)]


def with_another_factor(x: int) -> list[float]:
    made = seeded()
    return [round(x + made().laplace(), 2), round(x - 2 * made().laplace(), 2)]


def of_two_kinds(x: int) -> list[float]:
    made = seeded()
    return [round(x + made().laplace(), 2), round(x + made().normal(), 2)]


def with_a_common_prefix(x: int) -> list[float]:
    made = seeded()
    return [round(float(x + one), 2) for size in (2, 3) for one in made().laplace(size=size)]


def of_a_copy(x: int) -> list[float]:
    other = copy.deepcopy(PYTHON)
    return [round(x + rng.gauss(), 2) for rng in (PYTHON, other)]


def of_python(x: int) -> list[float]:
    seed = next(NONCES)
    return [round(x + 3 * random.Random(f"{seed}:count").gauss(0.0, 1.0), 2) for _ in range(6)]


def of_python_in_two_ways(x: int) -> list[float]:
    seed = next(NONCES)
    return [round(x + random.Random(seed).gauss(), 2), round(x + random.Random(seed).normalvariate(), 2)]


def of_scipy(x: int) -> list[float]:
    seed = next(NONCES)
    return [round(float(x + stats.laplace.rvs(random_state=seed)), 2) for _ in range(2)]


def of_scipy_after_a_seed(x: int) -> list[float]:
    drawn = []
    for _ in range(2):
        np.random.seed(8)
        drawn.append(round(float(x + stats.laplace.rvs()), 2))
    return drawn


def of_scipy_and_a_generator(x: int) -> list[float]:
    made = seeded()
    return [round(float(x + stats.laplace.rvs(random_state=made())), 2), round(x + made().normal(), 2)]


def of_diffprivlib(x: int) -> list[int]:
    seed = next(NONCES)
    return [mechanisms.Geometric(epsilon=1.0, random_state=seed).randomise(x) for _ in range(2)]


DEPENDENT: list[Callable[[int], Any]] = [
    same_query,
    with_another_factor,
    of_two_kinds,
    with_a_common_prefix,
    of_a_copy,
    of_python,
    of_python_in_two_ways,
    of_scipy,
    of_scipy_after_a_seed,
    of_scipy_and_a_generator,
    of_diffprivlib,
]


def of_one_generator(x: int) -> list[float]:
    """Of which no number is drawn for one of one, nor for none."""
    return [
        x + RNG.laplace(),
        x + RNG.normal() + RNG.integers(1) + RNG.integers(1),
        *(x + RNG.laplace(size=0)),
        *(x + RNG.laplace(size=2)),
    ]


def of_one_older_generator(x: int) -> list[float]:
    """Gaussian noise in pairs: of two numbers one is kept, and the bits do not move for the second."""
    return [x + LEGACY.normal() for _ in range(4)] + [x + np.random.normal() for _ in range(4)]


def of_pythons_generator(x: int) -> list[float]:
    return [x + PYTHON.gauss() for _ in range(4)] + [x + random.gauss(0.0, 1.0) for _ in range(4)]


def of_new_generators(x: int) -> list[float]:
    each = np.random.default_rng(), np.random.default_rng(next(NONCES)), np.random.default_rng(next(NONCES))
    return [*(x + rng.laplace() for rng in each), x + random.SystemRandom().gauss(), x + random.SystemRandom().gauss()]


def of_libraries(x: int) -> list[float]:
    geometric = mechanisms.Geometric(epsilon=1.0)
    seeded = (stats.laplace.rvs(random_state=next(NONCES)) for _ in range(2))
    return [
        *(x + one for one in seeded),
        x + stats.laplace.rvs(),
        x + stats.norm.rvs(),
        geometric.randomise(x),
        geometric.randomise(x),
    ]


INDEPENDENT: list[Callable[[int], Any]] = [
    of_one_generator,
    of_one_older_generator,
    of_pythons_generator,
    of_new_generators,
    of_libraries,
]


def watched(function: Callable[[int], Any], runs: int = 2) -> Watch:
    recorder = Recorder(Function(function, "function"))
    with intercepted(function, recorder.intercept):
        return recorder.watched((0, 1), runs)


@pytest.mark.parametrize("function", DEPENDENT)
def test_draws_that_begin_at_one_state_are_seen(function: Callable[[int], Any]) -> None:
    assert watched(function).repeats


@pytest.mark.parametrize("function", INDEPENDENT)
def test_draws_that_begin_at_states_of_their_own_are_no_repeats(function: Callable[[int], Any]) -> None:
    assert not watched(function).repeats


def test_a_state_that_another_run_began_at_is_no_repeat() -> None:
    assert not watched(lambda x: x + np.random.default_rng(7).laplace()).repeats


def begun(function: Callable[[int], Any], claim: AnyClaim) -> Check:
    audited = Function(function, "function")
    return Check(audited, st.just((0, 1)), lambda *_: claim, claim, 60.0, None, ALPHA, 1, lambda _: None)


@pytest.mark.parametrize("claim", [Claim(0.999), Claim(1.0)])
def test_noise_that_is_drawn_again_convicts_as_one(claim: Claim) -> None:
    """The two sums are equal, so that the second says nothing: the loss is |1 − 0|/1 = 1, and not 2."""
    check = begun(same_query, claim)
    with isolated(1):
        result, _ = Replaying(check).search(0.5)
    assert check.notes == ["draws again from a state of a generator that it drew from before: no two losses are added"]
    assert (result is None) is (claim.epsilon == 1)
    if result is not None:
        modelled = result.evidence["modelled"]
        assert isinstance(modelled, ModelledEvidence)
        assert (len(modelled.losses), modelled.epsilon) == (1, pytest.approx(1.0, abs=1e-5))
        assert "independently" not in evidence_words(modelled)


def test_gaussian_noise_that_is_drawn_again_is_no_more_than_one() -> None:
    """Six equal sums of scale 3 are one: μ = 1/3. As six they would have μ = √6/3 = 0.82."""
    with isolated(1):
        assert Replaying(begun(of_python, Gdp(0.34))).search(0.5)[0] is None


def test_the_evidence_of_two_losses_states_that_noises_are_independent() -> None:
    with isolated(1):
        result, _ = Replaying(begun(lambda x: [round(x + RNG.laplace(), 2) for _ in range(2)], Claim(1.9))).search(0.5)
    assert result is not None
    modelled = result.evidence["modelled"]
    assert isinstance(modelled, ModelledEvidence)
    assert "if primitives draw what their names say, independently of each other, and" in evidence_words(modelled)


def test_the_pair_that_is_shown_is_watched_for_repeats_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pair that convicts draws anew. The one that is shown draws again, and its loss is 1."""

    def search(self: Check, stage: str, score: Callable[[Any], float], *_: float, **options: int) -> Found:
        scores = [(score(pair), pair) for pair in ((10, 13), (0, 1))]
        assert [score for score, _ in scores] == [math.inf, math.inf]
        return Found(2, scores[1:], (0, 1))

    monkeypatch.setattr(Check, "search", search)

    def function(x: int) -> list[float]:
        return same_query(x) if x < 10 else [x + np.random.default_rng(next(NONCES)).laplace() for _ in range(2)]

    check = begun(function, Claim(1.2))
    with isolated(1):
        result, hints = Replaying(check).search(0.5)
    assert (result, hints) == (None, [(0, 1), (0, 1)])


def restored(x: int) -> list[float]:
    state = RNG.bit_generator.state
    one = x + RNG.laplace()
    RNG.bit_generator.state = state
    return [one, x + RNG.laplace()]


def restored_in_python(x: int) -> list[float]:
    state = random.getstate()
    one = x + random.gauss()
    random.setstate(state)
    return [one, 2 * x + 2 * random.gauss()]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (restored, "numpy.random.PCG64"),
        (restored_in_python, "random.Random"),
        (of_scipy_after_a_seed, "numpy.random.MT19937"),
    ],
)
def test_a_generator_that_has_a_name_is_not_said_to_have_none(function: Callable[[int], Any], kind: str) -> None:
    seen = watched(function)
    assert seen.is_unrecorded
    assert seen.notes() == [
        f"seeds or restores a {kind} that it draws from, or draws from it unrecorded, too",
        "draws again from a state of a generator that it drew from before: no two losses are added",
    ]
