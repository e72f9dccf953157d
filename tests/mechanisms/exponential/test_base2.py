"""The base-2 mechanism: exact, private on every small pair, with each of its options, and many draws at once."""

import contextlib
import itertools
import math
import pickle
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.figures import batched_base2
from subnormal import Eta, Verdict, attack, member
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.evidence import exact
from subnormal.mechanisms.bits import BitSource, OutOfBitsError, scripted_bits, seeded_bits
from subnormal.mechanisms.core.law import Law, exact_law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import family
from subnormal.mechanisms.privacy import selection_claim, selection_eta
from tests.support.walks import law_of

ETAS = [Eta(1, 1, 1), Eta(3, 2, 1), Eta(5, 3, 2), Eta(1, 2, 3)]


@pytest.mark.parametrize("eta", ETAS)
def test_the_law_is_the_formula(eta: Eta) -> None:
    utilities = [-3, 0, 2, 2, 7]
    weights = [eta.base**u for u in utilities]
    law = base2.law(np.array(utilities), eta)
    assert [law.probability(index)[0] for index in range(5)] == [weight / sum(weights) for weight in weights]


def test_the_theoretical_precision_is_the_bound_of_lemma_3_4() -> None:
    """(max(1,|u_max|) + max(1,|u_min|))·z·(y + b_x) + o_max; the span is what counts once u_min is subtracted."""
    for limits, expected in ((Limits(0, 10, 5), 49), (Limits(-3, 4, 2), 30), (Limits(0, 0, 1), 9)):
        assert base2.theoretical_precision(Eta(3, 2, 1), limits) == expected  # b_x = 2
    assert base2.theoretical_precision(Eta(5, 3, 2), Limits(0, 10, 5)) == 137  # (10 + 1)·2·(3 + 3) + 5
    assert base2.working_precision(Eta(5, 3, 2), Limits(90, 100, 5)) == 137


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("limits", [Limits(0, 1, 1), Limits(0, 9, 100), Limits(-4, 4, 7), Limits(0, 30, 1000)])
def test_the_empirical_precision_suffices_and_half_of_it_does_not(eta: Eta, limits: Limits) -> None:
    precision = base2.working_precision(eta, limits, "empirical")
    span = limits.utility_max - limits.utility_min
    worst = np.arange(span + 1)
    sums = sum(base2.weights(worst, eta, precision))
    assert sums > 0
    assert base2.working_precision(eta, limits, "theoretical") * 2 >= precision
    shifted = Limits(0, span, limits.max_outcomes)
    if precision > 1:
        assert not base2._worst_cases_exact(eta, shifted, precision // 2)


@pytest.mark.parametrize("method", ["theoretical", "empirical"])
@pytest.mark.parametrize("sampler", ["all-bits", "bit-by-bit"])
def test_no_data_within_the_limits_are_ever_inexact(method: base2.PrecisionMethod, sampler: base2.Sampler) -> None:
    limits = Limits(-2, 6, 4)
    options: Any = {"limits": limits, "precision_method": method, "sampler": sampler}
    for utilities in itertools.product((-2, 0, 5, 6), repeat=3):
        drawn = base2.sample([*utilities, 6], Eta(5, 3, 1), seeded_bits(2), 2, **options)
        assert ((drawn >= 0) & (drawn < 4)).all()


@pytest.mark.parametrize("sensitivity", [0.125, 0.25, 0.5, 1.0, 1.5, 2.0])
def test_the_member_keeps_its_claim_for_real_utilities_of_any_sensitivity(sensitivity: float) -> None:
    """Real utilities Δ apart may be rounded to integers ⌈Δ⌉ apart: the worst pairs, by their exact laws."""
    mechanism = member("exponential-base2")
    parameters = ExponentialParameters(2.0, Limits(0, 4, 11), sensitivity)
    for start in (0.5, 1.0, 1.25):
        data_in = np.array([start] + [start + sensitivity] * 8)
        data_out = np.array([start + sensitivity] + [start] * 8)
        assert family("exponential").adjacent(parameters, data_in, data_out)
        claim = mechanism.claim(parameters, data_in, data_out)
        evidence = exact.compare(law_of(mechanism, data_in, parameters), law_of(mechanism, data_out, parameters), claim)
        assert evidence.verdict is Verdict.HOLDS


def test_rounding_is_drawn_anew_for_every_draw() -> None:
    # η = 10: a utility of 0 against 0 ties, 1 against 0 loses nearly always; so index 0 comes a quarter of the time.
    # False-alarm rate: 6 standard deviations, 2e-9. One rounding for all draws would give 0 or a half.
    drawn = base2.sample([0.5, 0.0], Eta(1, 10, 1), seeded_bits(3), 2_000, limits=Limits(0, 1, 2))
    assert abs((drawn == 0).sum() - 500) < 6 * np.sqrt(2_000 * 3 / 16)


def test_equal_bounds_on_the_utilities_leave_room_for_the_sum() -> None:
    for outcomes in (1, 3, 7, 15, 100):
        limits = Limits(4, 4, outcomes)
        drawn = base2.sample(
            [9] * outcomes, Eta(1, 1, 1), seeded_bits(1), 5, limits=limits, precision_method="empirical"
        )
        assert ((drawn >= 0) & (drawn < outcomes)).all()


DATA = np.array([0, 3, 1, 1, 2])
PARAMETERS = ExponentialParameters(1.0, Limits(0, 3, 8))
BUDGETED = selection_eta(1.0)
CASES: dict[str, tuple[Eta, dict[str, Any]]] = {
    "exponential-base2": (BUDGETED, {}),
    "exponential-base2@eta=3/4^2": (Eta(3, 2, 2), {}),
    "exponential-base2@eta=1/2,precision=empirical": (Eta(1, 1, 1), {"precision_method": "empirical"}),
    "exponential-base2@sampler=bit-by-bit": (BUDGETED, {"sampler": "bit-by-bit"}),
    "exponential-base2@eta=7/8,tries=3": (Eta(7, 3, 1), {"minimum_tries": 3}),
}


def of(name: str) -> Mechanism[Any, Any, Any]:
    return member(name)


@pytest.mark.parametrize("name", CASES)
def test_a_member_with_options_is_base_2_with_these_arguments(name: str) -> None:
    eta, options = CASES[name]
    made = of(name)
    law, settings = made.law, made.settings
    assert law is not None
    assert settings is not None
    expected = base2.law(DATA, eta, limits=PARAMETERS.limits)
    for index in range(len(DATA)):
        assert law(DATA, PARAMETERS).probability(index) == expected.probability(index)
    drawn, other = (seeded_bits(1, "attack", "mechanism", "in", 0) for _ in range(2))
    for n in (1, 50):
        outcomes = base2.sample(DATA, eta, other, n, limits=PARAMETERS.limits, **options)
        assert np.array_equal(made.sample(DATA, PARAMETERS, drawn, n), outcomes)
    assert (drawn.consumed, drawn.tries) == (other.consumed, other.tries)
    precision = base2.working_precision(eta, PARAMETERS.limits, options.get("precision_method", "theoretical"))
    assert settings(PARAMETERS) == {"eta": eta.text, "precision": precision}
    assert Eta.parse(eta.text) == eta


@pytest.mark.parametrize("sensitivity", [1.0, 1.5, 2.0])
def test_a_chosen_rate_claims_what_it_promises_whatever_the_budget(sensitivity: float) -> None:
    """Reals that are 1.5 apart may be rounded to integers that are 2 apart."""
    parameters = ExponentialParameters(0.01, Limits(0, 3, 8), sensitivity)
    claim = of("exponential-base2@eta=3/4^2").claim(parameters, DATA, DATA)
    assert claim == selection_claim(Eta(3, 2, 2), {1.0: 1, 1.5: 2, 2.0: 2}[sensitivity])
    assert of("exponential-base2").claim(parameters, DATA, DATA).epsilon == 0.01


def test_a_chosen_rate_keeps_its_claim_with_equality() -> None:
    """One utility moves by Δ and all others by −Δ: the loss tends to 2Δη·ln 2 with the number of outcomes."""
    made, eta = of("exponential-base2@eta=1/2"), Eta(1, 1, 1)
    parameters = ExponentialParameters(1.0, Limits(0, 2, 1 << 12))
    data_in, data_out = np.ones(1 << 12, dtype=np.int64), np.full(1 << 12, 2)
    data_in[0], data_out[0] = 1, 0
    law: Any = made.law
    ratio = law(data_out, parameters).probability(0)[0] / law(data_in, parameters).probability(0)[0]
    assert Fraction(399, 100) < ratio < 4 == 1 / eta.base**2


def test_the_law_of_traces_has_the_precision_that_was_chosen() -> None:
    made: Any = of("exponential-base2@eta=1/2,precision=empirical")
    precision = base2.empirical_precision(Eta(1, 1, 1), PARAMETERS.limits)
    assert precision < base2.theoretical_precision(Eta(1, 1, 1), PARAMETERS.limits)
    traces = [atom[1] for atom in made.trace_law(DATA, PARAMETERS).atoms if isinstance(atom, tuple)]
    assert [trace.bits for trace in traces] == [precision * trace.tries for trace in traces]
    assert traces


def test_more_tries_promise_a_smaller_delta_of_their_own() -> None:
    for name, tries in (("exponential-base2@tries=3", 3), ("exponential-base2@eta=1/2,tries=20", 20)):
        made: Any = of(name)
        claim = made.trace_claim(PARAMETERS, DATA, DATA)
        assert (claim.epsilon, claim.delta) == (made.claim(PARAMETERS, DATA, DATA).epsilon, 2.0**-tries)
    assert of("exponential-base2@eta=1/2").trace_claim is None


def test_only_another_sampler_or_more_tries_make_a_variant() -> None:
    assert of("exponential-base2@eta=1/2").variant_of == of("exponential-base2@precision=empirical").variant_of == ""
    assert of("exponential-base2@sampler=bit-by-bit").variant_of == "exponential-base2"
    assert of("exponential-base2@eta=1/2,tries=3").variant_of == "exponential-base2@eta=1/2"


def test_each_is_built_once_and_is_sent_to_workers_by_its_name() -> None:
    made = of("exponential-base2@tries=1,precision=empirical,eta=2/4")
    assert made is of("exponential-base2@eta=2/4,precision=empirical")
    assert of("exponential-base2@eta=budget") is of("exponential-base2")
    sent = pickle.loads(pickle.dumps(Crossing(attack("zero-rounding"), made)))
    assert sent.mechanism is made


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("eta=3/5", "eta must be a fraction for 2.-eta, such as 1/2, or 3/4.2 for .3/4..2, got '3/5'"),
        ("eta=4/4", "eta must be .* got '4/4'"),
        ("eta=1/2^0", "eta must be .* got '1/2.0'"),
        ("eta=0/2", "eta must be .* got '0/2'"),
        ("eta", "eta must be .* got ''"),
        ("precision=low", "precision must be one of theoretical, empirical, got 'low'"),
        ("sampler=all", "sampler must be one of .*, got 'all'"),
        ("tries=0", "tries must be at least 1, got 0"),
        ("tries=2,sampler=bit-by-bit", "tries must be 1 unless sampler=all-bits, got 2"),
        ("rate=1", "unknown option of exponential-base2 'rate'; known: eta, precision, sampler, tries"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(options: str, error: str) -> None:
    with pytest.raises((LookupError, ValueError), match=error):
        of(f"exponential-base2@{options}")


def test_it_meets_the_attacks_that_the_member_meets() -> None:
    attacks = [attack(name) for name in ("zero-rounding", "rejection-tries", "rejection-time", "precision-retry")]
    met = {
        name: [one.attack.name for one in crossings(attacks, mechanisms=[name])]
        for name in ("exponential-base2", "exponential-base2@eta=3/4^2")
    }
    assert met["exponential-base2"] == met["exponential-base2@eta=3/4^2"]
    assert "rejection-tries" in met["exponential-base2"]
    assert crossings([attack("grid-precision")], mechanisms=["exponential-base2@eta=3/4^2"]) == []


def by_every_string(utilities: NDArray[np.float64], eta: Eta, limits: Limits, precision: int) -> Law[int]:
    """The law of the fast path: for each string of roundings the accepted words, each as likely as another."""
    word = batched_base2._word(eta, limits)
    assert word <= batched_base2.TOTAL_BITS_MAX
    rounding_bits, total = len(utilities) * precision, [Fraction(0)] * len(utilities)
    for roundings in range(1 << rounding_bits):
        accepted = []
        for last in range(1 << word):
            bits = scripted_bits(f"{roundings:0{rounding_bits}b}{last:0{word}b}")
            with contextlib.suppress(OutOfBitsError):  # rejected: the next word would be drawn as the first
                options: dict[str, Any] = {"limits": limits, "rounding_precision": precision}
                accepted.append(int(batched_base2.sample(utilities, eta, bits, 1, **options)[0]))
        for index in accepted:
            total[index] += Fraction(1, len(accepted) << rounding_bits)
    denominator = math.lcm(*(mass.denominator for mass in total))
    masses = [int(mass * denominator) for mass in total]
    return exact_law(range(len(total)), range(1, len(total) + 1), masses, denominator)


@pytest.mark.parametrize(
    ("utilities", "eta", "limits", "precision"),
    [
        ([0.0, 0.5, 1.0, 1.5], Eta(1, 1, 1), Limits(0, 2, 4), 1),
        ([0.5, 0.5], Eta(1, 2, 1), Limits(0, 1, 2), 1),
        ([0.25, 0.75], Eta(2, 2, 2), Limits(0, 1, 3), 2),
        ([-0.5, 0.5, 9.5], Eta(1, 1, 1), Limits(-1, 1, 3), 2),
        ([0.25], Eta(1, 1, 3), Limits(0, 1, 1), 2),
        ([0.375, 0.0], Eta(1, 1, 1), Limits(0, 1, 2), 3),
    ],
)
def test_the_fast_path_of_randomized_rounding_by_every_string_of_bits(
    utilities: list[float], eta: Eta, limits: Limits, precision: int
) -> None:
    """By ==, against the mixture over all roundings."""
    walked = by_every_string(np.array(utilities), eta, limits, precision)
    law = base2.law(utilities, eta, limits=limits, rounding_precision=precision)
    for index in range(len(utilities)):
        assert walked.probability(index) == law.probability(index)


def oracle(utilities: NDArray[np.float64], shift: int, top: int, bits: BitSource, n: int, word: int) -> list[int]:
    """One batch in whole Python integers, on the same bits: knows nothing of arrays."""
    width, count = 4, len(utilities)
    sums = []
    for _ in range(n):
        up = [
            word < (u % 1) * 2**width
            for word, u in zip(bits.words(count, width).tolist(), utilities.tolist(), strict=True)
        ]
        rounded = [math.floor(u) + one for u, one in zip(utilities.tolist(), up, strict=True)]
        sums.append(list(itertools.accumulate(1 << shift * (top - u) for u in rounded)))
    chosen, pending = [0] * n, list(range(n))
    while pending:
        points = {}
        for draw, drawn in zip(pending, bits.words(len(pending), word).tolist(), strict=True):
            points[draw] = drawn & (1 << int(sums[draw][-1] - 1).bit_length()) - 1
        for draw in pending:
            chosen[draw] = bisect_right(sums[draw], points[draw])
        pending = [draw for draw in pending if points[draw] >= sums[draw][-1]]
    return chosen


@pytest.mark.parametrize(("value", "eta"), [(0, Eta(1, 1, 1)), (3.3125, Eta(1, 1, 2)), (10, Eta(2, 3, 1))])
def test_many_draws_on_the_same_bits_are_those_of_whole_integers(value: float, eta: Eta) -> None:
    batch, limits = batched_base2.BATCH // 321, Limits(0, 20, 321)
    n = 2 * batch + 5
    units = np.abs(np.arange(-160, 161) / 16 - value)
    ours, theirs = seeded_bits(3), seeded_bits(3)
    drawn = batched_base2.sample(units, eta, ours, n, limits=limits, rounding_precision=4)
    shift, word = batched_base2._halvings(eta), batched_base2._word(eta, limits)
    expected = [index for size in (batch, batch, 5) for index in oracle(units, shift, 20, theirs, size, word)]
    assert drawn.tolist() == expected
    assert ours.consumed == theirs.consumed


@pytest.mark.parametrize(
    ("eta", "upper", "precision"), [(Eta(3, 2, 1), 2, 2), (Eta(1, 1, 40), 2, 1), (Eta(3, 2, 1), 2.0**-60, 64)]
)
def test_where_it_is_not_fast_it_is_the_papers_mechanism(eta: Eta, upper: float, precision: int) -> None:
    """Another base than a power of two, weights beyond a word; and fractions beyond one are cut to 64 bits."""
    ours, theirs = seeded_bits(2), seeded_bits(2)
    units = np.linspace(0, upper, 5)
    options: dict[str, Any] = {"limits": Limits(0, math.ceil(upper), len(units)), "rounding_precision": precision}
    expected = base2.sample(units, eta, theirs, 40, **options)
    assert batched_base2.sample(units, eta, ours, 40, **options).tolist() == expected.tolist()
    assert ours.consumed == theirs.consumed
