"""Randomized response: laws against every string of bits, where floats fail by derivation, and losses of all pairs."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from subnormal.attacks.randomized_response.certain_response import absorbing_epsilon, certain_response
from subnormal.attacks.randomized_response.uneven_choice import uneven_choice, unreported_category
from subnormal.audit.evidence import exact, exhaustive
from subnormal.audit.model import Verdict
from subnormal.mechanisms.bits import scripted_bits
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.families import family, member
from subnormal.mechanisms.numerics.mpfr import exp_bounds
from subnormal.mechanisms.privacy import Claim, Eta, noise_eta
from subnormal.mechanisms.randomized_response import exact as randomized_response_exact
from subnormal.mechanisms.randomized_response import naive as randomized_response_naive
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.randomized_response.naive import others, true_words, words_of_others
from subnormal.mechanisms.samplers.float_uniforms import uniform_bits
from tests.support.family_cases import EPSILON, FamilyCases
from tests.support.walks import assert_within_the_law, evidence, one_draw

FLOATS = [np.float16, np.float32, np.float64]
AnyMechanism = Mechanism[Any, Any, Any]


def script(words: list[int], width: int) -> Any:
    return scripted_bits("".join(f"{word:0{width}b}" for word in words))


def law_of(mechanism: AnyMechanism, category: int, epsilon: float, categories: int) -> Law[int]:
    assert mechanism.law is not None
    law: Law[int] = mechanism.law(category, RandomizedResponseParameters(epsilon, categories))
    return law


def naive_by_every_string(mechanism: AnyMechanism) -> None:
    """Of a float16's 22 bits. Where lies are rare, string by string; else each of the two words at all its values."""
    for epsilon, categories, category in ((9.1, 2, 0), (7.5, 2, 1), (7.5, 3, 1)):
        parameters = RandomizedResponseParameters(epsilon, categories)
        law = law_of(mechanism, category, epsilon, categories)
        walked = exhaustive.law(partial(one_draw, mechanism, category, parameters), depth=22)
        assert walked.rest == 0
        assert [walked.probability(atom) for atom in range(categories)] == [
            law.probability(atom) for atom in range(categories)
        ]
    every = list(range(1 << 11))
    for epsilon, categories in itertools.product((0.01, 1.0, 12.0), (2, 3, 8, 1026, 2050, 5000)):
        for category in {0, categories // 2, categories - 1}:
            parameters = RandomizedResponseParameters(epsilon, categories)
            law = law_of(mechanism, category, epsilon, categories)
            truths = int(law.probability(category)[0] * 2048)
            lies = 2048 - truths
            firsts = mechanism.sample(category, parameters, script([*every, *[0] * lies], 11), 2048)
            assert np.count_nonzero(np.asarray(firsts) == category) == truths
            seconds = np.asarray(mechanism.sample(category, parameters, script([2047] * 2048 + every, 11), 2048))
            expected = lies * np.bincount(seconds, minlength=categories)
            expected[category] = truths << 11
            assert np.repeat(np.array(law.low), law.counts()).tolist() == expected.tolist()
            assert (law.low is law.high, law.denominator) == (True, 1 << 22)


def naive_by_every_boundary(float_type: Any) -> Callable[[AnyMechanism], None]:
    """Both choices are monotone in their uniform: the first and the last one of each report stand for all between."""

    def check(mechanism: AnyMechanism) -> None:
        width = uniform_bits(float_type)
        last = (1 << width) - 1
        for epsilon, categories in itertools.product((0.01, 1.0, 15.0), (2, 3, 7, 100)):
            for category in {0, categories // 2, categories - 1}:
                parameters = RandomizedResponseParameters(epsilon, categories)
                law = law_of(mechanism, category, epsilon, categories)
                assert law.denominator == 1 << 2 * width
                truths = law.probability(category)[0] * (1 << width)
                assert truths.denominator == 1
                firsts, expected, seconds, start = [0, int(truths) - 1], [category, category], [], 0
                for report in (report for report in range(categories) if report != category):
                    count = law.probability(report)[0] * law.denominator / ((1 << width) - truths)
                    assert count.denominator == 1
                    firsts += [int(truths), last]
                    seconds += [start, start + int(count) - 1]
                    expected += [report, report]
                    start += int(count)
                assert start == 1 << width
                drawn = mechanism.sample(category, parameters, script(firsts + seconds, width), len(expected))
                assert np.asarray(drawn).tolist() == expected

    return check


def check_exact(mechanism: AnyMechanism) -> None:
    for epsilon, categories in ((0.3, 2), (1.0, 3), (2.0, 5)):
        for category in range(categories):
            parameters = RandomizedResponseParameters(epsilon, categories)
            assert_within_the_law(mechanism, category, parameters, rest=(categories - 1) / (1 << 12))


@pytest.mark.parametrize("kind", FLOATS)
def test_the_threshold_is_the_expression_that_people_write(kind: Any) -> None:
    for epsilon, k in itertools.product((0.5, 1.0, 7.7, 8.5, 17.4, 37.0), (2, 3, 1026)):
        with np.errstate(over="ignore", invalid="ignore"):
            odds = np.exp(kind(epsilon))
            written = odds / (odds + k - 1)
        assert written.dtype == np.dtype(kind)
        assert str(randomized_response_naive.threshold(epsilon, k, kind)) == str(written)  # not a number, too


@pytest.mark.parametrize("kind", FLOATS)
def test_from_the_absorbing_budget_on_the_truth_is_certain_until_the_exponential_overflows(kind: Any) -> None:
    overflow = math.log(float(np.finfo(kind).max))
    for tenths in range(round(10 * absorbing_epsilon(kind)), math.ceil(10 * overflow) + 20):
        epsilon = tenths / 10
        if abs(epsilon - overflow) > 0.01:
            expected = 0 if epsilon > overflow else 1 << uniform_bits(kind)
            assert true_words(epsilon, 2, kind) == expected


@pytest.mark.parametrize("categories", [2, 3, 1025, 1026, 1500, 2049, 2050, 2051, 4097, 4100, 60_000, 65_504])
def test_uniforms_of_eleven_bits_are_counted_right(categories: int) -> None:
    chosen = others(np.arange(1 << 11), categories, np.float16)
    assert words_of_others(categories, np.float16).tolist() == np.bincount(chosen, minlength=categories - 1).tolist()


def test_the_choice_stays_among_the_others() -> None:
    """With the largest uniform: all k that a float16 holds, and in wider floats what lies beside powers of two."""
    for categories in range(2, 65_505):
        assert 0 <= others(np.array([2047]), categories, np.float16)[0] <= categories - 2
    for kind, power, beside in itertools.product((np.float32, np.float64), range(1, 62), (-1, 0, 1, 2)):
        categories = max(2, (1 << power) + beside)
        assert others(np.array([(1 << uniform_bits(kind)) - 1]), categories, kind)[0] <= categories - 2


def test_more_others_than_uniforms_leave_some_of_them_out_and_powers_of_two_are_even() -> None:
    for categories in (2050, 2051, 3000, 4097):
        assert words_of_others(categories, np.float16).min() == 0
    for power in range(12):
        assert set(words_of_others((1 << power) + 1, np.float16).tolist()) == {1 << (11 - power)}


def test_many_categories_make_the_truth_too_likely() -> None:
    """At k = 30,000 the truth should have e/(e + 29,999) at ε = 1, and has a whole uniform of 2,048: 5.4 times that."""
    law = law_of(member("randomized-response-naive-float16"), 0, 1.0, 30_000)
    assert law.probability(0) == (Fraction(1, 2048),) * 2
    assert Fraction(1, 2048) / (exp_bounds(Fraction(1))[1] / 30_000) > 5


def test_the_attacks_show_what_is_derived() -> None:
    naive = member("randomized-response-naive-float16")
    unreported = evidence(unreported_category(), naive)
    assert (unreported.event_in, unreported.event_out) == ((3 / 2048,) * 2, (0, 0))  # ⌈2048·e/(e + 2049)⌉ = ⌈2.71⌉
    uneven = evidence(uneven_choice(), naive)
    assert (uneven.event_in, uneven.event_out) == ((6 / 2048,) * 2, (2042 / 2**22,) * 2)  # ⌈2048·e/(e + 1025)⌉ = ⌈5.42⌉
    assert uneven.epsilon == pytest.approx(math.log(6 * 2048 / 2042))
    for attack, world in ((certain_response(9.1), (0, 1)), (certain_response(12.0), (1, 0))):
        certain = evidence(attack, naive)
        assert (certain.event_in, certain.event_out, certain.epsilon) == ((world[0],) * 2, (world[1],) * 2, math.inf)


def test_an_attack_names_the_members_that_it_breaks_at_its_budget() -> None:
    by_epsilon = {1.0: [], 9.1: ["float16"], 18.1: ["float32", "float16"], 38.2: ["float64", "float32", "float16"]}
    for epsilon, kinds in by_epsilon.items():
        assert certain_response(epsilon).breaks == tuple(f"randomized-response-naive-{kind}" for kind in kinds)


@pytest.mark.parametrize("name", ["randomized-response-exact", "randomized-response-exact-base-e"])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 3.0, 38.2, 710.0])
def test_the_loss_of_every_pair_is_the_claim_and_no_more(name: str, epsilon: float) -> None:
    mechanism, parameters = member(name), RandomizedResponseParameters(epsilon, 4)
    laws = [law_of(mechanism, category, epsilon, 4) for category in range(4)]
    for one, other in itertools.permutations(range(4), 2):
        assert family("randomized-response").adjacent(parameters, one, other)
        found = exact.compare(laws[one], laws[other], mechanism.claim(parameters, one, other))
        assert (found.verdict, found.within) == (Verdict.HOLDS, 0)
        assert epsilon * (1 - 2**-29) < found.epsilon <= epsilon  # the whole budget, and no factor of two
        assert exact.compare(laws[one], laws[other], Claim(epsilon * (1 - 2**-29))).verdict is Verdict.VIOLATED


