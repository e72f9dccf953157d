"""Numpy's generators: models hold against numpy for equal uniforms, and code that draws from them has its law."""

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import norm

from subnormal.audit.check.law.search import follows
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.draws import numpy_draws
from subnormal.audit.laws.draws.numpy_draws import MODELS, Draws
from subnormal.audit.laws.floats import one_world_only
from subnormal.audit.laws.followed import follow, law
from subnormal.audit.laws.path import NEAR, NotFollowedError
from subnormal.audit.model import Verdict
from subnormal.audit.values.outcomes import as_outcome
from subnormal.mechanisms.privacy import Claim
from tests.audit.laws import samplers

RNG = np.random.default_rng(1)
OLD = np.random.RandomState(1)
ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "laplace": [(), (0.3, 1e-3), (-7.0, 1e12), ([0.0, 1.0], [1.0, 2.0])],
    "gumbel": [(), (3.0, 0.1)],
    "logistic": [(), (3.0, 0.1)],
    "exponential": [(), (0.25,)],
    "standard_exponential": [()],
    "uniform": [(), (-3.0, 0.1)],
    "random": [()],
    "random_sample": [()],
    "rand": [(), (2,)],
    "geometric": [(1.0,), (0.9,), (0.34,), (0.33,), (1e-3,)],
    "binomial": [(0, 0.5), (1, 0.5), (1, 0.75), (40, 0.5), (200, 0.1), (3, 1.0)],
}


@pytest.mark.parametrize("kind", [np.random.Generator, np.random.RandomState])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_equal_uniforms_lead_to_the_numbers_of_numpy(name: str, kind: Any) -> None:
    assert set(ARGUMENTS) == set(MODELS)
    for arguments in ARGUMENTS[name] if kind in MODELS[name].kinds and hasattr(kind, name) else ():
        one, other = (kind(np.random.MT19937(5)) for _ in range(2))
        draws = Draws(getattr(other, "random_sample", other.random), len, len, _refused, len)  # type: ignore[arg-type]
        if kind not in MODELS[name].kinds and not (name == "geometric" and arguments[0] > 1 / 3):
            with pytest.raises(NotFollowedError):
                draws.drawn(kind, name, arguments, {})
            continue
        for _ in range(500):
            drawn = draws.drawn(kind, name, arguments, {})
            expected = getattr(one, name)(*arguments)
            assert np.array_equal(drawn, expected)
            assert type(drawn) is type(expected)


def _refused(why: str) -> None:
    raise NotFollowedError(why)


UNIFORM: dict[str, tuple[Callable[[Any], Any], int]] = {
    "integers": (lambda data: RNG.integers(6), 6),
    "integers from a number on": (lambda data: RNG.integers(2, high=5, endpoint=True), 4),
    "an array of integers": (lambda data: RNG.integers(3, size=2), 9),
    "old integers": (lambda data: np.random.randint(2, 7), 5),
    "choice of a number": (lambda data: RNG.choice(5), 5),
    "choices of texts": (lambda data: RNG.choice(["a", "b", "c"], size=2), 9),
    "choice of rows": (lambda data: OLD.choice(4), 4),
    "permutation": (lambda data: RNG.permutation(3), 6),
    "permutation of values": (lambda data: np.random.permutation([5, 6, 7]), 6),
    "shuffle": (lambda data: _shuffled([1, 2, 3, 4]), 24),
    "shuffle of an array": (lambda data: _shuffled(np.arange(3)), 6),
    "sign": (lambda data: RNG.choice([-1.0, 1.0]), 2),
    "a new generator": (lambda data: np.random.default_rng().integers(3), 3),
}


def _shuffled(values: Any) -> Any:
    RNG.shuffle(values)
    return values


