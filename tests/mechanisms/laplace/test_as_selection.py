"""Laplace noise as a selection: laws by every string of bits, the fast path against the slow one, the claim."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.model import Verdict
from subnormal.mechanisms.additive.family import LAPLACE, LaplaceParameters
from subnormal.mechanisms.bits import BitSource, seeded_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace import as_selection as laplace_as_selection
from subnormal.mechanisms.privacy import Claim, Eta, noise_eta, selection_claim

MEMBER = laplace_as_selection.BASE2
TINY: dict[str, Any] = {"grid": -1, "lower": -0.5, "upper": 0.5}


def check_law(mechanism: Mechanism[Any, Any, Any]) -> None:
    """Two bits a word, twelve bits deep: what is decided lies below the law, and the law below that plus the rest."""
    assert mechanism.law is not None
    for data in (0, 0.3, -7, np.array([0.25, 0.5])):
        for grid, lower, upper in ((-1, -0.5, 0.5), (0, 0.0, 2.0), (1, -2.0, 2.0), (-3, 0.125, 0.125)):
            for epsilon in (0.3, 2.0):
                parameters = LaplaceParameters(
                    epsilon=epsilon, grid=grid, lower=lower, upper=upper, query="sum", sensitivity=0.5
                )

                def draw(bits: BitSource, data: Any = data, parameters: Any = parameters) -> Any:
                    return mechanism.sample(data, parameters, bits, 1)[0].item()

                law = mechanism.law(data, parameters)
                walked = exhaustive.law(draw, depth=12, word_bits=2)
                assert walked.rest <= Fraction(len(law.atoms) - 1, 1 << 12)
                assert {*walked.atoms} <= {atom.item() for atom in law.atoms}  # type: ignore[union-attr]
                for atom in law.atoms:
                    (low, high), least = law.probability(atom), walked.probability(atom.item())[0]  # type: ignore[union-attr]
                    assert low == high
                    assert least <= low <= least + walked.rest


def test_a_law_that_drifts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of a lower rate than the code's."""

    def drifted(data: Any, parameters: Any) -> Law[Any]:
        with monkeypatch.context() as patched:
            patched.setattr(laplace_as_selection, "noise_eta", lambda epsilon, steps: noise_eta(epsilon * 0.8, steps))
            return laplace_as_selection._law_member(data, parameters)

    with pytest.raises(AssertionError):
        check_law(Mechanism(MEMBER.name, MEMBER.family, MEMBER.sample, MEMBER.claim, drifted))


@pytest.mark.parametrize("value", [-9, -0.75, 0.2, 0.25, 0.3, Fraction(1, 3), 2**80])
@pytest.mark.parametrize("eta", [Eta(1, 1, 1), Eta(3, 2, 1)])
def test_the_law_is_the_formula(value: Any, eta: Eta) -> None:
    """On the grid of quarters: rounded half up, clamped to ±1, weight B for each step."""
    nearest = min(max(math.floor(Fraction(value) * 4 + Fraction(1, 2)), -4), 4)
    weights = [eta.base ** abs(step - nearest) for step in range(-4, 5)]
    law = laplace_as_selection.law(value, eta, grid=-2, lower=-1, upper=1)
    assert list(law.atoms) == [step / 4 for step in range(-4, 5)]
    for step, weight in zip(range(-4, 5), weights, strict=True):
        assert law.probability(step / 4) == (weight / sum(weights),) * 2


@pytest.mark.parametrize("method", ["theoretical", "empirical"])
@pytest.mark.parametrize("sampler", ["all-bits", "bit-by-bit"])
def test_the_papers_own_algorithms_have_the_same_law(method: base2.PrecisionMethod, sampler: base2.Sampler) -> None:
    """By every string of twelve bits, three more than one try of the greater precision."""
    options: dict[str, Any] = {"precision_method": method, "sampler": sampler}
    law, outcomes = laplace_as_selection.law(0.4, Eta(1, 1, 1), **TINY), laplace_as_selection.outcomes(**TINY)
    distances, limits = laplace_as_selection.steps(0.4, **TINY), Limits(0, len(outcomes) - 1, len(outcomes))

    def draw(bits: BitSource) -> float:
        chosen = base2.sample(distances, Eta(1, 1, 1), bits, 1, limits=limits, **options)
        return float(outcomes[chosen][0])

    walked = exhaustive.law(draw, depth=12)
    assert walked.rest < Fraction(1, 2)
    for atom in law.atoms:
        least = walked.probability(float(atom))[0]  # type: ignore[arg-type]
        assert least <= law.probability(atom)[0] <= least + walked.rest


@pytest.mark.parametrize(
    ("eta", "grid", "upper"), [(Eta(3, 2, 1), -2, 2), (Eta(1, 1, 40), -1, 2), (Eta(3, 2, 1), -66, 2.0**-60)]
)
def test_where_it_is_not_fast_it_is_the_papers_mechanism(eta: Eta, grid: int, upper: float) -> None:
    """Another base than a power of two, weights beyond a word; and fractions beyond one are cut to 64 bits."""
    ours, theirs = seeded_bits(2), seeded_bits(2)
    public: dict[str, Any] = {"grid": grid, "lower": 0, "upper": upper}
    drawn = laplace_as_selection.sample_rounded(0, eta, ours, 40, **public)
    units = np.ldexp(laplace_as_selection.steps(0, **public).astype(np.float64), grid)
    limits = Limits(0, math.ceil(upper), len(units))
    precision = {-2: 2, -1: 1, -66: 64}[grid]
    expected = base2.sample(units, eta, theirs, 40, limits=limits, rounding_precision=precision)
    assert drawn.tolist() == laplace_as_selection.outcomes(**public)[expected].tolist()


