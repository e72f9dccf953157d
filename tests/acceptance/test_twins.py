"""Every attack breaks the twin it is for, and fails on every exact one: in the default report, row by row."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

from subnormal.attacks import catalogue
from subnormal.attacks.catalogue import attacks
from subnormal.attacks.core.attack import Attack
from subnormal.audit.evidence import side_channels
from subnormal.audit.evidence.sampled import pilot
from subnormal.audit.model import ExactEvidence, Report, Row, SampledEvidence, Verdict
from subnormal.mechanisms.families import absent, family, member, members
from tests.conftest import attacks_read
from tests.support.attack_files import file_of

Rows = dict[tuple[str, str], Row]

ALPHA = 1e-6
PROVED = [attack for attack in attacks() if attack.channel != "time"]  # a clock proves nothing: no test rests on one
SAMPLED_ONLY = {
    "laplace-naive-float64",
    "laplace-rounded",
    "gaussian-naive-float64",
    "gaussian-naive-float32",
    "gaussian-ziggurat-float32",
    "diffprivlib-sum",
    "gaussian-textbook",
    "opendp-threshold",
}
LAW_ONLY = {"rejection-tries-two-outcomes", "gumbel-ties"}  # a single draw takes millions of random bits
FINITE = {
    "gumbel-ties",
    "finite-threshold",
    "uneven-choice",
    # The laws of unbounded noise end at a rest of 2^−64, which may be anywhere.
    *("batch-size", "empty-batch", "norm-overflow", "batch-clipping", "microbatch-noise", "shuffling"),
    "rejection-tries-two-outcomes",  # no count is impossible, and a law ends at a rest of 2^−64
    *(f"sparse-vector-{name}" for name in ("noisy-value", "unscaled-noise", "no-cutoff")),
}


def exact(row: Row) -> ExactEvidence:
    assert row.exact is not None
    return row.exact


def sampled(row: Row) -> SampledEvidence:
    assert row.sampled is not None
    return row.sampled


@pytest.mark.parametrize("attack", PROVED, ids=lambda attack: attack.name)
def test_breaks_the_naive_twin(attack: Attack[Any, Any, Any], rows: Rows) -> None:
    left_out = {one.name for one in absent(family(attack.family))}
    for name in attack.breaks:
        if name in left_out:
            pytest.skip(f"the package of {name} is not installed")
        row = rows[attack.name, name]
        if row.exact is None:  # a law too large to write down: then a sample has to do
            assert name in SAMPLED_ONLY, f"{name} has no law here: give it one, or add it to SAMPLED_ONLY in {__file__}"
            convicted = (sampled(row).verdict, sampled(row).convicted_by) == (Verdict.VIOLATED, "event")
            assert convicted, f"{file_of(attack)}: the runs with the event of {attack.name} do not convict {name}"
            continue
        assert exact(row).verdict is Verdict.VIOLATED, f"{file_of(attack)}: {attack.name} does not break {name}"
        assert attack.event is not None
        by_event = {one.event_verdict for one in (exact(row), row.exhaustive) if one is not None}
        assert by_event == {Verdict.VIOLATED}, f"{file_of(attack)}: the event of {attack.name} does not convict {name}"
        assert row.claim is not None
        finite = (
            f"the loss of {attack.name} on {name} is finite: if its derivation says so, add it to FINITE in {__file__}"
        )
        assert exact(row).epsilon == math.inf or attack.name in FINITE, finite
        assert exact(row).epsilon > row.claim.epsilon
        assert exact(row).advantage is not None
        if attack.name in LAW_ONLY:
            assert row.sampled is None
            continue
        no_runs = f"{name} declares that it takes no runs here: add {attack.name} to LAW_ONLY in {__file__}"
        assert row.sampled is not None, no_runs
        assert sampled(row).advantage[0] <= (exact(row).advantage or 0) <= sampled(row).advantage[1]


@pytest.mark.parametrize("attack", PROVED, ids=lambda attack: attack.name)
def test_fails_on_the_exact_twins_and_on_the_fixes(attack: Attack[Any, Any, Any], rows: Rows) -> None:
    twins = [one for one in members(family(attack.family)) if one.exact and not one.variant_of]
    if attack.channel is not None:  # permute-and-flip says nothing of its traces
        twins = [one for one in twins if one.trace_law is not None]
    exact_twins = [one.name for one in twins if one.name not in attack.breaks]
    assert exact_twins, f"no exact member of {attack.family} can be tried: add one, as CONTRIBUTING.md says"
    if {one.name for one in absent(family(attack.family))}.issuperset(attack.breaks):
        pytest.skip(f"the packages of {', '.join(attack.breaks)} are not installed")
    for name in (*exact_twins, *attack.fixes):
        row = rows[attack.name, name]
        if attack.name.startswith("box-muller"):  # the law of a pair is too large to write down
            assert row.exact is None
            assert sampled(row).verdict is Verdict.NOT_REFUTED
            continue
        resists = exact(row).verdict is exact(row).event_verdict is Verdict.HOLDS
        assert resists, f"{file_of(attack)}: {name} must resist {attack.name}, an exact member or a fix"
        assert exact(row).within == 0 if attack.channel is None else (exact(row).within or 0) < 2**-60
        assert row.sampled is None or row.sampled.verdict is not Verdict.VIOLATED


def test_rows_are_made_for_those_attacks_alone_that_the_chosen_tests_are_about() -> None:
    def chosen(*fixtures: str, **parameters: object) -> SimpleNamespace:
        return SimpleNamespace(fixturenames=fixtures, callspec=SimpleNamespace(params=parameters))

    one, other = attacks()[:2]
    about = [chosen("report", attack=one), chosen("report", attack=other), chosen("tmp_path", name="anything")]
    assert attacks_read(about) == {one.name, other.name}
    of_all = [chosen("report", name=one.name), SimpleNamespace(fixturenames=("report",))]
    for reader in of_all:
        assert attacks_read([*about, reader]) == {attack.name for attack in attacks()}


def test_every_sample_fits_its_law(report: Report) -> None:
    """More small p-values than chance gives, with a false-alarm rate of ALPHA for each size."""
    fits = [row.sampled.fit for row in report.rows if row.sampled is not None and row.sampled.fit is not None]
    assert len(fits) >= 15
    values = [p for fit in fits for p in (fit.p_in, fit.p_out)]
    for small in (0.001, 0.01, 0.1):
        assert sum(p <= small for p in values) <= stats.binom.ppf(1 - ALPHA, len(values), small)


def test_zero_rounding(rows: Rows) -> None:
    naive, base2 = rows["zero-rounding", "exponential-naive-float64"], rows["zero-rounding", "exponential-base2"]
    assert naive.advantage_allowed == math.tanh(0.25)
    assert exact(naive).advantage == 0.99
    assert sampled(naive).verdict is Verdict.VIOLATED
    assert 0 < (exact(base2).advantage or 0) < math.tanh(0.25)
    assert sampled(base2).verdict is Verdict.NOT_REFUTED


def test_zero_rounding_on_two_outcomes(rows: Rows) -> None:
    naive = rows["zero-rounding-two-outcomes", "exponential-naive-float64"]
    assert (exact(naive).advantage, exact(naive).delta) == (1, 1)
    shifted = rows["zero-rounding-two-outcomes", "exponential-naive-shifted"]
    assert exact(shifted).advantage == pytest.approx(math.tanh(0.125), rel=1e-12)


def test_a_refusal_that_depends_on_alice(rows: Rows) -> None:
    row = rows["zero-rounding-refusal", "exponential-naive-positive"]
    assert exact(row).advantage == 1
    assert sampled(row).verdict is Verdict.VIOLATED


def test_truncated_addition(rows: Rows) -> None:
    for variant in ("float64", "shifted"):
        row = rows["truncated-addition", f"exponential-naive-{variant}"]
        assert exact(row).event_in == (1, 1)
        assert exact(row).event_out == pytest.approx((0.001, 0.001), rel=1e-9)
        assert sampled(row).verdict is Verdict.UNDERPOWERED


LSB = "least-significant-bits"


@pytest.mark.parametrize(("epsilon", "advantage", "ideal"), [("", 0.669, 0.3935), ("@epsilon=0.01", 0.613, 0.005)])
def test_least_significant_bits_of_float32(rows: Rows, epsilon: str, advantage: float, ideal: float) -> None:
    name = f"{LSB}-float32{epsilon}"
    naive = rows[name, "laplace-naive-float32"]
    assert exact(naive).event_in == (1, 1)
    assert exact(naive).advantage == pytest.approx(advantage, abs=0.002)
    assert exact(naive).total_variation == pytest.approx(advantage, abs=0.002)
    assert naive.claim is not None
    assert -math.expm1(-naive.claim.epsilon / 2) == pytest.approx(ideal, abs=0.0001)
    assert exact(rows[name, "laplace-exact"]).total_variation <= ideal + 0.0001


def test_least_significant_bits_of_float64(rows: Rows) -> None:
    """The event marks every output from 1; who guesses 1 when it happens is right with (1 + advantage)/2 at least."""
    naive = rows[f"{LSB}@epsilon=0.01", "laplace-naive-float64"]
    assert sampled(naive).event_in[1] == 1
    assert (1 + sampled(naive).advantage[0]) / 2 >= 0.85
    assert (1 + (naive.advantage_allowed or 0)) / 2 == pytest.approx(0.5025, abs=1e-4)


@pytest.mark.parametrize(("name", "expected"), [("grid-precision", 0.2718), ("grid-precision@epsilon=0.1", 0.0326)])
def test_grid_precision(rows: Rows, name: str, expected: float) -> None:
    rounded = sampled(rows[name, "laplace-rounded"])
    assert rounded.event_in[0] == 0
    assert rounded.event_out[0] <= expected <= rounded.event_out[1]
    assert abs(sum(rounded.event_out) / 2 - expected) < 0.002


def test_box_muller_inversion(rows: Rows) -> None:
    for name in ("box-muller-inversion", "box-muller-inversion@sigma=20.0"):
        naive = sampled(rows[name, "gaussian-naive-float64"])
        assert naive.event_out[0] == 0
        assert (1 + naive.advantage[0]) / 2 >= 0.95


def test_sensitivity_and_absorption_separate_the_worlds(rows: Rows) -> None:
    for name in ("sensitivity-rounding", "sensitivity-repeated-rounding"):
        assert exact(rows[name, "laplace-naive-float32"]).total_variation == pytest.approx(1, abs=1e-12)
    assert exact(rows["absorption", "laplace-naive-float64"]).total_variation == 1
    assert exact(rows["absorption", "laplace-exact"]).total_variation == pytest.approx(math.tanh(0.5))


def test_sparse_vector(rows: Rows) -> None:
    """The figures of the published variants at ε = 1, and an absorbed threshold's certainty."""
    naive = exact(rows["absorbed-threshold", "sparse-vector-naive"])
    assert (naive.event_in, naive.event_out) == ((0, 0), (1, 1))
    assert exact(rows["sparse-vector-noisy-value", "sparse-vector-algorithm-3"]).epsilon == 5 / 2  # (m+1)/2, m = 4
    assert exact(rows["sparse-vector-noiseless-answers", "sparse-vector-algorithm-5"]).epsilon == math.inf
    for name in ("noisy-value", "unscaled-noise", "noiseless-answers", "no-cutoff"):
        broken = next(row for (attack, _), row in rows.items() if attack == f"sparse-vector-{name}")
        assert sampled(broken).verdict is Verdict.VIOLATED
    rare = rows["finite-threshold", "sparse-vector-unclamped"]  # its event is: no feasible sample finds it
    assert sampled(rare).verdict is Verdict.NOT_REFUTED