@pytest.mark.parametrize("name", UNIFORM)
def test_uniform_outcomes_are_equally_likely(name: str) -> None:
    function, outcomes = UNIFORM[name]
    found = law(function, None)
    assert [found.probability(atom) for atom in found.law.atoms] == [(Fraction(1, outcomes),) * 2] * outcomes
    assert set(found.law.atoms) == {law(lambda data: function(data), None).law.atoms[k] for k in range(outcomes)}
    assert Counter(map(repr, found.law.atoms)).most_common(1)[0][1] == 1


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25 - 1e-8]])  # numpy divides by their sum
def test_weights_of_a_choice_count_the_uniforms_of_each(weights: list[float]) -> None:
    ends = np.cumsum(weights) / np.cumsum(weights)[-1]
    counts = np.diff([0, *(math.ceil(Fraction(float(end)) * 2**53) for end in ends)])
    found = law(lambda data: str(RNG.choice(["a", "b", "c"], p=weights)), None)
    assert [found.probability(one)[0] * 2**53 for one in "abc"] == counts.tolist()


def test_rounded_laplace_noise_is_that_of_the_textbook() -> None:
    for function in (
        lambda data: round(RNG.laplace(1.0, 2.0)),
        lambda data: int(np.rint(1.0 + np.random.laplace(scale=2.0))),
        lambda data: int((np.array([1.0]) + RNG.laplace(scale=2.0, size=1)).round()[0]),
        lambda data: int(np.rint(np.array([value + RNG.laplace(scale=2.0) for value in (1.0,)]))[0]),
    ):
        found = law(function, None, rest=1e-20)
        for value, p in ((1, 1 - math.exp(-0.25)), (3, (math.exp(-0.75) - math.exp(-1.25)) / 2)):
            low, high = found.probability(value)
            assert low - Fraction(1, 10**14) <= p <= high + Fraction(1, 10**14)
            assert high - low <= found.rest <= Fraction(1, 10**20)


def algorithm_1(queries: list[int]) -> tuple[bool, ...]:
    rng, answers = np.random.default_rng(), []
    threshold = rng.laplace(scale=2.0)
    for query in queries:
        answers.append(bool(query + rng.laplace(scale=4.0) >= threshold))
        if answers[-1]:
            break
    return tuple(answers)


def algorithm_5(queries: list[int]) -> Any:
    return np.asarray(queries) > np.random.laplace(scale=2.0)


def test_sparse_vectors_are_decided() -> None:
    assert decide(algorithm_1, [0, 0, 1], [1, 1, 0], Claim(1.0, 1e-9), seconds=60.0).verdict is Verdict.HOLDS
    assert decide(algorithm_5, [0, 1], [1, 0], Claim(1.0, 1e-9), seconds=60.0).verdict is Verdict.VIOLATED


def test_a_noisy_maximum_of_an_array_has_the_exponential_mechanism() -> None:
    found = law(lambda scores: int(np.argmax(np.array(scores) + RNG.gumbel(size=2))), [0, 1], seconds=60.0, width=1e-3)
    low, high = found.probability(1)
    assert low <= math.e / (1 + math.e) <= high
    assert high - low < 1e-3


@pytest.mark.parametrize(
    "noisy",
    [lambda x: x + RNG.laplace(), lambda x: np.random.laplace(x), lambda x: (np.array([x]) + RNG.laplace(size=1))[0]],
)
def test_a_float_of_one_world_alone_is_found(noisy: Callable[[float], float]) -> None:
    found = one_world_only(noisy, 0.0, 1.0, seconds=20.0)
    assert found is not None
    uniform = found.numbers[-1] * 2.0**-53
    noise = math.log(2 * uniform) if uniform < 0.5 else -math.log(2.0 - uniform - uniform)
    assert [0.0, 1.0][found.world] + noise == found.outcome
    assert found.loss > 100


