"""What thresholded noise promises: all neighbours over two keys in rationals, and another's page of figures."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp
from typing import Any

import pytest
from hypothesis import strategies as st

from subnormal.mechanisms.numerics.mpfr import exp_bounds, float_up
from subnormal.mechanisms.privacy import ApproximateZcdp, Claim, Eta, Zcdp
from subnormal.mechanisms.samplers.noise_tails import gaussian_tail, laplace_tail
from subnormal.mechanisms.threshold import exact as threshold_exact
from subnormal.mechanisms.threshold import family as threshold_family
from subnormal.mechanisms.threshold import naive as threshold_naive
from subnormal.mechanisms.threshold.family import adjacent, privacy
from subnormal.mechanisms.threshold.parameters import ThresholdParameters, checked
from tests.mechanisms.threshold import test_exact, test_naive
from tests.support.family_cases import GRID_POINTS, FamilyCases, decades
from tests.support.region_sums import get_sum

FLOOR = 2.0**-53  # of OpenDP's arithmetic: 1 − δ is a float below 1
FIRST_ROW = 2.801398224505647e-09

ABSENT, LEAST, MOST = None, -1, 3
TOP = 5  # where released values saturate in the enumeration


def parameters(
    noise: Any = "laplace", scale: Any = 1.0, threshold: float = 20.0, values: Any = "float64", **others: Any
) -> ThresholdParameters:
    return ThresholdParameters(noise, scale, threshold, values, **others)


@cache
def part(base: Fraction, threshold: int, value: int | None) -> dict[int | None, Fraction]:
    """The law of one key by its definition: None, T, …, TOP, with sums beyond TOP in TOP."""
    if value is None:
        return {None: Fraction(1)}
    ends = [(None, None, threshold - 1), *((at, at, at) for at in range(threshold, TOP)), (TOP, TOP, None)]
    shift = {low: None if low is None else low - value for _, low, _ in ends} | {None: None}
    return {
        atom: get_sum(base, shift[low], None if high is None else high - value) / (1 + base) for atom, low, high in ends
    }


@cache
def both(base: Fraction, threshold: int, mapping: tuple[int | None, ...]) -> dict[Any, Fraction]:
    laws = [part(base, threshold, value).items() for value in mapping]
    return {tuple(atom for atom, _ in one): one[0][1] * one[1][1] for one in product(*laws)}


def excess(law_in: dict[Any, Fraction], law_out: dict[Any, Fraction], factor: Fraction) -> Fraction:
    return sum((max(Fraction(0), mass - factor * law_out.get(atom, 0)) for atom, mass in law_in.items()), Fraction(0))


def as_data(mapping: tuple[int | None, ...]) -> dict[str, int]:
    return {key: value for key, value in zip("ab", mapping, strict=True) if value is not None}


def neighbours(given: ThresholdParameters) -> Iterator[tuple[Any, Any]]:
    """Every ordered pair of adjacent mappings over two keys and the values −1 to 3."""
    mappings = list(product((ABSENT, *range(LEAST, MOST + 1)), repeat=2))
    return ((one, other) for one in mappings for other in mappings if adjacent(given, as_data(one), as_data(other)))


@pytest.mark.parametrize("base", [Fraction(1, 3), Fraction(3, 4)])
@pytest.mark.parametrize("sensitivities", [(1, 1, 1), (2, 2, 1), (2, 1, 1), (1, 2, 2), (2, 3, 2), (1, 5, 3)])
@pytest.mark.parametrize("threshold", [1, 3])
def test_the_claim_holds_for_all_neighbours_and_some_attain_it(
    base: Fraction, sensitivities: Any, threshold: int
) -> None:
    """In rationals of B: hockey-stick at B^−Δ₁ against 1 − (1−t)^Δ₀, t = P(noise ≥ T − Δ_∞), the boundary included.

    T = 1 lies below Δ_∞ = 2 and 3. Tight where Δ₁ = Δ₀·Δ_∞; else Δ₀ keys cannot all have Δ_∞, and the bound is one.
    """
    keys, total, most = sensitivities
    total = min(total, keys * most)
    factor, one = base**-total, get_sum(base, threshold - most, None) / (1 + base)
    allowed = 1 - (1 - one) ** keys
    given = parameters(scale=Eta(1, 1), threshold=threshold, values="int64", sensitivities=sensitivities)
    found = [(excess(both(base, threshold, x), both(base, threshold, y), factor), x, y) for x, y in neighbours(given)]
    assert len(found) > 30
    worst = max(delta for delta, _, _ in found)
    assert worst <= allowed
    if total == keys * most:
        assert worst == allowed
        assert (worst, (most,) * keys + (ABSENT,) * (2 - keys), (ABSENT, ABSENT)) in found
    # A common key alone loses nothing beyond ε, and at less than it something: ε is attained, too.
    common = {(x, y): both(base, threshold, x) for x, y in neighbours(given) if None not in (*x, *y)}
    assert all(excess(law, both(base, threshold, y), factor) == 0 for (_, y), law in common.items())
    assert any(excess(law, both(base, threshold, y), factor * (1 + base) / 2) > 0 for (_, y), law in common.items())


@pytest.mark.parametrize("eta", [Eta(1, 1), Eta(3, 2)])
def test_the_law_of_the_code_is_that_of_the_definition(eta: Eta) -> None:
    for threshold, sign in ((1, 1), (3, 1), (3, -1)):
        given = parameters(scale=eta, threshold=sign * threshold, values="int32", limit=TOP)
        for value in range(LEAST, MOST + 1):
            law = threshold_exact.law({"a": sign * value}, given).part("a")
            for atom, mass in part(eta.base, threshold, value).items():
                assert law.probability(None if atom is None else sign * atom) == (mass, mass)


@pytest.mark.parametrize("eta", [Eta(1, 1), Eta(3, 2)])
@pytest.mark.parametrize("sensitivities", [(1, 1, 1), (2, 2, 1), (3, 1, 1), (2, 5, 2)])
def test_the_map_is_the_formula_rounded_up(eta: Eta, sensitivities: Any) -> None:
    keys, total, most = sensitivities
    for threshold in (1, 4, 40):
        one = get_sum(eta.base, threshold - most, None) / (1 + eta.base)
        claim = privacy(parameters(scale=eta, threshold=threshold, values="int64"), sensitivities)
        assert claim.delta == float_up(1 - (1 - one) ** keys)
        assert claim.epsilon == float_up(min(total, keys * most) * Fraction(eta.nats)) or eta != Eta(1, 1)
        assert privacy(parameters(scale=eta, threshold=-threshold, values="int64"), sensitivities) == claim


def floored(tail: Fraction, keys: int) -> float:
    """OpenDP's last step: 1 − δ a key rounded down to a float, its power too; 2^−53 a key is the least that is left."""
    kept = -float_up(tail - 1)
    power = -float_up(-(Fraction(kept) ** keys))
    return 1 - power


