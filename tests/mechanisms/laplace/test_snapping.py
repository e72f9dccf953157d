"""The snapping mechanism: its law is that of the code, by every U* or every boundary. False-alarm rates are stated."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.mechanisms.additive.family import LAPLACE, LaplaceParameters
from subnormal.mechanisms.bits import BitSource, scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, Refused
from subnormal.mechanisms.laplace import snapping
from subnormal.mechanisms.laplace.snapping import SNAPPING, SNAPPING_16_BIT, law, sample
from subnormal.mechanisms.laplace.snapping_bounds import Snapping, loss_bound, scale_for
from subnormal.mechanisms.numerics.mpfr import above, exp_bounds, float_up, log_bounds, log_ratio, nearest, nearest_logs
from tests.support.walks import law_of

PARAMETERS = LaplaceParameters(epsilon=1.0)

Draw = Callable[[BitSource, int], Any]  # n outcomes


def script(p: int, cutoff: int, negative: Any, significands: Any, exponents: Any) -> BitSource:
    """Return the bits that make `sample` draw these U* = significand·2^(1−p−e), each with its sign."""
    below_leading = (1 << (p - 1)) - 1
    strings = [
        f"{int(sign) << (p - 1) | int(one) & below_leading:0{p}b}"
        for sign, one in zip(negative, significands, strict=True)
    ]
    zeros, read = [int(exponent) - 1 for exponent in exponents], 1
    while zeros:
        strings += [f"{1 << (63 - zero) if zero < 64 else 0:064b}" for zero in zeros]
        read += 64
        zeros = [zero - 64 for zero in zeros if zero >= 64] if read < cutoff else []
    return scripted_bits("".join(strings))


def masses(found: Law[Any]) -> dict[float, Fraction]:
    return {atom: found.probability(atom)[0] for atom in np.asarray(found.atoms).tolist()}


def law_by_bisection(draw: Draw, outcomes: list[float], p: int, cutoff: int) -> dict[float, Fraction]:
    """Return the law by nothing but draws: for each sign and outcome, the least U* that reaches it."""
    below = np.full(len(outcomes) - 1, Fraction(0), dtype=object)
    for negative in (False, True):
        low = np.full(len(below), -1, dtype=object)  # places in the order of all U*: −1 never reaches, the last does
        high = np.full(len(below), cutoff << (p - 1), dtype=object)
        while ((high - low) > 1).any():
            middle = np.maximum((low + high) // 2, 0)
            exponents, significands = cutoff - (middle >> (p - 1)), (middle & ((1 << (p - 1)) - 1)) + (1 << (p - 1))
            bits = script(p, cutoff, [negative] * len(below), significands, exponents)
            drawn = draw(bits, len(below))
            reached = drawn < outcomes[1:] if negative else drawn >= np.array(outcomes[1:])
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        assert (high >= 1 << (p - 1)).all()  # never in the last binade, which takes the mass of all below it
        mass = [
            Fraction((place & ((1 << (p - 1)) - 1)) + (1 << (p - 1)), 1 << (p - 1 + cutoff)) * (1 << (place >> (p - 1)))
            for place in high.tolist()
        ]
        below += np.array([(1 - one) / 2 if negative else one / 2 for one in mass], dtype=object)
    edges = [Fraction(0), *below, Fraction(1)]
    return {one: edges[place + 1] - edges[place] for place, one in enumerate(outcomes)}


def law_by_bisection_of_member(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Every operation is monotone in U*, so the law holds for all U* where it holds at the ends of each outcome."""
    p = {"laplace-snapping": 53, "laplace-snapping-16-bit": 16}[mechanism.name]
    cases: list[tuple[Any, LaplaceParameters]] = [
        (0, PARAMETERS),
        (1, replace(PARAMETERS, epsilon=0.01)),
        (-7.3, replace(PARAMETERS, lower=-4.0, upper=8.0)),
        (np.array([0.1, 0.2, 0.3]), replace(PARAMETERS, query="sum", sensitivity=0.5)),
    ]
    for data, parameters in cases:
        found = law_of(mechanism, data, parameters)
        bound = max(-parameters.lower, parameters.upper)
        scale = scale_for(parameters.epsilon, bound, sensitivity=parameters.sensitivity, precision=p)

        def draw(bits: BitSource, n: int, data: Any = data, parameters: LaplaceParameters = parameters) -> Any:
            return mechanism.sample(data, parameters, bits, n)

        outcomes = np.asarray(found.atoms).tolist()
        assert law_by_bisection(draw, outcomes, p, Snapping(scale, bound, p).cutoff) == masses(found)


