"""A replay convicts by losses that an observer of the outcome can see, and by no others.

Every sound mechanism keeps a claim smaller than the losses of its noise, so that one loss too many would convict it.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from subnormal import Claim, Gdp, Renyi, Verdict, Zcdp, check
from subnormal.audit.check.function import Function, isolated, reseed
from subnormal.audit.check.replay import modelled
from subnormal.audit.check.replay.modelled import Replayed, replayed
from subnormal.audit.check.replay.primitives import intercepted
from subnormal.audit.check.replay.readable import hoped_for
from subnormal.audit.check.replay.recorder import Recorder, Release, Run
from subnormal.audit.check.result import ModelledLoss

pytestmark = pytest.mark.usefixtures("own_clock")

RNG = np.random.default_rng(5)
OLDER = np.random.RandomState(6)
SEEDS = range(25)
PAIR = [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]
TINY = Claim(0.05)

Pair = tuple[Any, Any]


def laplace(scale: float = 1.0) -> float:
    return np.random.laplace(0.0, scale)


def laplace_of(scale: float) -> float:
    return -scale * laplace() / -1.0


def seen(function: Callable[[Any], Any], claim: Any, pair: Pair, seeds: Sequence[int]) -> list[Replayed | None]:
    recorder, results = Recorder(Function(function, "function")), []
    with isolated(1), intercepted(function, recorder.intercept):
        for seed in seeds:
            reseed(seed, "test")
            results.append(replayed(recorder, pair, claim))
    return results


def shown(function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR) -> Replayed:
    result = seen(function, claim, pair, [1])[0]
    assert result is not None
    return result


def accused(function: Callable[[Any], Any], claim: Any = TINY, pair: Pair = PAIR) -> bool:
    """Return whether the losses of a pair convict on any of many runs."""
    results = seen(function, claim, pair, SEEDS)
    return any(one is not None and one.evidence is not None and one.evidence.losses for one in results)


def sampled_sum(x: list[float]) -> float:
    return sum(one for one in x if random.random() < 0.9) + laplace()


def sampled_by_noise(x: list[float]) -> float:
    return sum(one for one in x if random.gauss(0.0, 1.0) > -2) + laplace()


def sampled_by_a_release(x: list[float]) -> float:
    kept = [one for one in x if 1 + laplace() > -3]
    return sum(kept) + laplace()


def shuffled_first(x: list[float]) -> float:
    order = list(x)
    random.shuffle(order)
    return order[0] + laplace()


def released_or_noise(x: list[float]) -> float:
    noisy = sum(x) + laplace()
    return noisy if random.random() < 0.99 else laplace(50.0)


def noise_shares(x: list[float]) -> float:
    return sum(x) + laplace() + laplace(20.0)


def sum_of_shares(x: list[float]) -> float:
    return sum(x) + sum([laplace(), laplace(20.0)])


def shares_in_place(x: list[float]) -> float:
    total = np.zeros(2)
    total += np.random.laplace(0.0, 1.0, 2)
    total += sum(x)
    return float(total.sum() + 20 * laplace())


def noise_twice(x: list[float]) -> tuple[float, float]:
    noise = laplace()
    return sum(x) + noise, sum(x) + noise  # one release, written twice


def noisy_maximum(x: list[float]) -> int:
    return int(np.argmax(np.array(x) + RNG.laplace(0.0, 1.0, len(x))))


def noisy_maximum_of_floats(x: list[float]) -> int:
    noisy = [one + laplace() for one in x]
    return noisy.index(max(noisy))


def gumbel_maximum(x: list[float]) -> int:
    return int(np.argmax(np.array(x) + RNG.gumbel(0.0, 1.0, len(x))))


def maximum(x: list[float]) -> float:
    return max(one + laplace() for one in x)


def threshold(x: list[float]) -> bool:
    return sum(x) > 2.5 + laplace()


def sparse_vector(x: list[float]) -> int:
    limit = 2.0 + laplace()
    return next((place for place, one in enumerate(x) if one + laplace() > limit), -1)


def rejected_until_large(x: list[float]) -> float:
    """The tail of Laplace noise is the same from everywhere: perfectly private."""
    while (noisy := sum(x) + laplace()) < 4:
        pass
    return noisy


def clamped_gaussian(x: list[float]) -> float:
    return min(1.0, max(0.0, sum(x) + random.gauss(0.0, 100.0)))


def rounded(x: list[float]) -> float:
    return round((sum(x) + random.gauss(0.0, 100.0)) / 1_000)


def released_if_large(x: list[float]) -> float | None:
    noisy = sum(x) + random.gauss(0.0, 100.0)
    return noisy if 0 < noisy < 1 else None


def data_taken_away_again(x: list[float]) -> float:
    return sum(x) + laplace() - sum(x)


def data_taken_away_from_their_noise(x: list[float]) -> float:
    return sum(x) - np.random.laplace(sum(x), 1.0)


def arrays_taken_away_from_their_noise(x: list[float]) -> list[float]:
    return [float(one) for one in np.array(x) - RNG.laplace(x, 1.0)]


def scaled_and_back(x: list[float]) -> float:
    size = 1 + sum(x)
    return (5 * size + size * laplace()) / size


def prefix_sums(x: list[float]) -> list[float]:
    first, second = x[0] + laplace(20.0), x[2] + laplace(1.0)
    return [first, first + second + laplace(20.0)]


def bit_of_the_release(x: list[float]) -> float:
    noisy = sum(x) + random.gauss(0.0, 1e6)
    return math.floor(noisy) % 2


def sampled_by_an_older_generator(x: list[float]) -> float:
    return sum(one for one in x if OLDER.uniform() < 0.99) + laplace()


def sampled_by_a_rare_tail(x: list[float]) -> float:
    return sum(one for one in x if RNG.standard_t(3) < 5) + laplace()


def replaced_in_a_window(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < random.gauss(0.0, 1.0) < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < 0.1 + laplace() < 0.6 else sum(x) + laplace()


def replaced_in_a_window_of_a_moved_release(x: list[float]) -> float:
    return laplace(50.0) if 0.3 < sum(x) - 2 + laplace() < 0.6 else sum(x) + laplace()


@pytest.mark.parametrize(
    "function",
    [
        sampled_sum,
        replaced_in_a_window_of_a_moved_release,
        sampled_by_an_older_generator,
        sampled_by_a_rare_tail,
        replaced_in_a_window,
        replaced_in_a_window_of_a_release,
        sampled_by_noise,
        sampled_by_a_release,
        shuffled_first,
        released_or_noise,
        noise_shares,
        sum_of_shares,
        shares_in_place,
        noisy_maximum,
        noisy_maximum_of_floats,
        gumbel_maximum,
        maximum,
        threshold,
        sparse_vector,
        rejected_until_large,
        clamped_gaussian,
        released_if_large,
        data_taken_away_again,
        data_taken_away_from_their_noise,
        arrays_taken_away_from_their_noise,
        scaled_and_back,
        prefix_sums,
        bit_of_the_release,
    ],
)
def test_a_loss_that_an_observer_may_not_see_convicts_nobody(function: Callable[[Any], Any]) -> None:
    assert not accused(function)


def test_steps_of_gaussian_noise_show_a_tail_that_no_finite_claim_allows() -> None:
    assert accused(rounded)
    assert not accused(rounded, Gdp(0.01))


def test_noise_that_is_used_for_two_releases_counts_for_none() -> None:
    """Both releases hold the same noise and move alike: the loss is 1, and not 2."""
    assert not accused(noise_twice, Claim(1.5))


@pytest.mark.parametrize("function", [threshold, sum_of_shares, data_taken_away_again, shares_in_place])
def test_a_difference_beside_equal_noise_is_a_suspicion_that_runs_do_not_confirm(
    function: Callable[[Any], Any],
) -> None:
    assert check(function, pairs=[PAIR], claim=Claim(1.0), seconds=1, runs=4_000).verdict != Verdict.VIOLATED


def test_a_coordinate_without_noise_is_convicted_by_its_replay_and_by_runs() -> None:
    def function(x: list[float]) -> list[float]:
        return [*(one + random.gauss(0.0, 5.0) for one in x[:2]), x[2]]

    result = check(function, pairs=[PAIR], claim=Claim(1.0, 1e-6), seconds=20)
    assert (result.verdict, result.stage) == (Verdict.VIOLATED, "replay")
    assert set(result.evidence) == {"modelled", "sequential"}


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


def test_noise_whose_scale_depends_on_the_data_is_a_note_and_each_world_has_its_own() -> None:
    def function(x: list[float]) -> float:
        return sum(x) + laplace(1.0 + x[2])

    assert accused(function, Claim(0.05, 1e-6))
    result = shown(function)
    assert "scale" in result.notes[0]
    losses = [shown(function, pair=one).loss for one in (PAIR, PAIR[::-1])]
    assert losses == pytest.approx([1 / 2, 1 / 2])  # over the larger scale


def test_an_infinite_loss_without_evidence_is_a_finite_score() -> None:
    """Data that are added to nothing times noise, and hidden by other noise."""

    def function(x: list[float]) -> float:
        return sum(x) + 0.0 * laplace() + laplace()

    assert math.isfinite(shown(function).loss)
    assert not accused(function)
    assert not accused(function, pair=([math.inf], [1.0]))
    assert not accused(function, pair=([math.nan], [1.0]))


def test_a_location_that_other_randomness_decides_convicts_nobody() -> None:
    """The registry does not know this generator: only other runs show that the location changes."""
    hidden = np.random.RandomState(3)

    def function(x: list[float]) -> float:
        return sum(one for one in x if hidden.uniform() < 0.5) + laplace()

    assert not accused(function)


def test_a_loss_that_depends_on_another_release_does_not_count() -> None:
    """Where the second release lies differs only near what the first one was."""
    last: list[float] = []

    def function(x: list[float]) -> list[float]:
        one = 0.0 + laplace()
        last.append(one) if not last else None
        return [one, (sum(x) if abs(one - last[0]) < 0.001 else 0.0) + laplace()]

    result = shown(function)
    assert result.loss == pytest.approx(1.0)
    assert result.evidence is None


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


@pytest.mark.parametrize(("kind", "law"), [("Laplace", laplace_law), ("Gaussian", norm)])
@pytest.mark.parametrize("scales", [(1.0, 1.0), (0.5, 3.0)])
@pytest.mark.parametrize("threshold", [-3.0, 0.4, 1.0, 7.0])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_the_events_of_a_threshold_have_bounds_for_all_places_in_its_interval(
    kind: str, law: Any, scales: tuple[float, float], threshold: float, width: float
) -> None:
    one, other = (Release(0, float(at), scale, 9.0) for at, scale in enumerate(scales))
    interval = threshold - width, threshold + width
    events = modelled._events(kind, interval, one, other)
    for event, tail in zip(events, (law.logsf, law.logcdf), strict=True):
        chances = [[tail(at, here.location, here.scale) for at in interval] for here in (one, other)]
        assert event[0] == pytest.approx((min(chances[0]), max(chances[1])))
        assert event[1] == pytest.approx((min(chances[1]), max(chances[0])))


def test_noise_that_is_neither_laplace_nor_gaussian_has_no_events() -> None:
    moved = {(0, 0): ModelledLoss("a primitive", "bounded", "mine.py:3", 0.0, 9.0, 1.0, 9.0)}
    claim = Claim(0.1)
    assert modelled._exceeded(moved, hoped_for(moved, claim), (Run(), Run()), claim) is None


@pytest.mark.parametrize("low", [-0.1, -30.0, -math.inf])
@pytest.mark.parametrize("other_high", [-0.2, -40.0, -1000.0, -math.inf])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 900.0])
def test_an_event_exceeds_a_claim_by_its_chances(low: float, other_high: float, epsilon: float) -> None:
    excess = math.exp(low) - math.exp(epsilon + other_high) if epsilon + other_high < 700 else -math.inf
    assert modelled._excess(low, other_high, epsilon) == pytest.approx(max(0.0, excess), abs=1e-15)
    assert modelled._loss(low, other_high) == (max(0.0, low - other_high) if low > -math.inf else 0.0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("resolution", [1e-3, 0.1])
def test_a_divergence_of_gaussian_noise_is_that_of_the_worst_event_near_the_best_one(
    mu: float, epsilon: float, resolution: float
) -> None:
    def above(t: float) -> float:
        return float(norm.sf(t - mu) - math.exp(epsilon + norm.logsf(t)))

    best = epsilon / mu + mu / 2
    ends = above(best - resolution), above(best + resolution)
    assert modelled._gaussian(mu, epsilon, resolution) == pytest.approx(min(ends), abs=1e-12)
    assert min(ends) <= above(best)


def test_an_infinite_loss_is_a_divergence_of_1() -> None:
    assert modelled._gaussian(math.inf, 5.0, 0.1) == 1.0


def majority(x: list[float]) -> bool:
    return sum(x) + laplace(5.0) > len(x) / 2


def taken_away_from_its_release(x: list[float]) -> bool:
    return (sum(x) + laplace()) - sum(x) > 3


def steps_from_the_data(x: list[float]) -> int:
    return round((sum(x) + laplace() - sum(x)) / 5)


def clamped_mean(x: list[float]) -> float:
    return min(1.05, max(0.95, round((sum(x) + laplace(10.0)) / len(x), 2)))


ONES = [1.0] * 6, [1.0] * 7


@pytest.mark.parametrize(
    ("function", "pair", "kept", "broken"),
    [
        (majority, ONES, Claim(0.1), None),  # sum − n/2 moves by 1/2
        (taken_away_from_its_release, ONES, Claim(0.0, 1e-12), None),
        (steps_from_the_data, ONES, Claim(0.0, 1e-12), None),
        (clamped_mean, ([1.0] * 400, [1.0] * 399), Claim(0.09), None),
        (lambda x: sum(x) + laplace(5.0) > 3.5, ONES, Claim(0.2), Claim(0.199)),
        (lambda x: bool(2 * x + laplace(1.0 + x) < -3), (0.0, 1.0), Claim(0.5), Claim(0.49)),
        (lambda x: round(x + random.gauss(0.0, -10.0), 1), (0.0, 1.0), Gdp(0.1), Gdp(0.09)),
        (lambda x: round(x + laplace_of(-10.0), 1), (0.0, 1.0), Claim(0.1), Claim(0.0999)),
        (lambda x: min(5.0, max(-5.0, x + random.gauss(0.0, 1.0))), (0.0, 0.01), Claim(0.052), Claim(0.051)),
    ],
)
def test_data_that_a_function_looks_at_again_move_its_thresholds(
    function: Callable[[Any], Any], pair: Pair, kept: Claim, broken: Claim | None
) -> None:
    assert not accused(function, kept, pair)
    assert broken is None or accused(function, broken, pair)


def by_out(noise: Any) -> None:
    np.multiply(noise, 10, out=noise)


def by_entries(noise: Any) -> None:
    for place in range(len(noise)):
        noise[place] *= 10


def by_a_slice(noise: Any) -> None:
    noise[0:1] *= 10
    noise[1:] *= 10


def as_a_whole(noise: Any) -> None:
    noise[:] = noise * 10


def by_rows(noise: Any) -> None:
    for row in noise.reshape(2, 1):
        row *= 10


def by_a_view(noise: Any) -> None:
    noise.ravel()[:] *= 10


def by_another_view(noise: Any) -> None:
    view = noise.view()
    view *= 10


def in_a_function(noise: Any) -> None:
    noise *= 10


@pytest.mark.parametrize(
    "scale_in_place",
    [by_out, by_entries, by_a_slice, as_a_whole, by_rows, by_a_view, by_another_view, in_a_function],
)
@pytest.mark.parametrize("add", [lambda x, noise: np.array(x) + noise, lambda x, noise: [x[0] + noise[0], x[1]]])
def test_noise_that_is_changed_in_place_has_no_scale_that_is_too_small(
    scale_in_place: Callable[[Any], None], add: Callable[[Any, Any], Any]
) -> None:
    def function(x: list[float]) -> Any:
        noise = RNG.laplace(0.0, 1.0, 2)
        scale_in_place(noise)
        return [float(one) for one in add(x, noise)]

    assert not accused(function, Claim(0.1), ([0.0, 0.0], [1.0, 0.0]))


def test_noise_that_is_multiplied_by_a_statement_has_its_new_scale() -> None:
    def function(x: list[float]) -> list[float]:
        noise = RNG.laplace(0.0, 1.0, 2)
        noise *= 10
        return list(np.array(x) + noise)

    assert not accused(function, Claim(0.1), ([0.0, 0.0], [1.0, 0.0]))
    assert accused(function, Claim(0.0999), ([0.0, 0.0], [1.0, 0.0]))
