"""DP-SGD in floats of 8, 11 or 24 digits, as people write it: clipping, sums and noise in one type. Not private.

Gradients are rounded to the type, and so is each operation: a norm is the root of squares added up in order, a gradient
is multiplied by min(1, C/norm), and the gradients of a batch are added up one after the other. The noise is that of
array libraries, √2·erfinv of a uniform of 7, 10 or 23 bits (`samplers.float_normals`). So

- few noise values exist, and most outcomes prove the world; none is beyond ±3 σ or so in bfloat16;
- a sum of 2^8 in bfloat16 moves by 1 or not at all, depending on the rounding, and the order of records decides.

The claim is what an accountant says of Gaussian noise in real numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from subnormal.mechanisms.bits import BitSource, require_draws
from subnormal.mechanisms.core.law import Law
from subnormal.mechanisms.core.mechanism import Mechanism, NoLawError, Outcomes
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim
from subnormal.mechanisms.dp_sgd.batches import poisson
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients, as_gradients
from subnormal.mechanisms.gaussian import low_precision
from subnormal.mechanisms.privacy import Claim
from subnormal.mechanisms.samplers import float_normals
from subnormal.mechanisms.samplers.float_normals import FloatNormal, Floats, FloatType, noisy, rounded


def clipped(gradients: Gradients, clip: float, float_type: FloatType) -> Floats:
    """Return g·min(1, C/‖g‖) for each gradient, every operation rounded, shape (records, coordinates)."""
    values = rounded(gradients, float_type)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = rounded(values * values, float_type)
        norms = rounded(np.sqrt(added_up(squares.T, float_type)), float_type)
        factors = np.minimum(rounded(rounded(clip, float_type) / norms, float_type), np.float32(1))
        return rounded(values * factors[:, np.newaxis], float_type)


def added_up(terms: Floats, float_type: FloatType) -> Floats:
    """Return the sum of the terms along the first axis, one after the other, each partial sum rounded."""
    total = np.zeros(terms.shape[1:], dtype=np.float32)
    for term in terms:
        total = rounded(total + term, float_type)
    return total


def sample(data: Gradients, parameters: DpSgdParameters, bits: BitSource, n: int, *, normal: FloatNormal) -> Outcomes:
    """Return n outcomes as float32, shape (n, steps·coordinates), or (n,) where that is one number.

    Raises ValueError for a negative n, and for data that are no gradients.
    """
    require_draws(n)
    terms = clipped(as_gradients(data), parameters.clip, normal.float_type)
    chosen = poisson(parameters, len(terms), bits, n if parameters.rate < 1 else 1)  # 1: all runs have the same batches
    batch = np.where(np.moveaxis(chosen, 2, 0)[..., np.newaxis], terms[:, np.newaxis, np.newaxis, :], np.float32(0))
    each = added_up(batch, normal.float_type).reshape(-1, parameters.steps * data.shape[1])
    sums = np.broadcast_to(each, (n, each.shape[1]))
    normals = normal.draw(bits, sums.size).reshape(sums.shape)
    outcomes = noisy(sums, parameters.multiplier * parameters.clip, normals, normal.float_type)
    return outcomes[:, 0] if outcomes.shape[1] == 1 else outcomes


def law(data: Gradients, parameters: DpSgdParameters, *, normal: FloatNormal) -> Law[float]:
    """Return the exact law of one released number. Raises NoLawError for several, and for sampled batches."""
    terms = clipped(as_gradients(data), parameters.clip, normal.float_type)
    if parameters.steps * data.shape[1] > 1 or parameters.rate < 1:
        raise NoLawError("the law of floats is written down for one step, one coordinate and a rate of 1")
    total = float(added_up(terms, normal.float_type)[0])
    return low_precision.law(total, parameters.multiplier * parameters.clip, normal=normal)


def claim(parameters: DpSgdParameters, data_in: Gradients, data_out: Gradients) -> Claim:
    """Return what an accountant says of Gaussian noise: see `accountant_claim`."""
    return accountant_claim(parameters.multiplier, parameters.rate, parameters.steps, parameters.delta)


def _member(normal: FloatNormal) -> Mechanism[Gradients, DpSgdParameters, Any]:
    name = f"dp-sgd-{normal.float_type}"
    return Mechanism(name, "dp-sgd", partial(sample, normal=normal), claim, partial(law, normal=normal))


FLOAT32 = _member(float_normals.INVERSE_FLOAT32)
FLOAT16 = _member(float_normals.INVERSE_FLOAT16)
BFLOAT16 = _member(float_normals.INVERSE_BFLOAT16)
