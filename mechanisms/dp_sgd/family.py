"""The family `dp-sgd`: the noisy sums of clipped gradients that a training run with differential privacy releases.

Data: per-example gradients, a float64 array of shape (records, coordinates). They stand for those of every step: what a
step releases may decide the next gradients, and no claim here depends on how. Outcome: the released numbers of all
steps, one after the other, a tuple of steps·coordinates numbers; one number where there is only one. Adjacent: the same
records in any order, except one that was added, removed, or replaced by zeros ("zero-out", Chua et al. 2024).

A step draws a batch, clips each gradient of it to the L2 norm C, adds them up, and adds Gaussian noise of standard
deviation σ·C to each coordinate of the sum. In a batch by Poisson sampling each record is with probability q.

Source: Abadi et al. 2016, "Deep Learning with Differential Privacy".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subnormal.mechanisms.core.mechanism import Family
from subnormal.mechanisms.core.validation import is_integer
from subnormal.mechanisms.dp_sgd.accounting import sound_claim
from subnormal.mechanisms.numerics.mpfr import plain
from subnormal.mechanisms.privacy import Claim, require_positive

Gradients: TypeAlias = NDArray[np.float64]  # shape (records, coordinates)

STEPS_MAX = 1 << 16
MULTIPLIER_MIN, MULTIPLIER_MAX = 2.0**-8, 2.0**30
GRID_MIN, GRID_MAX = -1000, 16  # 2^1000 is a float, and sums of 2^23 gradients are 64-bit integers
CLIP_STEPS_MAX = 1 << 24  # of the grid in a clipping norm: its square fits 64-bit integers


@dataclass(frozen=True, slots=True, kw_only=True)
class DpSgdParameters:
    """What is public about a training run.

    multiplier: σ, the standard deviation of the noise in units of the clipping norm. clip: the clipping norm C, L2.
    rate: the probability q of a record to be in a batch. batch_size: how many records members that count them take
    at once: the size of a shuffled batch, of a microbatch, or the expected size that a mean is divided by.
    steps: how many sums are released. delta: where on its δ(ε) curve the claim is stated.
    grid: the exponent k of the granularity 2^k to which members with discrete noise round gradients.
    Raises ValueError for a field outside its range, named in the message.
    """

    multiplier: float
    clip: float = 1.0
    rate: float = 1.0
    batch_size: int = 1
    steps: int = 1
    delta: float = 1e-5
    grid: int = -2

    def __post_init__(self) -> None:
        for name in ("multiplier", "clip", "rate", "delta"):
            object.__setattr__(self, name, float(plain(name, getattr(self, name))))
        require_positive("multiplier", self.multiplier)
        require_positive("clip", self.clip)
        if not 0 < self.rate <= 1:
            raise ValueError(f"rate must be positive and at most 1, got {self.rate}")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must be between 0 and 1, got {self.delta}")
        for name, most in (("batch_size", 1 << 31), ("steps", STEPS_MAX)):
            value = getattr(self, name)
            if not is_integer(value) or not 1 <= value <= most:
                raise ValueError(f"{name} must be an integer from 1 to {most}, got {value!r}")
        if not MULTIPLIER_MIN <= self.multiplier <= MULTIPLIER_MAX:
            raise ValueError(f"multiplier must be from 2^-8 to 2^30, got {self.multiplier}")
        if not is_integer(self.grid) or not GRID_MIN <= self.grid <= GRID_MAX:
            raise ValueError(f"grid must be an integer from {GRID_MIN} to {GRID_MAX}, got {self.grid!r}")
        if not 1 <= self.clip_steps <= CLIP_STEPS_MAX:
            raise ValueError(f"clip must be from 1 to 2^24 steps of 2^{self.grid}, got {self.clip}")

    @property
    def clip_steps(self) -> Fraction:
        """The clipping norm in steps of the grid, exactly."""
        return Fraction(self.clip) / Fraction(2) ** self.grid

    @property
    def variance(self) -> Fraction:
        """The variance (σ·C)² of discrete noise in squared steps of the grid, exactly."""
        return (Fraction(self.multiplier) * self.clip_steps) ** 2


def as_gradients(data: Any) -> Gradients:
    """Return the data. Raises ValueError for what is not a float64 array of shape (records, coordinates)."""
    if not isinstance(data, np.ndarray) or data.dtype != np.float64 or data.ndim != 2 or data.shape[1] == 0:
        got = f"{data.dtype} of shape {data.shape}" if isinstance(data, np.ndarray) else f"a {type(data).__name__}"
        raise ValueError(f"data must be a float64 array of shape (records, coordinates), got {got}")
    return data


def adjacent(parameters: DpSgdParameters, data_in: Gradients, data_out: Gradients) -> bool:
    """Return whether the two differ in one record, which is added, removed, or replaced by zeros."""
    if as_gradients(data_in).shape[1] != as_gradients(data_out).shape[1]:
        return False
    records_in, records_out = (Counter(map(tuple, data.tolist())) for data in (data_in, data_out))
    gone, come = records_in - records_out, records_out - records_in
    if gone.total() > 1 or come.total() > 1:
        return False
    replaced = [*gone, *come] if gone and come else []
    return not replaced or any(not any(record) for record in replaced)


def claim(parameters: DpSgdParameters, data_in: Gradients, data_out: Gradients) -> Claim:
    """Return what a sound member promises: see `accounting.sound_claim`."""
    return sound_claim(parameters.multiplier, parameters.rate, parameters.steps, parameters.delta)


FAMILY: Family[Gradients, DpSgdParameters] = Family(
    name="dp-sgd",
    parameters=DpSgdParameters,
    adjacent=adjacent,
    claim=claim,
    members=(
        "subnormal.mechanisms.dp_sgd.naive:FLOAT32",
        "subnormal.mechanisms.dp_sgd.naive:FLOAT16",
        "subnormal.mechanisms.dp_sgd.naive:BFLOAT16",
        "subnormal.mechanisms.dp_sgd.flawed_steps:BATCH_SIZE",
        "subnormal.mechanisms.dp_sgd.flawed_steps:EMPTY_BATCH",
        "subnormal.mechanisms.dp_sgd.flawed_steps:MICROBATCH_NOISE",
        "subnormal.mechanisms.dp_sgd.flawed_steps:SHUFFLED",
        "subnormal.mechanisms.dp_sgd.flawed_steps:BATCH_CLIPPING",
        "subnormal.mechanisms.dp_sgd.flawed_steps:NORM_FLOAT16",
        "subnormal.mechanisms.dp_sgd.exact:EXACT",
    ),
    order=9,
)
