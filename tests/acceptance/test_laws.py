"""No law may drift from its code: every bit string, or every boundary between two, through `sample` against `law`."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import scripted_bits
from subnormal.mechanisms.core.law import image
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.families import FAMILIES, absent, member, members
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import float_uniforms
from tests.mechanisms.dp_sgd import test_naive as test_dp_sgd_naive
from tests.mechanisms.dp_sgd import test_steps as test_dp_sgd_steps
from tests.mechanisms.exponential import test_gumbel_max_naive, test_permute_and_flip
from tests.mechanisms.gaussian import test_bernoulli_trials as test_gaussian_bernoulli_trials
from tests.mechanisms.gaussian import test_exact as test_gaussian_exact
from tests.mechanisms.gaussian import test_low_precision, test_ziggurat
from tests.mechanisms.laplace import test_as_selection as test_laplace_as_selection
from tests.mechanisms.laplace import test_bernoulli_trials as test_laplace_bernoulli_trials
from tests.mechanisms.laplace import test_correctly_rounded, test_fixed_work, test_snapping
from tests.mechanisms.laplace import test_exact as test_laplace_exact
from tests.mechanisms.laplace import test_naive as test_laplace_naive
from tests.mechanisms.libraries import test_jax, test_ml_dtypes, test_torch
from tests.mechanisms.partitions import test_exact as test_partitions_exact
from tests.mechanisms.partitions import test_naive as test_partitions_naive
from tests.mechanisms.private_selection import test_family as test_private_selection_family
from tests.mechanisms.randomized_response import test_family as test_randomized_response_family
from tests.mechanisms.sparse_vector import test_exact as test_sparse_vector_exact
from tests.mechanisms.sparse_vector import test_naive as test_sparse_vector_naive
from tests.mechanisms.sparse_vector import test_published_variants
from tests.mechanisms.threshold import test_exact as test_threshold_exact
from tests.mechanisms.threshold import test_naive as test_threshold_naive
from tests.support.walks import assert_within_the_law, one_draw

AnyMechanism = Mechanism[Any, Any, Any]

UTILITIES = [
    np.array([0, 1, 2, 3]),
    np.array([40, 0, 40, 7, 7, 7]),
    np.array([0.25, -1.5, 3.0]),
    np.array([2980, 2981]),  # a weight that is 0
    np.array([9000, 9000]),  # all of them
    np.array([-9000, 0]),  # one that is infinite
    np.arange(300) % 11,
]


def parameters_for(utilities: Any) -> ExponentialParameters:
    return ExponentialParameters(0.5, Limits(-10_000, 10_000, len(utilities)))


def by_every_string(mechanism: AnyMechanism) -> None:
    assert mechanism.depth is not None
    assert mechanism.law is not None
    for utilities in UTILITIES:
        parameters = parameters_for(utilities)
        depth = mechanism.depth(utilities, parameters)
        assert depth is not None
        draw = partial(one_draw, mechanism, utilities, parameters)
        walked = exhaustive.law(draw, depth)
        law = mechanism.law(utilities, parameters)
        assert walked.rest == 0
        for atom in {*walked.atoms, *law.atoms}:
            assert walked.probability(atom) == law.probability(atom)


def by_every_boundary(float_type: Any, variant: exponential_naive.Variant) -> Callable[[AnyMechanism], None]:
    """2^53 uniforms are too many, but the choice is monotone in the uniform: the law holds for all of them when it
    holds for the first and the last uniform of each index."""

    def check(mechanism: AnyMechanism) -> None:
        assert mechanism.law is not None
        width = float_uniforms.uniform_bits(float_type)
        for utilities in UTILITIES:
            parameters = parameters_for(utilities)
            law, start = mechanism.law(utilities, parameters), 0
            assert law.denominator in (1, 1 << width)
            words, expected = [], []
            for atom in law.atoms:
                low, high = law.probability(atom)
                assert low == high
                count = int(low * (1 << width))
                if count:
                    words += [start, start + count - 1]
                    expected += [atom, atom]
                start += count
            assert start == 1 << width
            bits = scripted_bits("".join(f"{word:0{width}b}" for word in words))
            assert list(mechanism.sample(utilities, parameters, bits, len(words))) == expected

    return check


def base2_by_every_string(**sampling: Any) -> Callable[[AnyMechanism], None]:
    """The members only adapt parameters, so their functions are walked at a size where every string can be."""

    def check(mechanism: AnyMechanism) -> None:
        limits = Limits(0, 2, 3)
        for vector in ([0], [0, 1], [2, 0, 1], [1, 1, 1], [0.5, 0.0]):
            for eta in (Eta(1, 1, 1), Eta(3, 2, 1)):
                precision = base2.working_precision(eta, limits, "empirical")
                law = base2.law(vector, eta, limits=limits, rounding_precision=1)
                rounding_bits = len(vector) if isinstance(vector[0], float) else 0

                def draw(bits: Any, vector: Any = vector, eta: Eta = eta) -> int:
                    options: dict[str, Any] = {"limits": limits, "precision_method": "empirical", **sampling}
                    return int(base2.sample(vector, eta, bits, 1, rounding_precision=1, **options)[0])

                walked = exhaustive.law(draw, depth=rounding_bits + precision)
                accepted = 1 - walked.rest
                for index in range(len(vector)):
                    low = walked.probability(index)[0]
                    if rounding_bits == 0:  # the first try, given that it is accepted
                        assert low / accepted == law.probability(index)[0]
                    assert low <= law.probability(index)[0] <= low + walked.rest
        data = np.array([3, 1, 0])
        parameters = ExponentialParameters(1.0, Limits(0, 3, 3))
        assert mechanism.law is not None
        eta = Eta.from_epsilon(0.5)
        assert mechanism.law(data, parameters).probability(0) == base2.law(data, eta).probability(0)

    return check


def pairs_by_every_string(mechanism: AnyMechanism) -> None:
    """A variant's law is what its law of traces, walked string by string in test_traces, says of outcomes alone."""
    for data in ([0, 1], [2, 0, 1], [1, 1, 1]):
        parameters = ExponentialParameters(2.0, Limits(0, 2, 3))
        assert mechanism.law is not None
        assert mechanism.trace_law is not None
        law = mechanism.law(np.array(data), parameters)
        seen = image(mechanism.trace_law(np.array(data), parameters), lambda pair: pair[0])
        for index in range(len(data)):
            low, high = law.probability(index)
            assert seen.probability(index)[0] <= low == high <= seen.probability(index)[1] + seen.rest


