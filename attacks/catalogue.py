"""Every attack of the house. To add one: a file that describes it, and a line here."""

from __future__ import annotations

from typing import Any

import numpy as np

from subnormal.attacks.additive.absorption import absorption
from subnormal.attacks.additive.box_muller_inversion import box_muller_inversion
from subnormal.attacks.additive.grid_precision import grid_precision
from subnormal.attacks.additive.least_significant_bits import least_significant_bits
from subnormal.attacks.additive.sensitivity_underestimation import (
    sensitivity_repeated_rounding,
    sensitivity_rounding,
    sensitivity_rounding_float64,
)
from subnormal.attacks.core.attack import Attack
from subnormal.attacks.exponential.gumbel_ties import gumbel_ties
from subnormal.attacks.exponential.rounded_addition import rounded_addition
from subnormal.attacks.exponential.truncated_addition import truncated_addition
from subnormal.attacks.exponential.zero_rounding import zero_rounding, zero_rounding_refusal, zero_rounding_two_outcomes
from subnormal.attacks.partitions.negligible_region import negligible_region
from subnormal.attacks.private_selection.absorbed_scores import selection_absorption
from subnormal.attacks.randomized_response.certain_response import absorbing_epsilon, certain_response
from subnormal.attacks.randomized_response.uneven_choice import uneven_choice, unreported_category
from subnormal.attacks.side_channels.geometric_trials import geometric_trials, geometric_trials_gaussian
from subnormal.attacks.side_channels.precision_retry import precision_retry
from subnormal.attacks.side_channels.rejection_time import rejection_time
from subnormal.attacks.side_channels.rejection_tries import rejection_tries, rejection_tries_two_outcomes
from subnormal.attacks.side_channels.subnormal_time import subnormal_time
from subnormal.attacks.side_channels.weight_concentration import early_termination, weight_concentration
from subnormal.attacks.sparse_vector.absorbed_threshold import absorbed_threshold
from subnormal.attacks.sparse_vector.clamped_noise import clamped_noise, finite_threshold
from subnormal.attacks.sparse_vector.published_variants import no_cutoff, noiseless_answers, noisy_value, unscaled_noise
from subnormal.attacks.threshold.boundary import boundary
from subnormal.attacks.threshold.rounding_before_threshold import rounding_before_threshold
from subnormal.attacks.threshold.singleton_key import singleton_key
from subnormal.attacks.threshold.uniform_floor import uniform_floor
from subnormal.mechanisms.families import unknown

ATTACKS: tuple[Attack[Any, Any, Any], ...] = (
    zero_rounding(),
    zero_rounding_two_outcomes(),
    zero_rounding_refusal(),
    truncated_addition(),
    rounded_addition(epsilon=0.02, outcomes=1 + 1024, float_type=np.float16),
    rounded_addition(epsilon=0.001, outcomes=1 + (1 << 22), float_type=np.float32),
    gumbel_ties(),
    least_significant_bits(epsilon=1.0),
    least_significant_bits(epsilon=0.01),
    least_significant_bits(epsilon=1.0, float_type=np.float32),
    least_significant_bits(epsilon=0.01, float_type=np.float32),
    grid_precision(epsilon=1.0),
    grid_precision(epsilon=0.1),
    grid_precision(epsilon=1.0, float_type=np.float16),
    sensitivity_rounding(),
    sensitivity_rounding_float64(),
    sensitivity_repeated_rounding(),
    absorption(),
    selection_absorption(),
    box_muller_inversion(sigma=1.0),
    box_muller_inversion(sigma=20.0),
    absorbed_threshold(),
    clamped_noise(),
    finite_threshold(),
    noisy_value(),
    unscaled_noise(),
    noiseless_answers(),
    no_cutoff(),
    negligible_region(),
    singleton_key(),
    uniform_floor(),
    rounding_before_threshold(),
    boundary(),
    boundary(threshold=2),
    certain_response(),
    certain_response(epsilon=absorbing_epsilon(np.float32)),
    certain_response(epsilon=absorbing_epsilon(np.float16)),
    unreported_category(),
    uneven_choice(),
    rejection_tries(),
    rejection_tries(tries=10),
    rejection_tries_two_outcomes(),
    weight_concentration(),
    early_termination(),
    precision_retry(),
    geometric_trials(),
    geometric_trials_gaussian(),
    subnormal_time(),
    rejection_time(),
)

# What files for other languages, and mechanisms of others, can be attacked with: nothing beside the outcome is seen.
ON_OUTCOMES = tuple(attack for attack in ATTACKS if attack.channel is None)


def attack(name: str) -> Attack[Any, Any, Any]:
    """Return an attack: its two worlds, its parameters, and the event that tells the worlds apart.

    Args:
        name: the attack's name, as `subnormal list` shows it.

    Returns:
        The attack. It is a description and runs nothing.

    Raises:
        LookupError: no attack has that name; the message has the nearest one.
    """
    for candidate in ATTACKS:
        if candidate.name == name:
            return candidate
    raise LookupError(unknown("attack", name, [candidate.name for candidate in ATTACKS]))