def one_tail(given: ThresholdParameters, most: float) -> Fraction:
    return threshold_family.tail(given, given.threshold_steps - int(Fraction(most) * Fraction(2) ** -given.step))[1]


def test_opendps_page_of_figures_with_its_floor_and_without() -> None:
    laplace, gaussian = parameters(), parameters("gaussian")
    claim = privacy(laplace, (1, 1, 1))
    assert claim.epsilon == 1
    assert floored(one_tail(laplace, 1), 1) == FIRST_ROW
    assert claim.delta == pytest.approx(exp(-19) / 2, rel=1e-15)
    assert claim.delta < FIRST_ROW
    normal = privacy(gaussian, (1, 1, 1))
    assert isinstance(normal, ApproximateZcdp)
    assert normal.rho == 0.5
    assert floored(one_tail(gaussian, 1), 1) == 1.1102230246251565e-16 == FLOOR
    assert normal.delta == pytest.approx(8.527223952630977e-81, rel=1e-14)
    assert ApproximateZcdp(0.0, FLOOR, 0.5).at(FIRST_ROW).epsilon == pytest.approx(6.3035767282855915, rel=1e-14)
    assert normal.at(FIRST_ROW).epsilon == pytest.approx(6.303576721634656, rel=1e-14)


def test_opendps_figures_for_a_hundred_keys() -> None:
    """Δ₁ ≤ Δ₀·Δ_∞ = 0.1 and Δ₂ ≤ √Δ₀·Δ_∞ = 0.01. Their own rounding of the tail is in the last digits of their δ."""
    laplace, gaussian = parameters(), parameters("gaussian")
    claim = privacy(laplace, (100, 10, 0.001))
    assert claim.epsilon == 0.1
    assert claim.delta == pytest.approx(-((1 - exp(-19.999) / 2) ** 100 - 1), rel=1e-7)
    assert floored(one_tail(laplace, 0.001), 100) == 1.0316078580263621e-07
    normal = privacy(gaussian, (100, 10, 0.001))
    assert isinstance(normal, ApproximateZcdp)
    assert normal.rho == pytest.approx(5e-5, rel=1e-15)
    assert ApproximateZcdp(0.0, 100 * FLOOR, normal.rho).at(FIRST_ROW).epsilon == pytest.approx(
        0.049969691134438526, rel=1e-13
    )
    assert normal.at(FIRST_ROW).epsilon == pytest.approx(0.0499696834905211, rel=1e-13)