def exact_by_every_string(mechanism: AnyMechanism) -> None:
    for data in ([0], [0, 1], [2, 0, 1], [1, 1, 1]):
        for epsilon in (0.3, 2.0):
            parameters = ExponentialParameters(epsilon, Limits(0, 2, 3))
            assert_within_the_law(mechanism, np.array(data), parameters, rest=(len(data) - 1) / (1 << 12))


CHECKS: dict[str, Callable[[AnyMechanism], None]] = {
    **dict.fromkeys(test_ml_dtypes.NAMES, by_every_string),
    "exponential-naive-float16": by_every_string,
    "exponential-naive-float32": by_every_boundary(np.float32, "plain"),
    "exponential-naive-float64": by_every_boundary(np.float64, "plain"),
    "exponential-naive-positive": by_every_boundary(np.float64, "positive"),
    "exponential-naive-shifted": by_every_boundary(np.float64, "shifted"),
    "exponential-base2": base2_by_every_string(),
    "exponential-base2-ten-tries": pairs_by_every_string,
    "exponential-base2-bit-by-bit": pairs_by_every_string,
    "exponential-base2-early-stop": base2_by_every_string(sampler="most-significant-first"),
    "exponential-base2-precision-on-demand": pairs_by_every_string,
    "exponential-exact": exact_by_every_string,
    "exponential-exact-base-e": exact_by_every_string,
    "noisy-max-naive-float32": test_gumbel_max_naive.check_law,
    "permute-and-flip": test_permute_and_flip.check_law,
    "private-selection-naive": test_private_selection_family.check_naive,
    "private-selection-exact": test_private_selection_family.check_exact,
    **dict.fromkeys(test_ml_dtypes.LAPLACE_NAMES, test_ml_dtypes.check_laplace_law),
    "laplace-naive-float64": test_laplace_naive.check_law,
    "laplace-naive-float32": test_laplace_naive.check_law,
    "laplace-rounded-float16": test_correctly_rounded.check_law,
    "laplace-snapping": test_snapping.law_by_bisection_of_member,
    "laplace-snapping-16-bit": test_snapping.law_by_bisection_of_member,
    "laplace-base2": test_laplace_as_selection.check_law,
    "laplace-exact": test_laplace_exact.check_law,
    "laplace-exact-base-e": test_laplace_exact.check_law,
    "laplace-textbook": test_laplace_bernoulli_trials.check_law,
    "laplace-fixed-work": test_fixed_work.check_law,
    "gaussian-exact": test_gaussian_exact.check_law,
    "gaussian-textbook": test_gaussian_bernoulli_trials.check_law,
    **dict.fromkeys(test_low_precision.NAMES, test_low_precision.check_law),
    "gaussian-ziggurat-float32": test_ziggurat.check_law,
    **dict.fromkeys(test_jax.NAMES, test_jax.check_law),
    **dict.fromkeys(test_torch.NAMES, test_torch.check_law),
    "sparse-vector-naive": test_sparse_vector_naive.check_law,
    "sparse-vector-exact": test_sparse_vector_exact.check_law,
    "sparse-vector-exact-gap": test_sparse_vector_exact.check_law,
    "sparse-vector-unclamped": test_sparse_vector_exact.check_law,
    **dict.fromkeys(test_published_variants.NAMES, test_published_variants.check_law),
    "partitions-exact": test_partitions_exact.check_law,
    "partitions-naive-float16": test_partitions_naive.check_law,
    "partitions-naive-float32": test_partitions_naive.check_law,
    "partitions-naive-float64": test_partitions_naive.check_law,
    "threshold-naive-float32": test_threshold_naive.check_law,
    "threshold-naive-rounded-first": test_threshold_naive.check_law,
    "threshold-naive-open-tail": test_threshold_exact.check_law,
    "threshold-exact": test_threshold_exact.check_law,
    "randomized-response-naive-float64": test_randomized_response_family.naive_by_every_boundary(np.float64),
    "randomized-response-naive-float32": test_randomized_response_family.naive_by_every_boundary(np.float32),
    "randomized-response-naive-float16": test_randomized_response_family.naive_by_every_string,
    "randomized-response-exact": test_randomized_response_family.check_exact,
    "randomized-response-exact-base-e": test_randomized_response_family.check_exact,
    **dict.fromkeys(test_dp_sgd_steps.NAMES, test_dp_sgd_steps.check_law),
    **dict.fromkeys(test_dp_sgd_naive.NAMES, test_dp_sgd_naive.check_law),
}


