"""The attacks of the catalogue for another budget: their inputs and events are derived from ε anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from attacks.absorbed_threshold import absorbed_threshold
from attacks.absorption import absorption
from attacks.attack import Attack
from attacks.certain_response import certain_response
from attacks.clamped_noise import clamped_noise, finite_threshold
from attacks.grid_precision import grid_precision
from attacks.gumbel_ties import gumbel_ties
from attacks.least_significant_bits import least_significant_bits
from attacks.negligible_region import negligible_region
from attacks.rounded_addition import USUAL, rounded_addition
from attacks.rounding_before_threshold import rounding_before_threshold
from attacks.selection_absorption import selection_absorption
from attacks.sensitivity_underestimation import (
    sensitivity_repeated_rounding,
    sensitivity_rounding,
    sensitivity_rounding_float64,
)
from attacks.singleton_key import singleton_key
from attacks.sparse_vector_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from attacks.threshold_boundary import boundary
from attacks.truncated_addition import truncated_addition
from attacks.uneven_choice import uneven_choice, unreported_category
from attacks.uniform_floor import uniform_floor
from attacks.zero_rounding import zero_rounding, zero_rounding_refusal, zero_rounding_two_outcomes

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

    >>> from attacks.zero_rounding import zero_rounding
    >>> at_epsilon(zero_rounding(), 2.0).name
    'zero-rounding@epsilon=2.0'
    """
    constructor = CONSTRUCTORS.get(attack.name.partition("@")[0])
    return attack if constructor is None else constructor(epsilon)
