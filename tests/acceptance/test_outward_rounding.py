"""Nothing is rounded in favour of a claim or of a law: enclosures are widened, cut short and put on edge on purpose."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal import Verdict, member
from subnormal.audit.evidence import exact
from subnormal.audit.evidence.hockey_stick_bounds import CURVE_BITS, directions
from subnormal.mechanisms import privacy
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters, gaussian_claim
from subnormal.mechanisms.bits import scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law, Powers, exact_law
from subnormal.mechanisms.gaussian import exact as gaussian_exact
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.numerics.grid import l2_steps_squared
from subnormal.mechanisms.numerics.mpfr import exp_bounds, log_bounds
from subnormal.mechanisms.privacy import Claim, Eta, Zcdp, compose, noise_claim, noise_eta
from subnormal.mechanisms.samplers import discrete_gaussian, discrete_laplace
from subnormal.mechanisms.samplers.exact_comparison import weight_bounds
from subnormal.mechanisms.samplers.inverse_transform import DistributionBounds, Table

THIRD = Fraction(1, 3)


def test_no_bits_are_wasted_near_a_boundary_that_wide_bounds_hide() -> None:
    def bounds(precision: int) -> DistributionBounds:
        wide = 1 << (precision - 62) if precision <= 64 else 1  # four units at 64 bits
        value = THIRD * 2**precision
        low, high = math.floor(value) - wide, math.ceil(value) + wide
        return DistributionBounds(-1, precision, [0, low, 1 << precision], [0, high, 1 << precision])

    table, near = Table.of(bounds), math.floor(THIRD * 2**64)
    for word in range(near - 6, near + 7):
        if word != near:
            source = scripted_bits(f"{word:064b}" + "0" * 64)
            assert table.draw(source, 1)[0] == (0 if word < near else 1)
            assert source.consumed == 64


@pytest.mark.parametrize("word_bits", [5, 7, 31, 63])
def test_words_of_odd_size_along_a_boundary(word_bits: int) -> None:
    def bounds(precision: int) -> DistributionBounds:
        value = THIRD * 2**precision
        return DistributionBounds(
            -1, precision, [0, math.floor(value), 1 << precision], [0, math.ceil(value), 1 << precision]
        )

    length = -(-140 // word_bits) * word_bits
    script = f"{math.floor(THIRD * 2**length) + 1:0{length}b}"
    assert Table.of(bounds).draw(scripted_bits(script, word_bits), 1)[0] == 1


def test_a_first_cell_that_is_nearly_empty_does_not_ask_for_precision_without_end() -> None:
    """Scale 10^−6: P(Z < 0) is e^−1000000. A short first word cannot tell it from 0, but the next words can."""
    drawn = laplace_exact.sample(0, 1e-6, seeded_bits(1, word_bits=2), 200)
    assert set(drawn.tolist()) == {0}


def widened(real: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    def wide(rate: Any, distance: Fraction, precision: int) -> tuple[int, int]:
        low, high = real(rate, distance, precision)
        return max(0, low - (1 << (precision - 12))), high + (1 << (precision - 12))

    return wide


def test_laplace_bounds_hold_for_any_enclosure_of_the_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every corner of wide enclosures of q^n and of q lies within the bounds of F."""
    wide = widened(weight_bounds)
    monkeypatch.setattr(discrete_laplace, "weight_bounds", wide)
    bounds = discrete_laplace._laplace_bounds(THIRD, 0, 64)
    q = [Fraction(end, 1 << 96) for end in wide(THIRD, Fraction(1), 96)]
    for t in (-3, -1, 0, 2):
        powers = [Fraction(end, 1 << 96) for end in wide(THIRD, Fraction(-t if t < 0 else t + 1), 96)]
        corners = [power / (1 + one) for power in powers for one in q]
        values = corners if t < 0 else [1 - corner for corner in corners]
        at = t - bounds.first
        assert bounds.low[at] <= min(values) * 2**64
        assert max(values) * 2**64 <= bounds.high[at]