@pytest.mark.parametrize("name", CHECKS)
def test_the_law_is_that_of_the_code(name: str) -> None:
    left_out = {one.name: one.package for family in FAMILIES for one in absent(family)}
    if name in left_out:
        pytest.skip(f"{left_out[name]} is not installed")
    CHECKS[name](member(name))


def test_every_law_is_checked() -> None:
    declared = [mechanism for family in FAMILIES for mechanism in (*members(family), *absent(family))]
    with_laws = {mechanism.name for mechanism in declared if mechanism.law is not None}
    unchecked, unknown = with_laws - set(CHECKS), set(CHECKS) - with_laws
    assert not unchecked, f"CHECKS in {__file__}: no proof for {unchecked}; a member that never has a law has law=None"
    assert not unknown, f"CHECKS in {__file__}: {unknown} have no law, or no line in the members of their family"


def test_a_law_that_drifts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break the code, not the law: round the running sums to the nearest uniform."""
    sums = float_uniforms.running_sums

    def drifted(law: Callable[[Any, Any], Any], data: Any, parameters: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(exponential_naive, "running_sums", lambda weight: sums(weight) * (1 - 2**-10))
            return law(data, parameters)

    for name in ("exponential-naive-float16", "exponential-naive-float64"):
        mechanism = member(name)
        assert mechanism.law is not None
        with pytest.raises(AssertionError):
            CHECKS[name](replace(mechanism, law=partial(drifted, mechanism.law)))


def test_half_the_strings_of_a_fair_coin() -> None:
    assert exhaustive.law(lambda bits: bits.take(1), depth=1).probability(1)[0] == Fraction(1, 2)