def test_a_grid_of_integers_needs_no_rounding() -> None:
    drawn = laplace_as_selection.sample_rounded(5, Eta(1, 1, 1), seeded_bits(1), 10, grid=1, lower=-8, upper=8)
    expected = laplace_as_selection.sample(5, Eta(1, 1, 2), seeded_bits(1), 10, grid=1, lower=-8, upper=8)
    assert drawn.tolist() == expected.tolist()
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
@pytest.mark.parametrize(("grid", "sensitivity"), [(-2, 1.0), (-2, 0.3), (0, 2.0), (1, 1.0), (-3, 1 / 3)])
def test_the_member_keeps_its_claim_on_every_pair_of_a_small_range(
    epsilon: float, grid: int, sensitivity: float
) -> None:
    """Values on and just below the eighths, beyond the bounds too. The budget is used, but for selection's factor 2."""
    parameters = LaplaceParameters(epsilon=epsilon, grid=grid, lower=-2.0, upper=2.0, sensitivity=sensitivity)
    assert MEMBER.law is not None
    losses = []
    for eighth in np.arange(-3, 3, 1 / 8).tolist():
        for data_in in (eighth, math.nextafter(eighth, -9)):
            data_out = data_in + sensitivity
            if not LAPLACE.adjacent(parameters, data_in, data_out):  # the float sum was rounded up
                data_out = math.nextafter(data_out, -9)
            assert LAPLACE.adjacent(parameters, data_in, data_out)
            law_in, law_out = (MEMBER.law(data, parameters) for data in (data_in, data_out))
            evidence = exact.compare(law_in, law_out, MEMBER.claim(parameters, data_in, data_out))
            assert evidence.verdict is Verdict.HOLDS
            assert evidence.within == 0
            losses.append(evidence.epsilon)
    assert max(losses) >= 0.499 * epsilon
    eta = laplace_as_selection.member_eta(parameters)
    steps = math.ceil(sensitivity / 2.0**grid)
    assert 0.9999 * epsilon < selection_claim(eta, steps).epsilon <= epsilon


def test_a_rate_twice_too_large_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test of the test: noise without the factor 2 of selection does not hold at the edge of the range."""
    monkeypatch.setattr(laplace_as_selection, "noise_eta", lambda epsilon, steps: noise_eta(2 * epsilon, steps))
    parameters = LaplaceParameters(epsilon=1.0, grid=0, lower=-2.0, upper=2.0)
    law_in, law_out = (laplace_as_selection._law_member(data, parameters) for data in (-2, -1))
    assert exact.compare(law_in, law_out, Claim(1.0)).verdict is Verdict.VIOLATED


def test_coordinates_sums_and_whole_numbers() -> None:
    vector = np.array([0.5, -1.0, 3.0])
    parameters = LaplaceParameters(epsilon=900.0, lower=-4.0, upper=4.0)
    drawn = np.asarray(MEMBER.sample(vector, parameters, seeded_bits(1), 5))
    assert drawn.tolist() == [vector.tolist()] * 5  # at ε = 900 a wrong step has a chance of e^−25
    with pytest.raises(NoLawError, match="over all combinations of the coordinates"):
        laplace_as_selection._law_member(vector, parameters)
    summed = LaplaceParameters(epsilon=900.0, lower=-4.0, upper=4.0, query="sum")
    assert np.asarray(MEMBER.sample(vector, summed, seeded_bits(1), 5)).tolist() == [2.5] * 5
    large = 2.0**60
    whole = LaplaceParameters(epsilon=1.0, grid=0, lower=large - 256, upper=large + 256)
    counted = np.asarray(MEMBER.sample(2**60 + 129, whole, seeded_bits(1), 1000))
    assert counted.dtype == np.int64
    assert (counted % 2 == 1).any()
    assert abs((counted - (2**60 + 129)).mean()) < 1


def test_a_law_too_large_is_refused_by_name() -> None:
    parameters = LaplaceParameters(epsilon=1.0, grid=-10)
    with pytest.raises(NoLawError, match="the law of 131073 outcomes takes"):
        laplace_as_selection._law_member(0, parameters)
    assert len(np.asarray(MEMBER.sample(0, parameters, seeded_bits(1), 3))) == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: laplace_as_selection.outcomes(grid=0, lower=0.5, upper=1),
            r"lower must be a multiple of 2\^0, got 0.5",
        ),
        (lambda: laplace_as_selection.outcomes(grid=0, lower=2, upper=1), "lower = 2 must not be above upper = 1"),
        (
            lambda: laplace_as_selection.outcomes(grid=-30, lower=0, upper=1),
            "makes 1073741825 outcomes, more than 16777216",
        ),
        (
            lambda: laplace_as_selection.outcomes(grid=-4, lower=0, upper=2**50),
            "upper = 1125899906842624 must be at most",
        ),
        (lambda: laplace_as_selection.outcomes(grid=0, lower=2**63 - 1, upper=2**63), "or an integer of 64 bits"),
        (
            lambda: laplace_as_selection.sample_rounded(0, Eta(1, 1, 1), seeded_bits(1), -1, **TINY),
            "n must not be negative, got -1",
        ),
    ],
)
def test_bad_input_is_named_with_its_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