def test_the_laplace_law_holds_for_any_enclosure_of_the_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = widened(weight_bounds)
    monkeypatch.setattr(laplace_exact, "weight_bounds", wide)
    law = laplace_exact.law(0, Fraction(2), lower=-3, upper=3)
    q = [Fraction(end, 1 << 400) for end in wide(Fraction(1, 2), Fraction(1), 400)]
    for outcome in range(-3, 4):
        powers = [Fraction(end, 1 << 400) for end in wide(Fraction(1, 2), Fraction(abs(outcome)), 400)]
        inner = [Fraction(0)] * 2 if abs(outcome) == 3 else q
        corners = [power * (1 - one) / (1 + other) for power in powers for one in inner for other in q]
        low, high = law.probability(outcome)
        assert low <= min(corners) + Fraction(1, 2**150)
        assert max(corners) - Fraction(1, 2**150) <= high


def test_gaussian_tails_are_bounded_however_short_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    for variance, split in ((Fraction(9), 0), (Fraction(400), 1), (Fraction(1, 9), 0)):
        monkeypatch.setattr(discrete_gaussian, "gaussian_reach", lambda given, _: 2 * math.isqrt(math.ceil(given)))
        bounds = discrete_gaussian._gaussian_bounds(variance, split, 64)
        reach = 14 * math.isqrt(math.ceil(variance)) + 10
        cells = range(-reach, reach + 1)
        starts = [t << split if t >= 0 else ((-t - 1) << split) + 1 for t in cells]
        weights = [exp_bounds(-Fraction(start**2) / (2 * variance), 300) for start in starts]
        total = [sum((weight[side] for weight in weights), Fraction(0)) for side in (0, 1)]
        below = [Fraction(0), Fraction(0)]
        for t, weight in zip(cells, weights, strict=True):
            below = [below[0] + weight[0], below[1] + weight[1]]
            if 0 <= (at := t - bounds.first) < len(bounds.low):
                assert bounds.low[at] <= below[0] / total[1] * 2**64 * (1 + Fraction(1, 2**90))
                assert below[1] / total[0] * 2**64 * (1 - Fraction(1, 2**90)) <= bounds.high[at]
    assert discrete_gaussian.bell_tail(Fraction(1, 100), 2, 1) == 1


def test_the_gaussian_law_counts_what_lies_beyond_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_gaussian, "gaussian_reach", lambda *_: 3)
    law = gaussian_exact.law(0, 2.0, lower=-2, upper=2, precision=64)
    weights = {z: exp_bounds(-Fraction(z * z) / 8, 300)[0] for z in range(-80, 81)}
    inside: dict[int, Callable[[int], bool]] = {-2: lambda z: z <= -2, 2: lambda z: z >= 2}
    for outcome in range(-2, 3):
        mass = sum(w for z, w in weights.items() if inside.get(outcome, lambda z, o=outcome: z == o)(z))
        low, high = law.probability(outcome)
        assert low <= mass / sum(weights.values()) <= high


def test_one_scale_is_drawn_at_once_and_the_next_in_parts() -> None:
    assert discrete_gaussian.gaussian(Fraction(64) ** 2).split == 0
    assert discrete_gaussian.gaussian(Fraction(64) ** 2 + Fraction(1, 2**80)).split == 1


def test_claims_are_rounded_up() -> None:
    """Thirds, and sums that floats round down."""
    assert laplace_exact.claim(2.0, 1.25, coordinates=3) == Claim(2.0)
    assert Fraction(laplace_exact.claim(3.0, 1.0).epsilon) >= THIRD
    assert Fraction(Zcdp.of(THIRD).rho) >= THIRD
    parameters = GaussianParameters(sigma=3.0, delta=1e-6, sensitivity=1.0)
    assert gaussian_claim(parameters, 0, 1) == Zcdp.of(Fraction(1, 18)).claim(1e-6)
    one, other = next(
        (a / 997, b / 991)
        for a in range(1, 90)
        for b in range(1, 90)
        if Fraction(a / 997 + b / 991) < Fraction(a / 997) + Fraction(b / 991)
    )
    composed = compose(Claim(one, one), Claim(other, other))
    assert min(Fraction(composed.epsilon), Fraction(composed.delta)) >= Fraction(one) + Fraction(other)
    for x in range(1, 64):
        assert Fraction(noise_claim(Eta(x, 6), 3).epsilon) >= 3 * log_bounds(Fraction(64, x), 400)[0]