REDUCED = [
    (p, scale, bound, value)
    for p, scale, bound in [(6, 1.0, 2.0), (7, 0.8125, 2.75), (8, 1.375, 4.0), (9, 0.640625, 5.0), (10, 3.0, 7.5)]
    for value in (0, 1, -1.03125, 2.0, 1e9)
]


def enumerated(mechanism: Snapping, value: Fraction) -> dict[float, Fraction]:
    """Return the law by drawing every U* with either sign: each has its mass, the last binade all that is left."""
    p, cutoff = mechanism.precision, mechanism.cutoff
    signs, exponents, significands = (
        grid.ravel() for grid in np.meshgrid([0, 1], np.arange(1, cutoff + 1), np.arange(1 << (p - 1), 1 << p))
    )
    drawn = sample(value, mechanism, script(p, cutoff, signs, significands, exponents), len(signs)).tolist()
    weights: Counter[float] = Counter()
    for outcome, exponent in zip(drawn, exponents.tolist(), strict=True):
        weights[outcome] += 1 << (cutoff - exponent if exponent < cutoff else 1)
    assert weights.total() == 1 << (cutoff + p)
    return {outcome: Fraction(weight, weights.total()) for outcome, weight in weights.items()}


@pytest.mark.parametrize(("p", "scale", "bound", "value"), REDUCED)
def test_the_law_counts_every_uniform(p: int, scale: float, bound: float, value: float) -> None:
    mechanism = Snapping(scale, bound, p)
    assert enumerated(mechanism, Fraction(value)) == masses(law(Fraction(value), mechanism))