def test_the_truth_is_exactly_so_many_times_as_likely() -> None:
    law = randomized_response_exact.law(1, Eta(3, 3), categories=5)
    assert [law.probability(report)[0] for report in range(5)] == [
        Fraction(8 if report == 1 else 3, 20) for report in range(5)
    ]
    base2 = law_of(member("randomized-response-exact"), 2, 0.7, 5)
    assert base2.probability(0)[0] / base2.probability(2)[0] == noise_eta(0.7).base >= exp_bounds(Fraction(-0.7))[1]


@pytest.mark.parametrize(
    ("data_in", "data_out", "expected"),
    [(0, 2, True), (2, 0, True), (0, 3, False), (-1, 0, False), (0, 1.0, False), (True, 0, False)],
)
def test_any_two_categories_are_adjacent_and_nothing_else(data_in: Any, data_out: Any, expected: bool) -> None:
    parameters = RandomizedResponseParameters(1.0, 3)
    assert family("randomized-response").adjacent(parameters, data_in, data_out) is expected


CASES = {
    "randomized-response": FamilyCases(
        laws={
            "randomized-response-naive-float64": naive_by_every_boundary(np.float64),
            "randomized-response-naive-float32": naive_by_every_boundary(np.float32),
            "randomized-response-naive-float16": naive_by_every_string,
            "randomized-response-exact": check_exact,
            "randomized-response-exact-base-e": check_exact,
        },
        bounds=lambda parameters, data: {"the category is an int": type(data) is int},
        parameters=RandomizedResponseParameters(1.0, 4),
        data=st.integers(0, 3),
        noiseless=lambda data: data,
        domain="categories@categories=5",
        options={"categories": st.integers(2, 9), "epsilon": EPSILON},
        tight={"categories": 3},
    )
}
