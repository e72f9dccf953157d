"""Other people's libraries: what they are known to break on, what they withstand, and that they are asked rightly.

Their randomness is their own. A row says VIOLATED of a mechanism that keeps its promise with probability ALPHA at the
most, and so does a test of fit fail: that is the false-alarm rate of each assertion here.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from subnormal import Claim, check, within
from subnormal.attacks.additive.absorption import absorption
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.additive.sensitivity_underestimation import (
    rounding_worlds,
    sensitivity_rounding,
    sensitivity_rounding_float64,
)
from subnormal.attacks.catalogue import attack, attacks
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.row import examine
from subnormal.audit.model import Report, Row, Verdict
from subnormal.audit.report import table, to_html, to_json
from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters, gaussian_claim
from subnormal.mechanisms.bits import seeded_bits
from subnormal.mechanisms.core.mechanism import AnyMechanism, Refused
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import FAMILIES, absent, installed, members
from subnormal.mechanisms.laplace import exact as laplace_exact
from subnormal.mechanisms.libraries import drawn
from tests.support.float_sums import jump, pairwise

ALPHA = 1e-6
DRAWN = 5_000

EVERY = [one for of in FAMILIES for one in (*members(of), *absent(of)) if one.package]
LIBRARY = {one.name: one for one in EVERY if one.package != "ml_dtypes"}  # which are our mechanisms in its float types


def library(name: str) -> AnyMechanism:
    """Return the member; skip the test where its package is not installed."""
    found = LIBRARY[name]
    if installed(found.package) is None:
        pytest.skip(f"{found.package} is not installed: pip install -e '.[libraries]'")
    return found


def row(name: str, against: AnyAttack) -> Row:
    made = examine(Crossing(against, library(name)), seed=1, runs=100_000, alpha=ALPHA)
    assert made.error is None
    assert made.sampled is not None
    assert not made.reproducible
    return made


def verdict(made: Row) -> Verdict:
    assert made.sampled is not None
    return made.sampled.verdict


def sample(name: str, data: Any, parameters: Any, n: int = DRAWN) -> Any:
    return library(name).sample(data, parameters, seeded_bits(1), n)


def test_diffprivlib_laplace_breaks_on_the_grid_of_the_sum() -> None:
    """Haney et al. 2022: four variates do not help where value and noise are added in floats."""
    made: Any = row("diffprivlib-laplace", grid_precision())
    assert verdict(made) is Verdict.VIOLATED
    assert made.sampled.event_in[0] == 0
    assert made.sampled.event_in[1] < 0.001
    assert made.sampled.event_out == pytest.approx((0.2, 0.2), abs=0.03)


@pytest.mark.parametrize("name", ["diffprivlib-snapping", "opendp-laplace", "pydp-laplace"])
@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_snapping_and_noise_on_a_grid_withstand_it(name: str, epsilon: float) -> None:
    assert verdict(row(name, grid_precision(epsilon))) is Verdict.NOT_REFUTED


def test_pydp_releases_multiples_of_2_to_the_minus_40_whatever_the_value() -> None:
    """Value and noise are multiples of the scale's 2^−40th part, a power of two: nothing is off the grid 2^−53."""
    for value in (0.0, 1.0, 1 / 3):
        outcomes = np.ldexp(sample("pydp-laplace", value, LaplaceParameters(epsilon=1.0)), 40)
        assert (outcomes == np.rint(outcomes)).all()
        assert (outcomes % 2 == 1).any()


def test_diffprivlib_sum_breaks_by_one_rounding() -> None:
    """Casacuberta et al. 2022: 65 records, of which one moves the sum 64 times as far as noise is scaled for."""
    assert jump(partial(pairwise, float_type=np.float64), rounding_worlds(6, np.float64)) == 64
    made: Any = row("diffprivlib-sum", sensitivity_rounding_float64())
    assert verdict(made) is Verdict.VIOLATED
    assert made.sampled.event_in[0] > 0.99
    assert made.sampled.event_out[1] < 0.01


def test_diffprivlib_sum_of_records_that_floats_add_exactly_is_not_refuted() -> None:
    """The control: the same attack where no addition rounds."""
    ones = np.ones(65)
    without = np.append(ones[:-1], 0.0)
    parameters = LaplaceParameters(epsilon=1.0, query="sum", lower=0.0, upper=128.0, record_bounds=(0.0, 1.0))
    harmless = replace(sensitivity_rounding_float64(), worlds=lambda: (ones, without), parameters=parameters)
    assert verdict(row("diffprivlib-sum", harmless)) is Verdict.NOT_REFUTED