def test_snapping_keeps_its_promise(rows: Rows) -> None:
    for (attack, mechanism), row in rows.items():
        if mechanism == "laplace-snapping":
            assert exact(row).verdict is Verdict.HOLDS, attack
            assert row.claim is not None
            assert 0 < exact(row).epsilon <= row.claim.epsilon


@pytest.mark.parametrize(("kind", "advantage", "allowed"), [("float16", 1 / 2, 0.01), ("float32", 1 / 3, 0.0005)])
def test_rounded_addition(rows: Rows, kind: str, advantage: float, allowed: float) -> None:
    naive = rows[f"rounded-addition-{kind}", f"exponential-naive-{kind}"]
    assert exact(naive).advantage == pytest.approx(advantage, abs=0.001)
    assert naive.advantage_allowed == pytest.approx(allowed, rel=1e-4)
    assert sampled(naive).verdict is Verdict.VIOLATED
    if kind == "float16":
        assert naive.exhaustive == naive.exact
    else:
        assert rows[f"rounded-addition-{kind}", "exponential-base2"].sampled is None


def test_gumbel_ties(rows: Rows) -> None:
    """The bounds of a law of two million outcomes leave the fourth digit open: 0.0312 by the derivation."""
    naive = rows["gumbel-ties", "noisy-max-naive-float32"]
    assert exact(naive).advantage == pytest.approx(math.tanh(2**20 / 2**25), abs=1e-4)
    assert naive.advantage_allowed == pytest.approx(1e-4)
    assert 1e-4 < exact(naive).epsilon < 0.0625
    for twin in ("exponential-exact", "permute-and-flip"):
        assert exact(rows["gumbel-ties", twin]).advantage == pytest.approx(2.5e-5, rel=1e-3)


