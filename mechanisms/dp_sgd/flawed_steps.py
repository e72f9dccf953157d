"""DP-SGD with a flaw in a step, as people write it. The noise is exact: nothing but the flaw is to blame.

The claim is what an accountant says of Poisson sampling and Gaussian noise, whatever the code does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.mechanism import Mechanism
from subnormal.mechanisms.dp_sgd.accounting import accountant_claim
from subnormal.mechanisms.dp_sgd.family import DpSgdParameters, Gradients
from subnormal.mechanisms.dp_sgd.steps import Integers, Step, on_grid
from subnormal.mechanisms.privacy import Claim


def claim(parameters: DpSgdParameters, data_in: Gradients, data_out: Gradients) -> Claim:
    """Return what an accountant says: see `accountant_claim`."""
    return accountant_claim(parameters.multiplier, parameters.rate, parameters.steps, parameters.delta)


def mean_of_actual_batch(noisy: Integers, marks: Integers, parameters: DpSgdParameters) -> NDArray[Any]:
    """Return the noisy sums over the actual size of the batch, 1 where it is empty: the size is not public."""
    return on_grid(noisy, marks, parameters) / np.maximum(marks, 1)[:, np.newaxis]


def _member(name: str, step: Step) -> Mechanism[Gradients, DpSgdParameters, Any]:
    return Mechanism(f"dp-sgd-{name}", "dp-sgd", step.sample, claim, step.law)


BATCH_SIZE = _member("actual-batch-size", Step(released=mean_of_actual_batch))
