"""Bad parameters are refused by name: each record of public values, and the records that claims are made of."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from subnormal.mechanisms.additive.family import GaussianParameters, LaplaceParameters
from subnormal.mechanisms.curves import Gdp, Profile, Renyi, implied
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters
from subnormal.mechanisms.exponential.family import Limits
from subnormal.mechanisms.laplace.snapping_bounds import Snapping, loss_bound, scale_for
from subnormal.mechanisms.partitions.family import PartitionParameters
from subnormal.mechanisms.privacy import Claim, Eta, Zcdp, noise_claim, noise_eta, selection_eta
from subnormal.mechanisms.private_selection.family import PrivateSelectionParameters
from subnormal.mechanisms.randomized_response.family import RandomizedResponseParameters
from subnormal.mechanisms.sparse_vector.exact import Setting
from subnormal.mechanisms.sparse_vector.family import SparseVectorParameters
from subnormal.mechanisms.threshold.parameters import ThresholdParameters

# what is built, its sound arguments, and what is changed with what is said of it
CASES: list[tuple[Callable[..., Any], dict[str, Any], list[tuple[dict[str, Any], str]]]] = [
    (
        LaplaceParameters,
        {"epsilon": 1.0},
        [
            ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
            ({"sensitivity": -1.0}, "sensitivity must be positive and finite, got -1.0"),
            ({"query": "mean"}, "query must be 'value' or 'sum', got 'mean'"),
            ({"grid": 63}, "grid must be an integer from -1074 to 62, got 63"),
            ({"lower": 0.3}, r"lower must be a multiple of 2\^-4, and at most 2305843009213693952 of them, got 0.3"),
            ({"grid": -50, "lower": 0.0, "upper": 4096.0}, "upper must be a multiple of"),  # beyond 64 bits, all three
            ({"grid": 0, "lower": 0.0, "upper": 2.0**62}, "upper must be a multiple of"),
            ({"grid": 4, "lower": 0.0, "upper": 2.0**62}, "upper must be a multiple of"),
            ({"upper": math.inf}, "upper must be a finite number, got inf"),
            ({"lower": 2.0, "upper": 1.0}, "lower = 2.0 must not be above upper = 1.0"),
        ],
    ),
    (
        GaussianParameters,
        {"sigma": 1.0, "delta": 1e-6},
        [({"delta": delta}, "delta must") for delta in (0.0, 1.0, -1.0, math.nan)],
    ),
    (
        DpSgdParameters,
        {"multiplier": 1.0},
        [
            ({"multiplier": 0.0}, "multiplier must be positive and finite, got 0.0"),
            ({"clip": -1.0}, "clip must be positive and finite, got -1.0"),
            ({"rate": 1.5}, "rate must be positive and at most 1, got 1.5"),
            ({"delta": 0.0}, "delta must be between 0 and 1, got 0.0"),
            ({"steps": 0}, "steps must be an integer from 1 to 65536, got 0"),
            ({"batch_size": 2.0}, "batch_size must be an integer from 1 to 2147483648, got 2.0"),
            ({"grid": 1}, r"clip must be from 1 to 2\^24 steps of 2\^1, got 1.0"),
            ({"grid": -25}, r"clip must be from 1 to 2\^24 steps of 2\^-25, got 1.0"),
            ({"grid": 17}, "grid must be an integer from -1000 to 16, got 17"),
            ({"multiplier": 1e-3}, r"multiplier must be from 2\^-8 to 2\^30, got 0.001"),
        ],
    ),
    (
        Limits,
        {"utility_min": 0, "utility_max": 1, "max_outcomes": 1},
        [
            ({"utility_min": 3, "utility_max": 2}, "utility_min = 3 must not be above utility_max = 2"),
            ({"max_outcomes": 0}, "max_outcomes must be at least 1, got 0"),
            ({"utility_min": 0.5}, "utility_min must be an integer, got 0.5"),
            ({"utility_max": 2**63}, "utility_max must fit a signed 64-bit integer"),
        ],
    ),
    (
        PartitionParameters,
        {"epsilon": 1.0, "lower": (0,), "upper": (1,)},
        [({"epsilon": 0.0}, "epsilon must be positive"), ({"lower": (2,)}, r"lower\[0\] = 2 must not be above")],
    ),
    (
        PrivateSelectionParameters,
        {"epsilon": 1.0, "lower": 0, "upper": 1},
        [
            ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
            ({"lower": 2}, "lower = 2 must not be above upper = 1"),
            ({"lower": 0.5}, "lower must be an integer, got 0.5"),
            ({"stop": 1.0}, "stop must lie between 0 and 1, got 1.0"),
            ({"stop": 1e-30}, "stop must be a multiple of 2"),
            ({"reserve": 0.4}, "reserve must lie between 0 and epsilon/3"),
            ({"reserve": math.nan}, "reserve must be a finite number, got nan"),
            ({"sensitivity": 0}, "sensitivity must be positive"),
        ],
    ),
    (
        RandomizedResponseParameters,
        {"epsilon": 1.0, "categories": 2},
        [
            ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
            ({"categories": 1}, "categories must be an integer of at least 2, got 1"),
            ({"categories": 2.0}, "categories must be an integer of at least 2, got 2.0"),
        ],
    ),
    (
        SparseVectorParameters,
        {"epsilon": 1.0},
        [
            ({"epsilon": 0.0}, "epsilon must be positive and finite, got 0.0"),
            ({"positives": 0}, "positives must be a positive integer, got 0"),
            ({"threshold_share": 1.0}, "threshold_share must lie between 0 and 1, got 1.0"),
            ({"width": 0.5}, r"width must be a multiple of 2\^0, \d+ at most, got 0.5"),
            ({"width": -1}, "width must not be negative, got -1"),
            ({"lower": 1, "upper": 0}, "lower = 1 must not be above upper = 0"),
            ({"gaps": (2, 2)}, r"gaps must be positive and ascend, got \(2, 2\)"),
            ({"gaps": (0.5,)}, "gaps must be a multiple"),
            ({"threshold": math.inf}, "threshold must be a finite number, got inf"),
            ({"grid": 63}, "grid must be an integer from -1074 to 62, got 63"),
        ],
    ),
    (
        partial(Setting, Eta(1, 1), Eta(1, 1)),
        {"positives": 1, "lower": 0, "upper": 2, "width": 1, "clamp": 1},
        [
            ({"positives": 0}, "positives must be at least 1, got 0"),
            ({"upper": -1}, "upper must be at least 0, got -1"),
            ({"clamp": -1}, "clamp must be at least 0, got -1"),
            ({"gaps": (2, 1)}, r"gaps must be positive and ascend, got \(2, 1\)"),
        ],
    ),
    (
        ThresholdParameters,
        {"noise": "laplace", "scale": 1.0, "threshold": 9, "values": "int64"},
        [
            ({"threshold": 0.0}, "threshold must be positive, to keep what is at least it, or negative, got 0"),
            ({"threshold": math.nan}, "threshold must be a finite number, got nan"),
            ({"threshold": 1.5}, "threshold must be an integer for int64 values, got 1.5"),
            ({"threshold": 2**31, "values": "int32"}, "threshold must be a number of type int32, got 2147483648"),
            ({"scale": 0.0}, "scale must be positive and finite, got 0.0"),
            ({"noise": "gaussian", "scale": Eta(1, 1)}, r"scale must be a number for gaussian noise, got Eta\("),
            ({"noise": "cauchy"}, "noise must be 'laplace' or 'gaussian', got 'cauchy'"),
            ({"values": "int16"}, "values must be 'float64', 'float32', 'int64' or 'int32', got 'int16'"),
            ({"limit": 8}, "limit = 8 must not be below the threshold, 9"),
            ({"grid": -1075, "values": "float64"}, "grid must be an integer from -1074 to 62, got -1075"),
            ({"sensitivities": (1, 1)}, "sensitivities must be three"),
            ({"sensitivities": (1, -1, 1)}, "sensitivities must not be negative"),
        ],
    ),
    (
        Snapping,
        {"scale": 1.0, "bound": 1.0},
        [
            ({"scale": 0.0}, "scale must be positive and finite, got 0.0"),
            ({"bound": math.inf}, "bound must be positive and finite, got inf"),
            ({"precision": 30}, "precision must be 53 bits, or from 2 to 25, got 30"),
            ({"scale": 1.03, "precision": 4}, "scale must be a float of 4 bits, got 1.03"),
            ({"scale": 2.0**-1000}, r"scale must lie between 2\^-900 and 2\^900"),
            ({"bound": 2.0**60}, r"bound must be below 2\^53 steps of 1.0"),
        ],
    ),
    (
        Eta,
        {"x": 1, "y": 2},
        [
            ({"x": 4}, r"x must be below 2\^y = 4, got x = 4"),
            ({"x": 0}, "x must be a positive integer, got 0"),
            ({"y": 0}, "y must be a positive integer, got 0"),
            ({"z": -1}, "z must be a positive integer, got -1"),
            ({"x": 1.0}, "x must be a positive integer, got 1.0"),
        ],
    ),
    (
        Eta.from_epsilon,
        {"nats": 1.0},
        [
            ({"nats": 0.0}, "nats must be positive and finite, got 0.0"),
            ({"nats": math.nan}, "nats must be positive and finite, got nan"),
            ({"nats": math.inf}, "nats must be positive and finite, got inf"),
            ({"nats": 1e-10}, "nats = 1e-10 is too small for a resolution of 32 bits"),
            ({"resolution": -1}, "resolution must be at least 1 bit, got -1"),
        ],
    ),
    (
        selection_eta,
        {"epsilon": 1.0},
        [
            ({"epsilon": -1.0}, "epsilon must be positive and finite, got -1.0"),
            ({"sensitivity": 0.0}, "sensitivity must be positive and finite, got 0.0"),
        ],
    ),
    (
        Claim,
        {"epsilon": 1.0},
        [
            ({"epsilon": -0.1}, "epsilon must be non-negative and finite, got -0.1"),
            ({"epsilon": Decimal("NaN")}, "epsilon must be non-negative and finite, got nan"),
            ({"epsilon": Decimal("1e999")}, "epsilon must be non-negative and finite, got inf"),
            ({"epsilon": 1e9}, "epsilon must be at most 100000 nats, got 1000000000.0"),
            ({"delta": 1.5}, "delta must be between 0 and 1, got 1.5"),
        ],
    ),
    (Zcdp, {"rho": 1.0}, [({"rho": -1.0}, "must be")]),
    (Zcdp(1.0).epsilon, {"delta": 0.5}, [({"delta": 0.0}, "must be")]),
    (Zcdp(1.0).delta, {"epsilon": 1.0}, [({"epsilon": -1.0}, "must be")]),
    (noise_eta, {"epsilon": 1.0, "steps": 1}, [({"steps": 0}, "steps must be at least 1, got 0")]),
    (noise_claim, {"eta": Eta(1, 1), "steps": 1}, [({"steps": -1}, "steps must not be negative, got -1")]),
    (loss_bound, {"mechanism": Snapping(1.0, 4.0, 12)}, [({"mechanism": Snapping(1.0, 4.0, 8)}, r"bound .* got 4.0")]),
    (scale_for, {"epsilon": 1.0, "bound": 1.0}, [({"epsilon": 1e-16}, "epsilon must exceed .* at 53 bits, got 1e-16")]),
    (implied, {"claim": Claim(1.0), "epsilon": 1.0}, [({"claim": Profile(lambda epsilon: 2.0)}, "delta")]),
]


@pytest.mark.parametrize(("build", "sound", "changes"), CASES, ids=range(len(CASES)))
def test_bad_parameters_are_named_with_their_value(
    build: Callable[..., Any], sound: dict[str, Any], changes: list[tuple[dict[str, Any], str]]
) -> None:
    build(**sound)
    for changed, message in changes:
        with pytest.raises(ValueError, match=message):
            build(**sound | changed)


@pytest.mark.parametrize(
    "kind",
    [
        Gdp,
        Zcdp,
        Claim,
        *(lambda number, of=of: of(2.0, number) for of in (Claim, Renyi)),
        lambda number: Renyi(number, 1.0),
    ],
)
def test_numbers_that_no_float_equals_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"must be equal to a float, got 4/3: the nearest one is 1\.333"):
        kind(Fraction(4, 3))
    with pytest.raises(TypeError, match="must be a number, got '1'"):
        kind("1")
