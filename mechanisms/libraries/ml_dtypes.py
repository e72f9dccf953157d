"""ml_dtypes (https://github.com/jax-ml/ml_dtypes): the naive mechanisms in the float types of accelerators.

bfloat16, float8_e4m3fn and float8_e5m2 have 8, 4 and 3 digits, and so have their uniforms. ml_dtypes is the arithmetic
of JAX for them: every operation is computed in float32 and rounded to the type.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from subnormal.mechanisms.additive.family import Data, LaplaceParameters
from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.core.validation import Utilities
from subnormal.mechanisms.exponential import naive as exponential_naive
from subnormal.mechanisms.exponential.family import ExponentialParameters
from subnormal.mechanisms.laplace import naive as laplace_naive
from subnormal.mechanisms.numerics import float_types

PACKAGE = "ml_dtypes"


def _are_finite(float_type: str, data: Utilities, parameters: ExponentialParameters) -> bool:
    """Return whether no utility is infinite or NaN in the type."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.asarray(data).astype(float_types.of(float_type)).astype(np.float64)).all())


def _exponential(float_type: str) -> Mechanism[Utilities, ExponentialParameters, int]:
    name = f"exponential-naive-{float_type}"
    return exponential_naive.of_type(name, float_type, package=PACKAGE, takes=partial(_are_finite, float_type))


def _is_in(float_type: str, data: Data, parameters: LaplaceParameters) -> bool:
    """Return whether the data are numbers of the type, and so is all noise."""
    with np.errstate(over="ignore"):
        same = (np.asarray(data).astype(float_types.of(float_type)).astype(np.float64) == np.asarray(data)).all()
    return bool(same) and laplace_naive.holds_noise(laplace_naive.member_scale(parameters, float_type), float_type)


def _laplace(float_type: str) -> Mechanism[Data, LaplaceParameters, Any]:
    made = laplace_naive.of_type(f"laplace-naive-{float_type}", float_type)
    return replace(made, package=PACKAGE, takes=partial(_is_in, float_type))


LAPLACE_NAIVE_BFLOAT16 = _laplace("bfloat16")
LAPLACE_NAIVE_FLOAT8_E4M3FN = _laplace("float8_e4m3fn")
LAPLACE_NAIVE_FLOAT8_E5M2 = _laplace("float8_e5m2")
EXPONENTIAL_NAIVE_BFLOAT16 = _exponential("bfloat16")
EXPONENTIAL_NAIVE_FLOAT8_E4M3FN = _exponential("float8_e4m3fn")
EXPONENTIAL_NAIVE_FLOAT8_E5M2 = _exponential("float8_e5m2")
