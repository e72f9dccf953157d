"""A replay convicts by the losses that an observer of the outcome sees, above each kind of claim and not at it."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from subnormal import Claim, Gdp, Renyi, Zcdp
from subnormal.audit.check.words import evidence_words
from tests.support.replays import PAIR, Pair, accused, laplace, replays, shown

RNG = np.random.default_rng(5)


def single(x: list[float]) -> float:
    return sum(x) + laplace(0.5)


def in_numpy(x: list[float]) -> float:
    return float(np.clip(x, 0, 1).sum() + RNG.laplace(0.0, 0.5))


def with_a_location(x: list[float]) -> float:
    return RNG.laplace(sum(x), 0.5)


def subtracted(x: list[float]) -> float:
    return sum(x) - 0.5 * laplace()


def vector(x: list[float]) -> list[float]:
    return list((np.array(x) + RNG.laplace(0.0, 0.5, 3)) / 2)


def parts_of_a_row(x: list[float]) -> dict[str, float]:
    noise = RNG.laplace(0.0, 0.5, size=3)
    return {str(place): one + noise[place] for place, one in enumerate(x)}


@pytest.mark.parametrize("function", [single, in_numpy, with_a_location, subtracted, vector, parts_of_a_row])
def test_a_loss_that_an_observer_sees_convicts_above_the_claim_and_not_at_it(function: Callable[[Any], Any]) -> None:
    assert accused(function, Claim(1.999))
    assert not accused(function, Claim(2.0))
    assert not accused(function, Claim(0.0, 1.0))


def test_a_loss_a_little_above_the_claim_is_seen_in_the_words() -> None:
    evidence = shown(lambda x: sum(x) + laplace(1 / 1.00001), Claim(1.0)).evidence
    assert evidence is not None
    assert "epsilon is at least 1.00001, delta at least 3.5e-06, against epsilon = 1 and" in evidence_words(evidence)


def both(x: list[float]) -> list[float]:
    return [sum(x) + laplace(), x[2] + laplace()]


def test_the_losses_of_two_releases_add() -> None:
    assert accused(both, Claim(1.999))
    assert not accused(both, Claim(2.0))


def test_the_losses_of_forty_releases_add() -> None:
    def function(x: list[float]) -> list[float]:
        return list(sum(x) + RNG.laplace(0.0, 1.0, 45))

    assert shown(function, Claim(44.9)).evidence is not None
    assert shown(function, Claim(45.0)).evidence is None


def gaussian(x: list[float]) -> list[float]:
    return [sum(x) + random.gauss(0.0, 2.0), x[2] + random.gauss(0.0, 2.0)]


MU = math.sqrt(0.5)  # of both releases


@pytest.mark.parametrize(
    ("claim", "broken"),
    [
        (Gdp(MU), False),
        (Gdp(0.99 * MU), True),
        (Zcdp(MU**2 / 2), False),
        (Zcdp(0.8 * MU**2 / 2), True),
        (Renyi(2.0, MU**2), False),
        (Renyi(2.0, 0.5 * MU**2), True),
        (Claim(1.0, Gdp(MU).delta(1.0)), False),
        (Claim(1.0, 0.97 * Gdp(MU).delta(1.0)), True),
        (Claim(20.0), True),
    ],
)
def test_gaussian_losses_convict_above_each_kind_of_claim_and_not_at_it(claim: Any, broken: bool) -> None:
    assert accused(gaussian, claim) == broken


@pytest.mark.parametrize(("delta", "broken"), [(0.9, True), (1.01, False)])
def test_one_laplace_release_is_judged_by_its_own_curve(delta: float, broken: bool) -> None:
    """δ(ε) = 1 − e^((ε − l)/2), attained between the two locations."""
    assert accused(single, Claim(1.0, -delta * math.expm1((1.0 - 2.0) / 2))) == broken


def test_what_rounding_makes_of_a_location_is_no_loss() -> None:
    def function(x: list[float]) -> float:
        return sum(one / sum(x) for one in x) + random.gauss(0.0, 1.0)  # 1, up to rounding

    assert not accused(function, Claim(1.0), ([0.1] * 3, [0.1, 0.1, 0.7]))
    assert not accused(function, Claim(1.0), ([0.1] * 10, [0.3] * 7))
    pair = [0.1] * 6, [0.3] * 5
    sums = [sum(one / sum(x) for one in x) for x in pair]
    assert sums[0] != sums[1]
    assert shown(function, pair=pair).loss == 0


@pytest.mark.parametrize(("moved", "scale"), [(1.0, math.inf), (5e-324, 1e308), (1e-300, 1e10)])
@pytest.mark.parametrize("draw", [random.gauss, np.random.laplace])
def test_noise_that_hides_all_of_what_moves_has_no_loss(
    moved: float, scale: float, draw: Callable[[float, float], float]
) -> None:
    def both(records: list[float]) -> tuple[float, float]:
        return draw(records[0] * moved, scale), draw(records[0], 1.0)

    for claim, broken in ((Claim(0.5), math.isfinite(scale)), (Claim(1.5, 0.1), False)):
        seen = shown(both, claim, ([0.0], [1.0]))
        assert seen.loss == pytest.approx(1.0)
        assert (seen.evidence is not None) is broken


def test_noise_whose_scale_depends_on_the_data_is_a_note_and_each_world_has_its_own() -> None:
    def function(x: list[float]) -> float:
        return sum(x) + laplace(1.0 + x[2])

    assert accused(function, Claim(0.05, 1e-6))
    result = shown(function)
    assert "scale" in result.notes[0]
    losses = [shown(function, pair=one).loss for one in (PAIR, PAIR[::-1])]
    assert losses == pytest.approx([1 / 2, 1 / 2])  # over the larger scale


@pytest.mark.parametrize("pair", [PAIR, PAIR[::-1]])
def test_noise_that_is_used_more_often_for_one_input_is_a_note(pair: Pair) -> None:
    def function(x: list[float]) -> list[float]:
        noise = laplace()
        return [noise + 1, noise + 2] if x[2] else [noise + 1]

    result = shown(function, pair=pair)
    assert result.notes[0].startswith("the use of noise depends on the data: numpy.random.laplace at ")
    assert result.evidence is None


def test_an_infinite_loss_without_evidence_is_a_finite_score() -> None:
    """Data that are added to nothing times noise, and hidden by other noise."""

    def function(x: list[float]) -> float:
        return sum(x) + 0.0 * laplace() + laplace()

    assert math.isfinite(shown(function).loss)
    assert not accused(function)
    assert not accused(function, pair=([math.inf], [1.0]))
    assert not accused(function, pair=([math.nan], [1.0]))


@pytest.mark.parametrize(
    ("function", "pair", "loss"),
    [
        (lambda x: sum(x) + laplace(0.0), PAIR, 1e9),
        (lambda x: sum(x) + laplace(), ([math.inf], [1.0]), 1e9),
        (lambda x: math.inf * (1 + sum(x)) + laplace(), PAIR, 0.0),
        (lambda x: sum(x) + laplace(2.0), PAIR[::-1], 0.5),
    ],
)
def test_the_loss_of_a_pair_is_the_distance_over_the_scale_and_a_finite_score(
    function: Callable[[Any], Any], pair: Pair, loss: float
) -> None:
    assert shown(function, pair=pair).loss == pytest.approx(loss)


def of_scipy(location: float) -> Any:
    return stats.laplace.rvs(location, 0.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float((sum(x) + RNG.laplace(0.0, 0.5, 1)[0]).round(3)),
        lambda x: float((sum(x) + of_scipy(0.0)).round(3)),
        lambda x: round(sum(x) + RNG.laplace(0.0, 0.5, 1)[0].item(), 3),
        lambda x: [float((one + noise).round(3)) for one, noise in zip(x, RNG.laplace(0.0, 0.5, 3), strict=True)],
        lambda x: float(of_scipy(sum(x)).clip(-9, 9).round(3)),
    ],
)
def test_numbers_of_numpy_are_rounded_by_their_own_methods(function: Callable[[Any], Any]) -> None:
    """One sum moves by 1, over a scale of 1/2: the loss is 2."""
    assert accused(function, Claim(1.99), seeds=range(5))
    assert not accused(function, Claim(2.0), seeds=range(5))


def test_a_function_that_raises_only_where_it_is_recorded_is_a_note() -> None:
    def of_numpy_alone(x: list[float]) -> float:
        noise = RNG.laplace(0.0, 0.5, 1)[0]
        if type(noise) is not np.float64:
            raise ValueError("what is this?")
        return sum(x) + noise

    why = "raises where its noise is recorded, and not otherwise, so that no replay tells anything: ValueError"
    assert shown(of_numpy_alone).notes[0].startswith(why)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_function_that_raises_by_chance_is_no_note(share: float) -> None:
    """False alarms: of 10 runs, at most 10·share^17·(1 − share)^16, below ALPHA = 1e-6."""

    def function(x: list[float]) -> float:
        noisy = sum(x) + laplace()
        if random.random() < share:
            raise ValueError
        return noisy

    for seen in replays(function, Claim(1.0), PAIR, range(10)):
        assert seen is None or not any("recorded" in note for note in seen.notes)


def test_a_function_that_raises_once_is_no_note() -> None:
    calls: list[Any] = []

    def function(x: list[float]) -> float:
        calls.append(x)
        noisy = sum(x) + laplace()
        if len(calls) == 1:
            raise ValueError
        return noisy

    assert replays(function, Claim(1.0), PAIR, [1]) == [None]
    assert len(calls) > 17  # all others were looked at


@pytest.mark.parametrize(("pair", "scales"), [((1.0, 0.0), "4 in, 1 out"), ((0.0, 1.0), "1 in, 4 out")])
def test_the_scale_of_each_world_is_said(pair: Pair, scales: str) -> None:
    seen = shown(lambda x: round(10 * x + laplace(1 + 3 * x), 2), Claim(1.0), pair)
    assert seen.evidence is not None
    assert f"numpy.random.laplace of the scales {scales} is added to " in evidence_words(seen.evidence)
    same = shown(lambda x: round(10 * x + laplace(4.0), 2), Claim(1.0), pair)
    assert same.evidence is not None
    assert "numpy.random.laplace of scale 4 is added to " in evidence_words(same.evidence)
