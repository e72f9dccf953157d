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
from subnormal.mechanisms.laplace.snapping_bounds import Snapping, scale_for
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
