"""The cases of the exponential family for the tests of all families: its laws, by every string of bits."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from subnormal.audit.evidence import exhaustive
from subnormal.mechanisms.bits import scripted_bits
from subnormal.mechanisms.core.law import image
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.exponential import base2
from subnormal.mechanisms.exponential.family import ExponentialParameters, Limits
from subnormal.mechanisms.privacy import Eta
from subnormal.mechanisms.samplers import float_uniforms
from tests.mechanisms.exponential import test_naive, test_permute_and_flip
from tests.mechanisms.libraries import test_ml_dtypes
from tests.support.family_cases import EPSILON, VECTORS, FamilyCases
from tests.support.walks import assert_within_the_law, one_draw

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


def by_every_boundary(float_type: Any) -> Callable[[AnyMechanism], None]:
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


def bounds(parameters: Any, data: Any) -> dict[str, bool]:
    limits = parameters.limits
    return {
        "utilities are int64": data.dtype == np.int64,
        "at most max_outcomes utilities": len(data) <= limits.max_outcomes,
        "utility_min ≤ utilities ≤ utility_max": limits.utility_min <= data.min() <= data.max() <= limits.utility_max,
    }


CASES = {
    "exponential": FamilyCases(
        laws={
            **dict.fromkeys(test_ml_dtypes.NAMES, by_every_string),
            "exponential-naive-float16": by_every_string,
            "exponential-naive-float32": by_every_boundary(np.float32),
            "exponential-naive-float64": by_every_boundary(np.float64),
            "exponential-naive-positive": by_every_boundary(np.float64),
            "exponential-naive-shifted": by_every_boundary(np.float64),
            "exponential-base2": base2_by_every_string(),
            "exponential-base2-ten-tries": pairs_by_every_string,
            "exponential-base2-bit-by-bit": pairs_by_every_string,
            "exponential-base2-early-stop": base2_by_every_string(sampler="most-significant-first"),
            "exponential-base2-precision-on-demand": pairs_by_every_string,
            "exponential-exact": exact_by_every_string,
            "exponential-exact-base-e": exact_by_every_string,
            "noisy-max-naive-float32": test_naive.check_law,
            "permute-and-flip": test_permute_and_flip.check_law,
        },
        bounds=bounds,
        parameters=ExponentialParameters(1.0, Limits(-4, 4, 3)),
        data=VECTORS,
        noiseless=lambda data: int(data.argmin()),
        domain="utilities@most=2,outcomes=3",
        options={
            "most": st.integers(1, 3),
            "outcomes": st.integers(2, 3),
            "epsilon": EPSILON,
            "sensitivity": st.integers(1, 3),
        },
        tight={"most": 2, "outcomes": 3},
    )
}
