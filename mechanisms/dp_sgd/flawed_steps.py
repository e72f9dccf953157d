"""DP-SGD with one flaw in a step, as people write it. The noise is exact: nothing but the flaw is to blame.

The claim is what an accountant says of Poisson sampling and discrete noise, whatever the code does.

- actual-batch-size: the noisy sum is divided by the size of the batch, which is not public.
- empty-batch: the mean over an empty batch is 0/0, and what is released is not a number.
- microbatch-noise: a batch is taken in pieces of `batch_size` records, and noise is added to the sum of each.
- shuffled: the batches are pieces of a random order, and the claim is that of Poisson sampling. The pieces are
  independent neither of each other nor of the number of records (Chua et al. 2024, "How Private are DP-SGD
  Implementations?").
- batch-clipping: the mean over the batch is clipped to C, and the noise is that of σ·C/batch_size: each gradient would
  have to be clipped. Released is batch_size times this: the sum clipped to batch_size·C, with noise of σ·C. (Tramèr et
  al. 2022, "Debugging Differential Privacy: A Case Study for Privacy Auditing", found such a sensitivity, wrong by a
  factor of the batch size, by an audit.)
- norm-float16: gradients are float16, as in mixed precision. One beyond 65,504 is infinite, its norm is infinite, the
  factor C/∞ is 0, and ∞·0 is not a number. (A norm that overflows alone is harmless: the gradient is lost.)
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients
from subnormal.mechanisms.dp_sgd.steps import Integers, Step, on_grid
from subnormal.mechanisms.privacy import Claim


def claim(parameters: DpSgdParameters, data_in: Gradients, data_out: Gradients) -> Claim:
    """Return what an accountant says of discrete noise: see `accountant_claim`."""
    lattice = floor(parameters.clip_steps)
    return accountant_claim(parameters.multiplier, parameters.rate, parameters.steps, parameters.delta, lattice)


def mean_of_actual_batch(noisy: Integers, marks: Integers, parameters: DpSgdParameters) -> NDArray[Any]:
    """Return the noisy sums over the actual size of the batch, 1 where it is empty: the size is not public."""
    return on_grid(noisy, marks, parameters) / np.maximum(marks, 1)[:, np.newaxis]


def no_number_where_empty(noisy: Integers, marks: Integers, parameters: DpSgdParameters) -> NDArray[Any]:
    """Return the noisy sums, NaN for an empty batch."""
    return np.where(marks[:, np.newaxis] == 0, np.nan, on_grid(noisy, marks, parameters))


def one_draw_each_microbatch(marks: Integers, parameters: DpSgdParameters) -> Integers:
    """Return the number of microbatches of a batch: none where it is empty."""
    return np.asarray(-(-marks // parameters.batch_size), dtype=np.int64)


def unclipped(gradients: Gradients, parameters: DpSgdParameters) -> Integers:
    """Return gradients rounded to the grid, whatever their norm."""
    return np.trunc(gradients * 2.0**-parameters.grid).astype(np.int64)


def clipped_sums(batch: Integers, marks: Integers, parameters: DpSgdParameters) -> Integers:
    """Return the sums clipped to the norm batch_size·C."""
    norms = np.sqrt(np.square(batch.astype(np.float64)).sum(axis=1, keepdims=True))
    most = parameters.batch_size * float(parameters.clip_steps)
    return np.asarray(np.trunc(batch * np.minimum(1.0, most / np.maximum(norms, 1.0))), dtype=np.int64)


def clipped_in_float16(gradients: Gradients, parameters: DpSgdParameters) -> NDArray[np.float16]:
    """Return g·min(1, C/‖g‖) for each gradient, all in float16: NaN for one with an infinite coordinate."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        half = gradients.astype(np.float16)
        norms = np.sqrt((half * half).sum(axis=1, keepdims=True, dtype=np.float16))
        made: NDArray[np.float16] = half * np.minimum(np.float16(1), np.float16(parameters.clip) / norms)
    return made


def finite_part(gradients: Gradients, parameters: DpSgdParameters) -> Integers:
    """Return the clipped float16 gradients on the grid, 0 for NaN; exact sums stand for those of float32."""
    return unclipped(np.nan_to_num(clipped_in_float16(gradients, parameters).astype(np.float64)), parameters)


def no_number(gradients: Gradients, parameters: DpSgdParameters) -> Integers:
    """Return 1 for a record whose clipped gradient is not a number, else 0."""
    return np.asarray(np.isnan(clipped_in_float16(gradients, parameters)).any(axis=1), dtype=np.int64)


def no_number_where_marked(noisy: Integers, marks: Integers, parameters: DpSgdParameters) -> NDArray[Any]:
    """Return the noisy sums, NaN where a gradient of the batch is."""
    return np.where(marks[:, np.newaxis] > 0, np.nan, on_grid(noisy, marks, parameters))


def _member(name: str, step: Step) -> Mechanism[Gradients, DpSgdParameters, Any]:
    return Mechanism(f"dp-sgd-{name}", "dp-sgd", step.sample, claim, step.law)


BATCH_SIZE = _member("actual-batch-size", Step(released=mean_of_actual_batch))
EMPTY_BATCH = _member("empty-batch", Step(released=no_number_where_empty))
MICROBATCH_NOISE = _member("microbatch-noise", Step(draws=one_draw_each_microbatch))
SHUFFLED = _member("shuffled", Step(batching="shuffled"))
BATCH_CLIPPING = _member("batch-clipping", Step(of_record=unclipped, centre=clipped_sums))
NORM_FLOAT16 = _member("norm-float16", Step(of_record=finite_part, mark=no_number, released=no_number_where_marked))