def test_integers_count_the_boundary_which_opendp_does_not() -> None:
    claim = privacy(parameters(threshold=10, values="int64"), (1, 1, 1))
    base = exp(-1)
    assert claim.delta == pytest.approx(base**9 / (1 + base), rel=1e-14)
    assert claim.delta / 3.319000812207484e-05 == pytest.approx(exp(1), rel=1e-11)
    open_tail = threshold_naive.open_tail_claim(parameters(threshold=10, values="int64"), {}, {})
    assert open_tail.delta == pytest.approx(3.319000812207484e-05, rel=1e-11)
    assert privacy(parameters(threshold=1, values="int64"), (1, 1, 1)).delta == pytest.approx(1 / (1 + base), rel=1e-15)


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(3), Fraction(100), Fraction(513), Fraction(10**6)])
def test_bounds_of_a_gaussian_tail_meet(sigma: Fraction) -> None:
    for deviations in (Fraction(-2), Fraction(0), Fraction(1, 2), Fraction(3), Fraction(12)):
        low, high = gaussian_tail(sigma, int(sigma * deviations))
        assert 0 <= low <= high <= 1
        assert high - low <= Fraction(1, 10**8) * high
    assert gaussian_tail(sigma, 1)[0] * 2 < 1 < gaussian_tail(sigma, 0)[1] * 2


def test_the_sum_and_the_integral_of_gaussian_weights_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    from subnormal.mechanisms.samplers import noise_tails

    for start in (1, 100, 1200):
        summed = gaussian_tail(Fraction(300), start)
        monkeypatch.setattr(noise_tails, "SUMMED", 0)
        low, high = gaussian_tail(Fraction(300), start)
        monkeypatch.undo()
        assert low <= summed[0] <= summed[1] <= high <= summed[1] * (1 + Fraction(1, 10**6))


def test_far_tails_are_below_every_float() -> None:
    for low, high in (
        laplace_tail(Fraction(1), 10**9),
        gaussian_tail(Fraction(1), 10**9),
        laplace_tail(Eta(1, 1), 10**7),
    ):
        assert low == 0
        assert 0 < high < Fraction(5e-324)
    assert privacy(parameters(threshold=1e300), (1, 1, 1)).delta == 5e-324
    assert privacy(parameters("gaussian", threshold=1e300), (1, 1, 1)).delta == 5e-324