def test_the_estimate_never_decides_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcomes that binary64 logarithms decided are those of correctly rounded ones, for every draw."""
    for p, bound in ((53, 64.0), (53, 2.0**40), (24, 64.0), (12, 16.0)):
        mechanism = Snapping(scale_for(1.0, 16.0, precision=p), bound, p)
        value = Fraction("-3.7")
        estimated = sample(value, mechanism, seeded_bits(3, world=str(bound)), 20_000)
        with monkeypatch.context() as patch:
            patch.setattr(snapping, "ERRORS", 2.0**70)
            exact = sample(value, mechanism, seeded_bits(3, world=str(bound)), 20_000)
        assert (estimated == exact).all()


def test_the_budget_is_shared_by_the_coordinates() -> None:
    data, p = np.array([0.0, 3.0, -5.0]), 16
    mechanism = Snapping(scale_for(1.0, 64.0, coordinates=3, precision=p), 64.0, p)
    assert mechanism.scale > scale_for(1.0, 64.0, precision=p)
    drawn: Any = SNAPPING_16_BIT.sample(data, PARAMETERS, seeded_bits(1), 50_000)
    bits = seeded_bits(1)
    for column, value in enumerate(data.tolist()):
        assert (drawn[:, column] == sample(Fraction(value), mechanism, bits, 50_000)).all()


def test_a_sum_is_exact_so_that_its_sensitivity_is_what_is_claimed() -> None:
    """Sequential float64 sums of these lie 2^18 sensitivities apart; exact ones, one."""
    count = 1 << 16
    data_out = np.repeat(np.array([1.0, -0.75 * 2.0**-37]), [count, count])
    data_in = np.insert(data_out, count, 2.0**-28)
    parameters = LaplaceParameters(
        epsilon=1.0, sensitivity=2.0**-28, query="sum", grid=-30, lower=0.0, upper=2.0**16 + 1
    )
    assert LAPLACE.adjacent(parameters, data_in, data_out)
    both = [np.asarray(SNAPPING.sample(data, parameters, seeded_bits(1), 2_000)) for data in (data_in, data_out)]
    assert np.abs(both[0] - both[1]).max() <= 2.0**-26


def test_where_no_scale_keeps_the_budget_the_refusal_is_public() -> None:
    parameters = LaplaceParameters(epsilon=1e-15, lower=-64.0, upper=64.0)
    for data in (0.0, 1.0):
        (refused,) = {*SNAPPING.sample(data, parameters, seeded_bits(1), 5)}
        assert isinstance(refused, Refused)
        assert law_of(SNAPPING, data, parameters).probability(refused) == (1, 1)


def mironov_bound(mechanism: Snapping, sensitivity: float | Fraction = 1) -> float:
    """Return Mironov's bound on the privacy loss, (Δ + 12Bη)/λ + 2η with η = 2^−p, rounded up. In nats.

    Stated for Δ = 1 (a query of sensitivity Δ is divided by it, so B and λ are too), f a float of p bits, and
    λ < B < 2^46·λ, here 2^(p−7)·λ. 12 = 2 worlds · 3 roundings · 2B, and 2 = 2 worlds · U*.
    That count leaves out that a difference of two masses has larger relative errors than they have. `loss_bound` has
    them in, so scales are calibrated by it; no law has been found to exceed Mironov's.
    """
    scale, bound = Fraction(mechanism.scale), Fraction(mechanism.bound)
    assert scale < bound < scale * Fraction(2) ** (mechanism.precision - 7)
    unit = Fraction(1, 1 << mechanism.precision)
    return float_up((Fraction(sensitivity) + 12 * bound * unit) / scale + 2 * unit)


def loss(found_in: Law[Any], found_out: Law[Any], bound: float) -> float:
    """Return the largest loss, in nats, after proving that the supports agree and that no loss exceeds the bound."""
    one, other = masses(found_in), masses(found_out)
    assert one.keys() == other.keys()
    factor = exp_bounds(Fraction(bound))[0]
    for atom in one:
        assert one[atom] <= factor * other[atom]
        assert other[atom] <= factor * one[atom]
    ratios = [one[atom] / other[atom] for atom in one]
    return max(abs(log_ratio(ratio.numerator, ratio.denominator)) for ratio in ratios)


@pytest.mark.parametrize(
    ("precision", "epsilon", "bound"),
    [
        (53, 1.0, 64.0),
        (53, 0.1, 256.0),
        (53, 0.01, 256.0),
        (16, 1.5, 8.0),
        (16, 0.01, 256.0),
        (12, 1.0, 8.0),
        (12, 0.1, 16.0),
    ],
)
@pytest.mark.parametrize(("value_in", "value_out"), [(0, 1), (1, 0), (7.25, 6.25), (-8, -7), (0.3, -0.7), (8, 7.5)])
def test_the_same_support_and_a_loss_within_the_bounds(
    precision: int, epsilon: float, bound: float, value_in: float, value_out: float
) -> None:
    mechanism = Snapping(scale_for(epsilon, bound, precision=precision), bound, precision)
    assert loss_bound(mechanism) <= epsilon
    tighter = epsilon
    if mechanism.scale < bound:  # else Mironov states no bound
        tighter = mironov_bound(mechanism)
        assert tighter <= epsilon
    found = loss(law(Fraction(value_in), mechanism), law(Fraction(value_out), mechanism), tighter)
    if precision == 53 and abs(value_in - value_out) == 1:
        assert found > epsilon * (1 - 2**-35)


def test_every_pair_of_values_at_a_low_precision() -> None:
    """Every f from −2 to 2 by steps of 1/16, against every other at a distance of at most 1."""
    mechanism = Snapping(0.90625, 2.0, 9)
    values = [Fraction(step, 16) for step in range(-32, 33)]
    found = [masses(law(value, mechanism)) for value in values]
    assert all(one.keys() == found[0].keys() for one in found)
    for gap in range(1, 17):
        factor = exp_bounds(Fraction(mironov_bound(mechanism, Fraction(gap, 16))))[0]
        for one, other in zip(found, found[gap:], strict=False):
            for atom in one:
                assert max(one[atom], other[atom]) <= factor * min(one[atom], other[atom])


def test_exponents_have_no_least_value() -> None:
    """At B = 400λ noise beyond the 745λ of binary64 matters: both worlds reach both bounds and all between."""
    mechanism = Snapping(1.0, 400.0)
    assert mechanism.cutoff > 1074
    law_in, law_out = law(Fraction(400), mechanism), law(Fraction(399), mechanism)
    assert loss(law_in, law_out, mironov_bound(mechanism)) > 0.999
    assert len(law_in.atoms) == 801
    assert law_in.probability(-400.0)[0] < Fraction(1, 1 << 1074)


def test_ties_are_rounded_towards_infinity() -> None:
    mechanism = Snapping(2.0, 7.0)
    values = np.array([-9.0, -5.0, -3.0, -1.0, 1.0, 3.0, np.nextafter(1, 0), np.nextafter(-1, -2), 0.5, -0.0, 6.5])
    assert mechanism.snapped(values).tolist() == [-7.0, -4.0, -2.0, 0.0, 2.0, 4.0, 0.0, -2.0, 0.0, 0.0, 6.0]
    assert not np.signbit(mechanism.snapped(values)[[3, 9]]).any()


def test_reduced_floats_are_rounded_once() -> None:
    """All sums and products of two floats of 5 bits, against rationals."""
    mechanism = Snapping(1.0, 2.0, 5)
    floats = np.array([np.ldexp(one, exponent) for one in range(16, 32) for exponent in (-20, -11, -6, -4, -1, 0)])
    for one in floats.tolist():
        for operation in (float.__add__, float.__sub__, float.__mul__):
            exactly = [operation_of(operation, Fraction(one), Fraction(other)) for other in floats.tolist()]
            rounded = mechanism.rounded(np.array([operation(one, other) for other in floats.tolist()]))
            assert rounded.tolist() == [nearest(value, 5) for value in exactly]


def operation_of(operation: Any, one: Fraction, other: Fraction) -> Fraction:
    result = getattr(one, operation.__name__)(other)
    assert isinstance(result, Fraction)
    return result


def test_correct_rounding() -> None:
    assert nearest(Fraction(5, 4), 2) == 1.0  # a tie, to even
    assert nearest(Fraction(7, 4), 2) == 2.0
    assert nearest(Fraction(5, 4) + Fraction(1, 2**80), 2) == 1.5  # rounded to 53 bits first, it would be a tie
    assert above(Fraction(5, 4), 2) == 1.5
    assert above(Fraction(3), 1) == 4.0
    for one, shift in ((9, 4), (15, 4), (8, 3000), (15, 3000)):
        low, high = log_bounds(Fraction(one, 1 << shift))
        for p in (4, 11, 53):
            assert nearest_logs([one], [shift], p) == [nearest(low, p)] == [nearest(high, p)]


def test_the_bounds() -> None:
    mechanism = Snapping(1.0, 64.0)
    assert mironov_bound(mechanism) == 1 + 770 * 2.0**-53
    assert mironov_bound(Snapping(1.0, 64.0 + 2.0**-46)) == 1 + 772 * 2.0**-53
    assert mironov_bound(mechanism) < loss_bound(mechanism) < 1 + 2e-13
    assert loss_bound(mechanism, 3.0, 2) == pytest.approx(3.0, rel=1e-12)
    for epsilon, bound, p in ((1.0, 64.0, 53), (0.01, 1000.0, 53), (2.0, 1.0, 12), (1.0, 64.0, 16)):
        for coordinates, sensitivity in ((1, 1.0), (3, 0.25)):
            options: Any = {"coordinates": coordinates, "sensitivity": sensitivity}
            scale = scale_for(epsilon, bound, precision=p, **options)
            assert loss_bound(Snapping(scale, bound, p), **options) <= epsilon
            less = nearest(Fraction(scale) * (1 - Fraction(1, 1 << p)), p)
            assert less < scale
            assert loss_bound(Snapping(less, bound, p), **options) > epsilon