def test_a_rate_never_spends_more_than_its_budget() -> None:
    for tenths in range(1, 60):
        eta = noise_eta(tenths / 10, 3, resolution=100)
        assert 3 * log_bounds(Fraction(1 << eta.y, eta.x), 400)[0] <= Fraction(tenths / 10)
    for epsilon in (1e-12, 1e-9, 1e-3):  # and hardly less
        spent = noise_claim(noise_eta(epsilon, 16), 16).epsilon
        assert epsilon * (1 - 2**-29) <= spent <= epsilon


@pytest.mark.parametrize("order", [Fraction(2), Fraction(3), Fraction(7, 5)])
def test_zcdp_at_a_given_order_is_rounded_up(monkeypatch: pytest.MonkeyPatch, order: Fraction) -> None:
    monkeypatch.setattr(privacy, "_best_order", lambda *_: order)
    cost = order * log_bounds(1 - 1 / order, 600)[0] - log_bounds(order - 1, 600)[1]
    for rho in (0.013, 0.1, 0.3, 1.7):
        for epsilon in (0.9, 3.3, 8.1):
            true = exp_bounds((order - 1) * (order * Fraction(rho) - Fraction(epsilon)) + cost, 600)[0]
            assert min(Fraction(1), true) <= Fraction(Zcdp(rho).delta(epsilon)) <= true * (1 + Fraction(1, 2**50))
        for delta in (1e-3, 1e-9, 3e-7):
            true = order * Fraction(rho) + (-log_bounds(Fraction(delta), 600)[1] + cost) / (order - 1)
            found = Fraction(Zcdp(rho).epsilon(delta))
            assert max(Fraction(0), true) <= found
            assert true < 0 or found <= true * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize(
    ("rho", "delta"), [(1e-300, 5e-324), (1e-20, 1e-300), (1e-12, 1e-15), (1e6, 1e-9), (1e30, 1e-9)]
)
def test_orders_are_found_for_any_rho(rho: float, delta: float) -> None:
    assert rho <= Zcdp(rho).epsilon(delta) * (1 + 1e-12) or rho < 1
    assert Zcdp(rho).epsilon(delta) <= (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * (1 + 1e-12)
    assert Zcdp(rho).delta(1e300) in (0.0, 5e-324)


def test_roots_are_rounded_up() -> None:
    assert gaussian_exact._root_up(1 + Fraction(1, 4**70)) > 1
    assert gaussian_exact._root_up(Fraction(2)) ** 2 > 2
    parameters = GaussianParameters(sigma=3.0, delta=1e-6, sensitivity=1.0, grid=-2)
    assert gaussian_exact.member_sigma(parameters, 2) ** 2 >= 9 * l2_steps_squared(1.0, -2, 2) / 16
    assert l2_steps_squared(Fraction(1, 2**80), 0, 2) >= 2


def test_members_pay_for_every_coordinate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Δ = 1 is 16 steps, and each further coordinate may be rounded one step further apart."""
    seen: list[Any] = []

    def spied(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(scale: Any, grid: int) -> Any:
            seen.append(scale)
            return real(scale, grid)

        return call

    monkeypatch.setattr(laplace_exact, "rate_of", spied(laplace_exact.rate_of))
    monkeypatch.setattr(gaussian_exact, "variance_of", spied(gaussian_exact.variance_of))
    data = np.zeros(3)
    member("laplace-exact-base-e").sample(data, LaplaceParameters(epsilon=1.0), seeded_bits(1), 1)
    member("laplace-exact").sample(data, LaplaceParameters(epsilon=1.0), seeded_bits(1), 1)
    parameters = GaussianParameters(sigma=1.0, delta=1e-6)
    member("gaussian-exact").sample(data, parameters, seeded_bits(1), 1)
    assert seen[0] == Fraction(18, 16)
    assert noise_claim(seen[3], 18).epsilon <= 1 < noise_claim(seen[3], 19).epsilon
    assert seen[6] == gaussian_exact.member_sigma(parameters, 3) > 1


def test_exponents_that_contradict_the_bounds_acquit_nobody() -> None:
    def law(weights: list[int], exponents: list[int], rest: Fraction = Fraction(0)) -> Law[Any]:
        powers = Powers(Fraction(1, 10), np.array(exponents), np.array([0, 0]))
        high = weights if rest == 0 else [weight + 1 for weight in weights]
        return Law(np.array([0, 1]), [1, 2], weights, high, 4, rest, powers)  # type: ignore[arg-type]

    contradicting = exact.compare(law([3, 1], [0, 1]), law([1, 3], [1, 0]), Claim(0.1))
    assert contradicting.verdict is Verdict.VIOLATED
    known = law([2, 2], [0, 1])
    open_in, open_out = law([1, 1], [0, 1], Fraction(1, 2)), law([1, 1], [1, 0], Fraction(1, 2))
    for pair in ((open_in, open_out), (known, open_out), (open_in, known)):
        assert exact.compare(*pair, Claim(0.1)).verdict is Verdict.UNRESOLVED


def huge(seed: int) -> Law[int]:
    weights = [int(one) * 3**380 for one in np.random.default_rng(seed).integers(0, 10**6, 20)]
    weights.append(3**400 - sum(weights))
    return exact_law(range(21), range(1, 22), weights, 3**400)


def loosened(law: Law[int]) -> Law[int]:
    low, high = [int(one) * 9 // 10 for one in law.low], [int(one) * 11 // 10 + 1 for one in law.high]
    return Law(law.atoms, law.ends, low, high, law.denominator, Fraction(1, 50))


@pytest.mark.parametrize("form", [lambda law: law, loosened])
def test_a_curve_from_narrowed_masses_is_that_of_the_masses(form: Callable[[Law[int]], Law[int]]) -> None:
    law_in, law_out = form(huge(1)), form(huge(2))
    epsilons = [0.0, 0.1, 0.5]
    lower, upper = exact.curve(law_in, law_out, epsilons)
    both = directions(law_in, law_out)
    for epsilon, low, high in zip(epsilons, lower, upper, strict=True):
        least, most = exp_bounds(Fraction(epsilon), 400)
        assert low == pytest.approx(float(max(one.at_least(most) for one in both)), rel=1e-14)
        assert high == pytest.approx(min(1.0, float(max(one.at_most(least) for one in both))), rel=1e-14)


def test_a_difference_of_narrowed_masses_that_only_rounding_makes_is_not_certified() -> None:
    """All lower bounds sum up to 1, so that the laws are known: the total variation is 20/2^300, far below one unit."""
    bits, unit = 300, 1 << 300 - CURVE_BITS

    def law(weights: list[int]) -> Law[int]:
        weights = [*weights, (1 << bits) - sum(weights)]
        return Law(range(21), range(1, 22), weights, [one + 1 for one in weights], 1 << bits, Fraction(0))

    (lower,), (upper,) = exact.curve(law([unit << 200] * 20), law([(unit << 200) - 1] * 20), [0.0])
    assert lower <= math.ldexp(20.0, -bits) <= upper


def test_masses_are_narrowed_outwards() -> None:
    whole = 3**400
    law_in = exact_law(range(3), [1, 2, 3], [whole // 7, whole // 3, whole - whole // 7 - whole // 3], whole)
    law_out = exact_law(range(2), [1, 2], [whole // 5, whole - whole // 5], whole)
    for wide in directions(law_in, law_out):
        narrow = wide.narrow()
        assert narrow.denominator == 1 << CURVE_BITS
        for name, sign in (("low", 1), ("other_low", 1), ("high", -1), ("other_high", -1)):
            for short, long in zip(getattr(narrow, name), getattr(wide, name), strict=True):
                assert sign * Fraction(int(short), narrow.denominator) <= sign * Fraction(int(long), wide.denominator)
        assert Fraction(narrow.open_mass, narrow.denominator) > Fraction(wide.open_mass, wide.denominator)
        alone = Fraction(wide.alone_low, wide.denominator)
        assert (
            Fraction(narrow.alone_low, narrow.denominator) <= alone <= Fraction(narrow.alone_high, narrow.denominator)
        )