@pytest.mark.parametrize("twin", [laplace_exact.BASE2, laplace_exact.BASE_E], ids=lambda twin: twin.name)
def test_exact_sums_withstand_the_same_records(twin: AnyMechanism) -> None:
    made: Any = examine(Crossing(sensitivity_rounding_float64(), twin), seed=1, runs=10_000, alpha=ALPHA)
    assert (made.exact.verdict, made.exact.within) == (Verdict.HOLDS, 0)
    parameters = sensitivity_rounding_float64().parameters
    assert (Fraction(parameters.upper) - Fraction(parameters.lower)) / Fraction(2) ** parameters.grid <= 4096


@pytest.mark.parametrize(
    ("against", "expected"),
    [
        (zero_rounding(), Verdict.NOT_REFUTED),
        (truncated_addition(), Verdict.UNDERPOWERED),
        (truncated_addition(epsilon=2.0, outcomes=100), Verdict.NOT_REFUTED),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_opendp_noisy_max_withstands_the_attacks_on_weights(against: AnyAttack, expected: Verdict) -> None:
    assert verdict(row("opendp-noisy-max", against)) is expected


SIGMA = 3.0
NOISY = GaussianParameters(sensitivity=1.0, sigma=SIGMA, delta=1e-6)

FITS: list[tuple[str, Any, Callable[[Any], Any]]] = [
    ("opendp-laplace", LaplaceParameters(epsilon=0.5), stats.laplace(scale=2).cdf),
    ("diffprivlib-laplace", LaplaceParameters(epsilon=0.5), stats.laplace(scale=2).cdf),
    ("pydp-laplace", LaplaceParameters(epsilon=0.5), stats.laplace(scale=2).cdf),
    ("opendp-gaussian", NOISY, stats.norm(scale=SIGMA).cdf),
    ("pydp-gaussian", NOISY, stats.norm(scale=SIGMA).cdf),
]


@pytest.mark.parametrize(("name", "parameters", "ideal"), FITS, ids=[name for name, _, _ in FITS])
def test_noise_has_the_scale_that_the_parameters_ask_for(
    name: str, parameters: Any, ideal: Callable[[Any], Any]
) -> None:
    noise = sample(name, 7, parameters) - 7
    assert stats.kstest(noise, ideal).pvalue > ALPHA
    # A scale half as large again would be seen: the distance is 0.074 or more, and 0.038 is enough for ALPHA.
    assert stats.kstest(noise * 1.5, ideal).pvalue < ALPHA


@pytest.mark.parametrize("name", ["opendp-geometric", "diffprivlib-geometric"])
def test_integers_get_geometric_noise(name: str) -> None:
    """By the number of outcomes that hit the value, and by how many lie above it: binomial, with tails of ALPHA."""
    outcomes = sample(name, 7, LaplaceParameters(epsilon=0.5, grid=0))
    assert outcomes.dtype == np.int64
    q = np.exp(-0.5)
    for found, expected in (((outcomes == 7).sum(), (1 - q) / (1 + q)), ((outcomes > 7).sum(), q / (1 + q))):
        assert stats.binomtest(int(found), DRAWN, expected).pvalue > ALPHA
    assert stats.binomtest(int((outcomes == 7).sum()), DRAWN, (1 - q**2) / (1 + q**2)).pvalue < ALPHA


@pytest.mark.parametrize("name", ["diffprivlib-gaussian", "diffprivlib-gaussian-discrete"])
def test_diffprivlib_finds_a_sigma_of_its_own_for_the_claim(name: str) -> None:
    """Less than the family's, whose conversion from zCDP is not tight."""
    noise = sample(name, 7, NOISY) - 7
    low, high = DRAWN * noise.std() ** 2 / stats.chi2(DRAWN - 1).ppf([1 - ALPHA / 2, ALPHA / 2])
    assert high**0.5 > 0.5 * SIGMA
    assert low**0.5 < SIGMA
    assert gaussian_claim(NOISY, 0, 1).delta == NOISY.delta


def test_snapping_releases_multiples_of_its_step_within_bounds() -> None:
    outcomes = sample("diffprivlib-snapping", 0.3, LaplaceParameters(epsilon=0.5, lower=-8.0, upper=8.0))
    assert {-8.0, 8.0} < set(outcomes.tolist()) <= set(np.arange(-8.0, 8.5, 2.0).tolist())


@pytest.mark.parametrize("name", ["opendp-noisy-max", "diffprivlib-exponential"])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_selection_prefers_low_utilities_at_the_rate_of_the_budget(name: str, kind: Any) -> None:
    """Two outcomes a utility of 2 apart: 1/(1 + e^−1) at ε = Δ = 1 for weights, 1 − e^−1/2 for exponential noise."""
    parameters = ExponentialParameters(1.0, Limits(0, 4, 2))
    chosen = sample(name, np.array([3, 1], dtype=kind), parameters)
    expected = {"opendp-noisy-max": 1 - np.exp(-1) / 2, "diffprivlib-exponential": 1 / (1 + np.exp(-1))}[name]
    assert stats.binomtest(int((chosen == 1).sum()), DRAWN, expected).pvalue > ALPHA


@pytest.mark.parametrize(
    "name", ["opendp-laplace", "diffprivlib-laplace", "pydp-laplace", "opendp-gaussian", "pydp-gaussian"]
)
def test_a_vector_gets_noise_on_each_coordinate(name: str) -> None:
    parameters = NOISY if name.endswith("gaussian") else LaplaceParameters(epsilon=1.0)
    outcomes = sample(name, np.array([0.0, 1000.0]), parameters, 500)
    assert outcomes.shape == (500, 2)
    assert abs(outcomes.mean(axis=0) - [0, 1000]).max() < 5  # more than 30 standard deviations of the mean
    assert len(np.unique(outcomes - [0, 1000])) > 990
    assert sample(name, 0.5, parameters, 3).shape == (3,)


def test_members_are_spared_what_they_are_not_made_for() -> None:
    takes = {name: one.takes for name, one in LIBRARY.items() if one.takes is not None}

    def taken(against: AnyAttack) -> set[str]:
        of = {name for name, one in LIBRARY.items() if one.family == against.family}
        return {name for name in of if all(takes[name](data, against.parameters) for data in against.worlds())}

    laplace = {name for name, one in LIBRARY.items() if one.family == "laplace"} - {"diffprivlib-sum"}
    assert taken(grid_precision()) == laplace
    assert taken(attack("least-significant-bits")) == {name for name in laplace if not name.endswith("geometric")}
    assert taken(sensitivity_rounding_float64()) == {"diffprivlib-sum"}
    doubled = replace(sensitivity_rounding_float64().parameters, sensitivity=2.0**-52)
    assert taken(replace(sensitivity_rounding_float64(), parameters=doubled)) == set()  # its claim is the bounds' own
    assert taken(sensitivity_rounding()) == set()  # nobody says what bounds its records have
    assert taken(absorption()) == set()  # no float64 is its count
    assert taken(attack("rounded-addition-float32")) == set()  # four million utilities
    met = crossings([absorption(), sensitivity_rounding()], everything=True)
    assert not any(one.mechanism.package for one in met)
    assert taken(attack("zero-rounding")) == {"opendp-noisy-max", "diffprivlib-exponential"}


def test_libraries_meet_quick_attacks_and_by_name_every_one() -> None:
    library("diffprivlib-laplace")
    met = {one.attack.name for one in crossings(attacks()) if one.mechanism.name == "diffprivlib-laplace"}
    assert "least-significant-bits" in met
    assert "least-significant-bits-float32" not in met
    named = {one.attack.name for one in crossings(attacks(), mechanisms=["diffprivlib-laplace"])}
    assert "least-significant-bits-float32" in named


def test_the_version_audited_is_in_the_report() -> None:
    made = row("pydp-laplace", grid_precision())
    told = f"python-dp {installed('python-dp')}"
    assert made.package == told
    assert table.columns(made)["mechanism"] == f"pydp-laplace ({told})"
    report = Report("0", 1, 1, 0.05, 0.05, {}, (made,))
    assert f'"package": "{told}"' in to_json.to_json(report)
    assert told in to_html.to_html(report)
    ours = examine(Crossing(grid_precision(), laplace_exact.BASE2), seed=1, runs=10, alpha=ALPHA)
    assert ours.package is None
    assert table.columns(ours)["mechanism"] == "laplace-exact"


def test_an_exception_of_a_library_is_an_outcome() -> None:
    answers = iter([1.0, None, 3.0])

    def release() -> float:
        answer = next(answers)
        if answer is None:
            raise RuntimeError("no candidate")
        return answer

    assert drawn(release, 3, np.float64) == [1.0, Refused("RuntimeError: no candidate"), 3.0]


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (0.0, np.inf), (np.nan, 1.0)])
def test_bounds_of_records_must_make_sense(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="record_bounds must be"):
        LaplaceParameters(epsilon=1.0, record_bounds=bounds)


def opendp_integers(value: int, runs: int) -> list[int]:
    """OpenDP's Laplace noise of scale 1 on its default integers, which are of 32 bits."""
    from opendp import prelude

    prelude.enable_features("contrib")
    domain, distance = prelude.vector_domain(prelude.atom_domain(T=int)), prelude.l1_distance(T=int)
    released: list[int] = prelude.m.make_laplace(domain, distance, scale=1.0)([value] * runs)
    return released


@pytest.mark.usefixtures("own_clock")
def test_opendp_on_integers_of_32_bits_is_not_accused() -> None:
    """False-alarm rate: ALPHA. Nothing is searched beyond the bounds of the domain."""
    assert installed(library("opendp-laplace").package)
    domain = st.integers(-(1 << 31), (1 << 31) - 1)
    claim = Claim(1.0)
    found = check(opendp_integers, domain, within(1), claim, batch=True, seconds=4, runs=20_000, alpha=ALPHA)
    assert found.verdict is Verdict.NOT_REFUTED
