"""Bounds of every kind of claim enclose the truth, computed in another way."""

import math
from fractions import Fraction
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from scipy import integrate, stats

from subnormal.audit.claims.kind import Kind, least_epsilon
from subnormal.audit.claims.kinds import KINDS, kind
from subnormal.mechanisms.curves import Renyi
from subnormal.mechanisms.numerics.interval import FAR, Interval, exp, interval, mills_ratio


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_bounds_are_ordered_wherever_parameters_are_drawn(one: Kind) -> None:
    @hypothesis.seed(1)
    @settings(max_examples=15, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(one.strategy())
    def ordered(parameters: dict[str, Any]) -> None:
        low, up = one.bounds(**parameters)
        assert 0 <= low <= up
        if one.exact and math.isfinite(up):
            assert up - low <= 1e-12 * up + 1e-300

    ordered()


def falling(epsilon: float) -> Interval:
    return exp(-interval(epsilon)) / 2


@pytest.mark.parametrize("root", [1e-25, 2.0**-40, 1e-7, 0.0625, 1.0, 1.5, 16.0, 300.0])
@pytest.mark.parametrize("width", [0.0, 1e-3])
@pytest.mark.parametrize("steep", [1.0, 1e4])
@pytest.mark.parametrize("jumps", [False, True])
def test_the_least_epsilon_is_bracketed_by_neighbouring_floats(
    root: float, width: float, steep: float, jumps: bool
) -> None:
    """δ(ε) falls through δ at the root: as an exponential or all at once, known exactly or within a width."""

    def delta_at(epsilon: float) -> Interval:
        at = steep * (interval(epsilon) - root) / root
        middle = interval(1e-3 if epsilon < root else 1e-9) if jumps else 1e-5 * exp(-at)
        return Interval(middle.low * (1 - width), middle.high * (1 + width))

    low, up = least_epsilon(delta_at, 1e-5)
    assert delta_at(low).low > 1e-5
    assert delta_at(up).high <= 1e-5
    assert not delta_at(math.nextafter(low, math.inf)).low > 1e-5
    assert up - low <= 12 * root * width / steep + 1e-12 * root + 2.0**-85


def test_an_epsilon_may_be_0_or_infinite() -> None:
    assert least_epsilon(falling, 0.5) == (0.0, 0.0)
    assert least_epsilon(lambda epsilon: interval(0.5), 0.1)[1] == math.inf
    assert least_epsilon(falling, 0.0)[1] == math.inf
    low, up = least_epsilon(lambda epsilon: interval(max(0.0, 1 - epsilon / 3.7)), 0.0)
    assert math.nextafter(low, up) == up == 3.7
    low, up = least_epsilon(falling, 0.5 * (1 - 2**-50))
    assert 0 < low <= up < 2**-49


def near(name: str, **parameters: Any) -> float:
    """Return the number that both bounds of an exact kind agree on."""
    low, up = kind(name).bounds(**parameters)
    assert up == pytest.approx(low, rel=1e-12)
    return low


@pytest.mark.parametrize(("sigma", "steps"), [(0.3, 1), (1.0, 10), (50.0, 7)])
@pytest.mark.parametrize("delta", [0.1, 1e-5, 1e-10])
def test_gaussian_noise_is_balle_and_wang(sigma: float, steps: int, delta: float) -> None:
    mu, epsilon = math.sqrt(steps) / sigma, near("gaussian", sigma=sigma, steps=steps, delta=delta)
    kept, paid = stats.norm.cdf(mu / 2 - epsilon / mu), stats.norm.logcdf(-mu / 2 - epsilon / mu)
    if epsilon > 0:
        assert kept - math.exp(epsilon + paid) == pytest.approx(delta, rel=1e-5)
    else:
        assert kept - math.exp(paid) <= delta
    assert near("gaussian-delta", sigma=sigma, steps=steps, epsilon=epsilon) <= delta * (1 + 1e-9)


def test_far_out_the_series_of_mills_ratio_takes_over() -> None:
    """At its first place it encloses what MPFR's own function encloses there."""
    place = interval(FAR)
    series, own = mills_ratio(place), mills_ratio(FAR * (1 - 1e-12))
    assert own.low >= series.low
    assert float(series.high / series.low - 1) < 1e-15
    assert float(own.high / series.low - 1) < 1e-11
    assert near("gaussian", sigma=1e-3, steps=10**9, delta=0.5) == pytest.approx(5e14, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 9, 40])
@pytest.mark.parametrize(("epsilon", "failure"), [(0.4, 0.0), (2.0, 1e-3), (0.01, 1e-9)])
def test_a_composition_is_the_binomial_sum(steps: int, epsilon: float, failure: float) -> None:
    """δ at the bounds, in rationals up to the rounding of e^ε."""
    ratio = Fraction(math.exp(epsilon))
    for delta in (0.05, 0.3):
        low, up = kind("composition").bounds(epsilon=epsilon, failure=failure, steps=steps, delta=delta)

        def leak(at: float) -> float:
            kept = (1 - Fraction(failure)) ** steps
            sums = sum(
                (
                    math.comb(steps, true)
                    * max(Fraction(0), ratio**true - Fraction(math.exp(at)) * ratio ** (steps - true))
                    for true in range(steps + 1)
                ),
                Fraction(0),
            )
            return float(1 - kept + kept * sums / (1 + ratio) ** steps)

        assert low == 0 or leak(low * (1 - 1e-6)) >= delta * (1 - 1e-9)
        assert leak(up * (1 + 1e-6)) <= delta * (1 + 1e-9)
        assert up - low <= 1e-3 * (1 + up)