def test_selection_absorption(rows: Rows) -> None:
    naive = rows["selection-absorption", "private-selection-naive"]
    assert exact(naive).advantage == pytest.approx(7 / 9, abs=1e-4)


def test_negligible_region(rows: Rows) -> None:
    naive = exact(rows["negligible-region", "partitions-naive-float16"])
    assert (naive.event_in, naive.event_out) == ((0, 0), (2**-11, 2**-11))
    assert naive.delta == pytest.approx(8.47e-4, rel=1e-3)
    assert exact(rows["negligible-region", "partitions-exact"]).epsilon == pytest.approx(0.5421, abs=1e-4)


def test_a_member_declares_the_runs_it_can_take(report: Report) -> None:
    for row in report.rows:
        if row.package is not None or row.sampled is None:
            continue
        judging = _all if row.sketch is not None and row.sketch.law is not None else _all_but_a_pilot
        if row.channel is not None:
            assert judging(side_channels.DRAWS_LEAST) <= row.sampled.runs <= judging(side_channels.DRAWS)
            continue
        expected = 100_000
        if row.mechanism == "permute-and-flip":  # a coin for every outcome
            expected = min(expected, (1 << 20) // len(catalogue.attack(row.attack).worlds()[0]))
        assert row.sampled.runs == judging(expected)


def _all(runs: int) -> int:
    return runs


def _all_but_a_pilot(runs: int) -> int:
    """Return the runs that judge where no law fixes the cells."""
    return runs - pilot(runs)


def test_alpha_is_shared_by_the_sampled_rows(report: Report) -> None:
    judged = [evidence for row in report.rows if (evidence := row.sampled or row.timing) is not None]
    assert report.alpha_per_row == pytest.approx(report.alpha / len(judged))
    assert {evidence.confidence for evidence in judged} == {1 - report.alpha_per_row}


def test_rejection_tries(rows: Rows) -> None:
    """Figure 9's pair: the advantage stays within what the claim would allow, and the loss is infinite all the same."""
    one = rows["rejection-tries", "exponential-base2"]
    assert exact(one).advantage == 255 / 512
    assert one.advantage_allowed == pytest.approx(0.6)
    assert one.visible_below == pytest.approx(2 * math.atanh(255 / 512))
    assert sampled(one).verdict is Verdict.VIOLATED
    ten = rows["rejection-tries@tries=10", "exponential-base2-ten-tries"]
    assert exact(ten).advantage == exact(ten).delta == (255 / 512) ** 10 < 0.001
    assert ten.claim is not None
    assert ten.claim.delta == 2**-10
    assert exact(ten).verdict is Verdict.HOLDS
    small = rows["rejection-tries-two-outcomes", "exponential-base2"]
    assert exact(small).advantage == pytest.approx(0.49999, abs=1e-5)
    assert (small.advantage_allowed or 0) < 1e-4


def test_the_rejection_free_sampler_has_one_trace_but_for_2_to_the_minus_64(rows: Rows) -> None:
    for (_, mechanism), row in rows.items():
        if mechanism == "exponential-exact" and row.channel not in (None, "time"):
            assert row.claim is not None
            straddled = (row.parameters["limits"]["max_outcomes"] - 1) * 2.0**-64
            assert row.claim.delta == pytest.approx((1 + math.exp(row.claim.epsilon)) * straddled, rel=1e-12)
            assert exact(row).within == 0


@pytest.mark.parametrize("name", ["weight-concentration", "early-termination"])
def test_weights_of_equal_totals_are_told_apart_by_when_a_draw_is_settled(rows: Rows, name: str) -> None:
    (broken,) = (attack.breaks for attack in attacks() if attack.name == name)
    assert exact(rows[name, broken[0]]).advantage == 0.75 > (rows[name, broken[0]].advantage_allowed or 1)
    assert exact(rows[name, "exponential-base2"]).verdict is Verdict.HOLDS


def test_side_channels_come_last_and_variants_meet_nothing_else(report: Report) -> None:
    channels_seen = [row.channel is not None for row in report.rows]
    assert channels_seen == sorted(channels_seen)
    variants = {one.name for one in members(family("exponential")) if one.variant_of}
    assert variants
    assert all(row.channel is not None for row in report.rows if row.mechanism in variants)


def test_members_are_found_by_name() -> None:
    assert member("exponential-naive-float16").family == "exponential"
    with pytest.raises(LookupError, match="unknown mechanism 'exponential-base-2'; did you mean 'exponential-base2'"):
        member("exponential-base-2")


def test_geometric_trials_tell_the_truth_and_fixed_work_does_not(rows: Rows) -> None:
    """With Alice the event is that no −0 was drawn; for the Gaussian, that the first candidate was kept."""
    row = rows["geometric-trials", "laplace-textbook"]
    assert exact(row).advantage == pytest.approx(0.927, abs=0.001)
    assert exact(row).total_variation == pytest.approx(0.948, abs=0.001)
    assert row.advantage_allowed == pytest.approx(0.05, abs=0.001)
    gaussian = rows["geometric-trials-gaussian", "gaussian-textbook"]
    assert sampled(gaussian).advantage[0] > 0.59 > 2 * (gaussian.advantage_allowed or 0)
    for fixed in ("laplace-fixed-work", "laplace-exact", "laplace-exact-base-e", "laplace-base2"):
        assert exact(rows["geometric-trials", fixed]).total_variation <= (row.advantage_allowed or 0) + 1e-9
