"""The attacks of the catalogue for another budget: their inputs and events are derived from ε anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from subnormal.attacks.additive.absorption import absorption
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.additive.least_significant_bits import least_significant_bits
from subnormal.attacks.additive.sensitivity_underestimation import (
    sensitivity_repeated_rounding,
    sensitivity_rounding,
    sensitivity_rounding_float64,
)
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.attacks.exponential.rounded_addition import USUAL, rounded_addition
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal, zero_rounding_two_outcomes
from subnormal.attacks.partitions.negligible_region import negligible_region
from subnormal.attacks.private_selection.absorbed_scores import selection_absorption
from subnormal.attacks.randomized_response.certain_response import certain_response
from subnormal.attacks.randomized_response.uneven_choice import uneven_choice, unreported_category
from subnormal.attacks.sparse_vector.absorbed_threshold import absorbed_threshold
from subnormal.attacks.sparse_vector.clamped_noise import clamped_noise, finite_threshold
from subnormal.attacks.sparse_vector.published_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from subnormal.attacks.threshold.boundary import boundary
from subnormal.attacks.threshold.rounding_before_threshold import rounding_before_threshold
from subnormal.attacks.threshold.singleton_key import singleton_key
from subnormal.attacks.threshold.uniform_floor import uniform_floor

AnyAttack = Attack[Any, Any, Any]

CONSTRUCTORS: Mapping[str, Callable[[float], AnyAttack]] = {  # by the attack's name, up to an @
    "zero-rounding": zero_rounding,
    "zero-rounding-two-outcomes": zero_rounding_two_outcomes,
    "zero-rounding-refusal": zero_rounding_refusal,
    "truncated-addition": truncated_addition,
    "rounded-addition-float16": partial(rounded_addition, outcomes=USUAL["float16"][1], float_type=np.float16),
    "rounded-addition-float32": partial(rounded_addition, outcomes=USUAL["float32"][1], float_type=np.float32),
    "gumbel-ties": gumbel_ties,
    "least-significant-bits": least_significant_bits,
    "least-significant-bits-float32": partial(least_significant_bits, float_type=np.float32),
    "grid-precision": grid_precision,
    "grid-precision-float32": partial(grid_precision, float_type=np.float32),
    "grid-precision-float16": partial(grid_precision, float_type=np.float16),
    "sensitivity-rounding": sensitivity_rounding,
    "sensitivity-rounding-float64": sensitivity_rounding_float64,
    "sensitivity-repeated-rounding": sensitivity_repeated_rounding,
    "absorption": absorption,
    "absorbed-threshold": absorbed_threshold,
    "clamped-noise": clamped_noise,
    "finite-threshold": finite_threshold,
    "sparse-vector-noisy-value": noisy_value,
    "sparse-vector-unscaled-noise": unscaled_noise,
    "sparse-vector-noiseless-answers": noiseless_answers,
    "sparse-vector-no-cutoff": no_cutoff,
    "selection-absorption": selection_absorption,
    "negligible-region": negligible_region,
    "singleton-key": singleton_key,
    "uniform-floor": uniform_floor,
    "rounding-before-threshold": rounding_before_threshold,
    "boundary": boundary,
    "certain-response": certain_response,
    "unreported-category": unreported_category,
    "uneven-choice": uneven_choice,
}


def at_epsilon(attack: AnyAttack, epsilon: float) -> AnyAttack:
    """Return the attack for a budget of ε nats, or the same attack where it is not derived from one.

    Raises ValueError where the attack cannot be made for that ε.

    >>> from subnormal.attacks.exponential.zero_rounding import zero_rounding
    >>> at_epsilon(zero_rounding(), 2.0).name
    'zero-rounding@epsilon=2.0'
    """
    constructor = CONSTRUCTORS.get(attack.name.partition("@")[0])
    return attack if constructor is None else constructor(epsilon)