class Holder:
    """A class that keeps its generator."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(3)

    def respond(self, answer: int) -> int:
        return answer if self.rng.random() < 0.75 else 1 - answer


def test_a_generator_of_an_object_is_followed_and_does_not_move() -> None:
    holder = Holder()
    rng, before = holder.rng, holder.rng.bit_generator.state
    assert law(holder.respond, 1).probability(1) == (Fraction(3, 4),) * 2
    assert holder.rng is rng
    assert rng.bit_generator.state == before


ZIGGURATS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda data: round(RNG.normal(0.3, 1.7)),
    "standard normals": lambda data: np.floor(RNG.standard_normal(2)).astype(int).tolist(),
    "exponential": lambda data: int(RNG.exponential(2.5)),
    "standard exponential": lambda data: round(RNG.standard_exponential()),
    "geometric": lambda data: RNG.geometric(0.2) // 4,
    "a sum": lambda data: round(RNG.normal() - RNG.exponential()),
    "old normals": lambda data: np.rint(np.random.normal(0.3, 1.7, 2)).astype(int).tolist(),
    "old standard normals": lambda data: (round(np.random.standard_normal()), round(np.random.randn())),
}


@pytest.mark.parametrize("name", ZIGGURATS)
def test_draws_of_numpy_follow_the_laws_of_its_ziggurats(name: str) -> None:
    """Drops a right law with probability 1e-9."""
    found = law(ZIGGURATS[name], None, seconds=60.0, rest=1e-4, width=1e-3)
    outcomes = [as_outcome(ZIGGURATS[name](None)) for _ in range(20_000)]
    assert follows(outcomes, found.law, 1e-9)
    assert not follows([0] * 20_000, found.law, 1e-9)


def test_what_a_ziggurat_leaves_open_counts_against_every_bound() -> None:
    found = law(lambda data: round(RNG.normal(0.0, 2.0)), None)
    for value in range(-10, 11):
        low, high = found.probability(value)
        truth = norm.cdf((value + 0.5) / 2) - norm.cdf((value - 0.5) / 2)
        assert truth - 3 * NEAR <= low <= truth - NEAR
        assert truth + 3 * NEAR <= high <= truth + 5 * NEAR
    assert found.probability(1000)[1] == found.rest >= 2 * NEAR
    low, high = law(lambda data: (RNG.normal() > 0, RNG.exponential() > math.log(2)), None).probability((True, True))
    assert low <= Fraction(1, 4) - 3 * NEAR
    assert high >= Fraction(1, 4) + 7 * NEAR
    with pytest.raises(NotFollowedError, match="floats of numbers from a ziggurat"):
        one_world_only(lambda x: RNG.normal(x), 0.0, 1.0)


def test_rounded_gaussian_noise_is_decided() -> None:
    def noisy(count: int) -> int:
        return round(count + RNG.normal(scale=2.0))

    delta = norm.cdf(-1.75) - math.e * norm.cdf(-2.25)  # Balle, Wang 2018, Theorem 8; its event is a set of integers
    assert decide(noisy, 0, 1, Claim(1.0, delta + 1e-9), seconds=30.0).verdict is Verdict.HOLDS
    assert decide(noisy, 0, 1, Claim(1.0, delta - 1e-9), seconds=30.0).verdict is Verdict.VIOLATED


NOT_FOLLOWED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an old gamma": (lambda data: np.random.gamma(2.0) < 1, r"RandomState\.gamma is not known"),
    "a gamma": (lambda data: RNG.gamma(2.0) < 1, r"Generator\.gamma is not known"),
    "a large mean": (lambda data: RNG.binomial(1000, 0.4), r"Generator\.binomial is not known"),
    "a large array": (lambda data: RNG.laplace(size=10**6)[0] < 0, "1,000,000 random numbers"),
    "short floats": (lambda data: RNG.random(size=2, dtype=np.float32) < 0.5, "with these arguments"),
    "no replacement": (lambda data: RNG.choice(4, size=2, replace=False), "without replacement"),
    "a random scale": (lambda data: RNG.laplace(scale=RNG.random()) < 0, "with random arguments"),
    "the bits": (lambda data: RNG.bit_generator.random_raw() < 5, "bit_generator is not known"),
    "eight numbers": (lambda data: RNG.laplace(size=8).sum() < 0, "a sum of 8 random numbers"),
    "a product of matrices": (lambda data: RNG.random(2) @ np.ones(2) < 1, r"numpy\.matmul"),
    "a sorted array": (lambda data: np.sort(RNG.random(2))[0] < 0.5, r"numpy\.sort"),
    "a float of 32 bits": (lambda data: RNG.random() + np.float32(0.1) < 0.5, "types float, float32"),
    "an array of 32 bits": (lambda data: RNG.random(1) + np.ones(1, np.float32) < 0.5, "numbers of type float32"),
    "a place in an ordinary array": (lambda data: np.put(np.zeros(2), 0, RNG.random()), "all digits"),
}


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_refused_with_its_line(name: str) -> None:
    function, why = NOT_FOLLOWED[name]
    with pytest.raises(NotFollowedError, match=rf"test_numpy_draws\.py:\d+: .*{why}"):
        law(function, None)


def test_a_model_that_numpy_does_not_draw_by_is_not_used() -> None:
    other = numpy_draws.Model(lambda uniform, *_: uniform(), MODELS["laplace"].parameters, (1.5, 2.5))
    with patch.dict(MODELS, laplace=other), pytest.raises(NotFollowedError, match="laplace is not known"):
        law(lambda data: RNG.laplace() < 0, None)


def test_bad_arguments_are_the_error_of_numpy() -> None:
    found = law(lambda data: RNG.laplace(scale=-1.0) < 0, None)
    assert "scale < 0" in str(found.law.atoms[0])


def test_a_geometric_number_is_one_path_until_its_value_is_needed() -> None:
    found = law(lambda data: bool(RNG.geometric(0.4) > RNG.geometric(0.5)), None, seconds=60.0)
    low, high = found.probability(True)
    assert low <= 3 / 7 <= high
    assert high - low < 1e-4
    assert found.paths < 10
    counted = law(lambda data: int(np.random.geometric(0.5)), None)  # the uniforms with 1 − 2^−k < u ≤ 1 − 2^−(k + 1)
    assert [counted.probability(k) for k in (1, 2, 3)] == [
        (Fraction(2**52 + 1, 2**53),) * 2, (Fraction(1, 4),) * 2, (Fraction(1, 8),) * 2
    ]  # fmt: skip


def test_one_choice_needs_no_replacement() -> None:
    found = law(lambda data: int(np.random.choice(range(3), 1, False, [0.5, 0.25, 0.25])[0]), None)
    assert [found.probability(k)[0] for k in range(3)] == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]


def test_the_generator_behind_the_old_functions_is_followed() -> None:
    found = law(lambda data: bool(np.random.mtrand._rand.random_sample() < 0.25), None)
    assert found.probability(True) == (Fraction(1, 4),) * 2


def test_a_search_that_never_ends_stays_unknown() -> None:
    """numpy adds up probabilities of which the sum ends below some uniforms."""
    found = law(lambda data: RNG.geometric(0.38) > 0, None, seconds=60.0)
    assert found.probability(True)[0] == 1 - found.rest
    assert 0 < found.rest <= Fraction(1, 2**50)
    assert found.seconds < 30


def test_random_and_numpy_are_followed_together() -> None:
    found = law(lambda data: (random.random() < 0.5, bool(np.random.random() < 0.25)), None)
    assert found.probability((True, True)) == (Fraction(1, 8),) * 2
    assert samplers.geometric(0.0) == 0


@pytest.mark.parametrize("first", [RNG, OLD])
def test_generators_of_two_kinds_draw_alike_calls_each_in_its_way(first: Any) -> None:
    second = OLD if first is RNG else RNG
    ends, _, _ = follow(lambda _: [one.exponential(2.0) < 1.0 for one in (first, second)], None, 30.0, 0.0)
    assert [len(end.path.near) for end in ends if not end.path.stopped] == [1] * len(
        ends
    )  # the ziggurat of one of them