def test_rounding_to_a_grid_costs_a_step_a_key() -> None:
    given = parameters(grid=-10)
    assert privacy(given, (1, 1.0, 1.0)).epsilon == 1
    assert privacy(given, (3, 2.0, 1.0)).epsilon == 2 + 2 * 2**-10
    assert privacy(given, (1, 0.3, 0.3)).epsilon == 308 / 1024
    assert privacy(parameters(), (3, 2.0, 1.0)).epsilon == 2
    assert (
        privacy(parameters("gaussian", grid=-10), (3, 2.0, 1.0)).delta
        > privacy(parameters("gaussian"), (3, 2.0, 1.0)).delta
    )


def test_the_claim_of_gaussian_noise_is_one() -> None:
    """(ε, δ) without a further δ: that of a common key is at most one key's tail at ε."""
    for keys in (1, 3):
        claim = privacy(parameters("gaussian", 2.0, 6, "int64"), (keys, 3, 1))
        assert isinstance(claim, ApproximateZcdp)
        assert Zcdp(claim.rho).delta(claim.epsilon) <= float(gaussian_tail(Fraction(2), 5)[1]) * (1 + 1e-9)


def test_no_key_changed_costs_nothing_and_a_key_of_zero_costs_its_tail() -> None:
    assert privacy(parameters(), (0, 5, 5)) == Claim(0.0)
    nothing = privacy(parameters(threshold=3, values="int64"), (1, 0, 5))
    assert (nothing.epsilon, nothing.delta) == (
        0,
        float_up(exp_bounds(Fraction(-3))[1] / (1 + exp_bounds(Fraction(-1))[0])),
    )


def test_adjacent_mappings() -> None:
    given = parameters(threshold=10, values="int64", sensitivities=(2, 3, 2))
    assert adjacent(given, {"a": 5, "b": 1}, {"a": 5})
    assert adjacent(given, {"a": 5, "b": 1}, {"a": 7})
    assert not adjacent(given, {"a": 5, "b": 2}, {"a": 7})
    assert not adjacent(given, {"a": 5}, {"a": 8})
    assert not adjacent(given, {"a": 0, "b": 0, "c": 0}, {})  # three keys, though nothing in total
    normal = parameters("gaussian", threshold=10, values="int64", sensitivities=(2, 1.5, 1))
    assert adjacent(normal, {"a": 1, "b": 1}, {})  # √2
    assert checked((1, 0.5, 0.25)) == (1, Fraction(1, 2), Fraction(1, 4))


def bounds(given: Any, data: Any) -> dict[str, bool]:
    steps = (given.limit - given.threshold) * 2.0**-given.step
    return {
        "no value above the sensitivity of a key": all(abs(value) <= given.sensitivities[2] for value in data.values()),
        f"at most {GRID_POINTS} steps from the threshold to the limit": steps <= GRID_POINTS,
    }


COUNTS = st.dictionaries(st.sampled_from("abc"), st.integers(1, 9), max_size=2)
CASES = {
    "threshold": FamilyCases(
        laws={
            "threshold-naive-float32": test_naive.check_law,
            "threshold-naive-rounded-first": test_naive.check_law,
            "threshold-naive-open-tail": test_exact.check_law,
            "threshold-exact": test_exact.check_law,
        },
        bounds=bounds,
        parameters=ThresholdParameters("laplace", 1.0, 6, "int64"),
        data=None,
        noiseless=lambda data: {key: count for key, count in data.items() if count >= 6},
        relation=st.builds(
            lambda data, key: (data | {key: data.get(key, 0) + 1}, data), COUNTS, st.sampled_from("abc")
        ),  # in one key, by 1
        domain="mappings@most=4,keys=2,threshold=3,limit=5,apart=2",
        options={
            "most": st.integers(2, 4),
            "keys": st.integers(1, 2),
            "scale": decades(-1, 2, 1.0),
            "threshold": st.integers(1, 8),
            "limit": st.integers(2, 12),
            "changed": st.integers(1, 2),
            "apart": st.integers(1, 3),
        },
        tight={"most": 3, "keys": 1, "changed": 1, "apart": 1},
    )
}