def test_integer_noise_passes_a_threshold_with_the_sum_of_its_tail() -> None:
    for scale, threshold in ((1.0, 1), (1.0, 5), (3.0, 20), (0.2, 3)):
        p = math.exp(-1 / scale)
        tail = sum((1 - p) / (1 + p) * p ** abs(z) for z in range(threshold - 1, threshold + 2_000))
        assert near("threshold", scale=scale, threshold=threshold) == pytest.approx(tail, rel=1e-10)


def test_accuracies_are_the_tails() -> None:
    assert stats.laplace.sf(near("laplace-accuracy", scale=3.0, alpha=0.01) / 3) * 2 == pytest.approx(0.01)
    assert stats.norm.sf(near("gaussian-accuracy", sigma=3.0, alpha=0.01) / 3) * 2 == pytest.approx(0.01)
    for scale, alpha in ((1.0, 0.05), (2.5, 0.5), (0.3, 1e-6)):
        p = math.exp(-1 / scale)
        beyond = [1.0, *(2 * p**m / (1 + p) for m in range(1, 200))]
        first = next(m for m in range(200) if beyond[m] <= alpha)
        assert kind("discrete-laplace-accuracy").bounds(scale=scale, alpha=alpha) == (first - 1, first)


@pytest.mark.parametrize(("sigma", "sampling"), [(0.7, 0.3), (2.0, 0.01), (1.0, 1e-4)])
@pytest.mark.parametrize("alpha", [1.05, 1.5, 2.0, 2.7, 6.0])
def test_the_divergence_of_a_sampled_step_is_its_integral(sigma: float, sampling: float, alpha: float) -> None:
    def excess(x: float) -> float:  # E[r^α] − 1 without cancellation, as r^α − 1 − α(r − 1) has the same mean
        change = sampling * math.expm1((2 * x - 1) / (2 * sigma**2))
        return float((math.expm1(alpha * math.log1p(change)) - alpha * change) * stats.norm.pdf(x, scale=sigma))

    reach = 12 * sigma
    integral = integrate.quad(excess, -reach, alpha + reach, limit=500, points=[0, 1, alpha], epsabs=0, epsrel=1e-9)[0]
    truth = math.log1p(integral) / (alpha - 1)
    low, up = kind("sampled-gaussian-renyi").bounds(sigma=sigma, sampling=sampling, alpha=alpha)
    assert low <= truth * (1 + 1e-7)
    assert truth <= up * (1 + 1e-7)
    assert low >= 0.9 * truth


@pytest.mark.parametrize(("alpha", "tau", "delta"), [(2.0, 1.0, 1e-5), (8.0, 0.3, 1e-3), (1.5, 0.01, 1e-6)])
def test_a_conversion_is_attained_by_two_coins(alpha: float, tau: float, delta: float) -> None:
    """The lossless conversion of the claim's curve lies between the bounds, near the lower one."""
    low, up = kind("renyi").bounds(alpha=alpha, tau=tau, delta=delta)
    claim = Renyi(alpha, tau)
    assert claim.delta(low * 0.999) >= delta
    assert claim.delta(up) <= delta * (1 + 1e-6)


def test_steps_on_samples_lie_between_those_without() -> None:
    for steps in (1, 3, 100):
        whole = kind("gaussian").bounds(sigma=2.0, steps=steps, delta=1e-6)[1]
        at = [kind("sampled-gaussian").bounds(sigma=2.0, sampling=q, steps=steps, delta=1e-6) for q in (0.1, 0.5, 1.0)]
        assert at[0][0] < at[1][0] < at[2][0] <= whole * (1 + 1e-9)
        assert all(up <= whole * (1 + 1e-9) for _, up in at)
        pure = kind("sampled-laplace").bounds(scale=2.0, sampling=0.1, steps=steps, delta=0.0)
        assert pure[0] == pytest.approx(steps * math.log1p(0.1 * math.expm1(0.5)))
        low, up = kind("sampled-laplace").bounds(scale=2.0, sampling=0.1, steps=steps, delta=1e-6)
        assert low <= up <= pure[1]
        assert low > 0.1 * pure[0]


def test_choices_have_the_losses_that_two_candidates_show() -> None:
    for name in ("exponential", "permute-and-flip", "noisy-max-laplace"):
        assert near(name, scale=0.5) == pytest.approx(4.0)
    assert near("randomized-response", categories=3, probability=0.75) == pytest.approx(math.log(6))
    low, up = kind("pure-to-zcdp").bounds(epsilon=0.5)
    assert low == pytest.approx(0.5 * math.tanh(0.25))
    assert up == 0.125


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(LookupError, match="'gauss' is none of gaussian, "):
        kind("gauss")
