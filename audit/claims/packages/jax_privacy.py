"""jax_privacy: its accountants of training, which call dp-accounting's, and its sensitivities of strategy matrices.

The interval of losses follows their size.
"""

import math

import jax.numpy as jnp
from jax_privacy import accounting
from jax_privacy.matrix_factorization import sensitivity, toeplitz

RECORDS = 10**9  # of which a Poisson sample takes a share: our shares have at most nine digits


def epsilon(config, sigma, batch, records, steps, delta, method):
    one = accounting.DpsgdTrainingAccountant(config)
    parameters = accounting.DpParams(
        noise_multipliers=sigma, num_samples=records, delta=delta, batch_size=batch, sampling_method=method
    )
    return one.compute_epsilon(steps, parameters)


def rdp(**_):
    return accounting.RdpAccountantConfig()


def pld(sigma, share, steps):
    interval = (share or 1.0) / sigma * min(1.0, 1e-3 * math.sqrt(steps))
    return accounting.PldAccountantConfig(value_discretization_interval=interval)


def sampled_gaussian(config):
    def answer(sigma, sampling, steps, delta):
        one = config(sigma=sigma, share=sampling, steps=steps)
        batch = round(sampling * RECORDS)
        return epsilon(one, sigma, batch, RECORDS, steps, delta, accounting.SamplingMethod.POISSON)

    return answer


def fixed_sample_gaussian(config):
    """The noise multiplier is the deviation over the clipping norm, here 1."""

    def answer(sigma, sample, left_out, steps, delta):
        records = sample + left_out
        one = config(sigma=sigma / 2, share=sample / max(1, records), steps=steps)
        return epsilon(one, sigma, sample, records, steps, delta, accounting.SamplingMethod.FIXED_BATCH_SIZE)

    return answer


def of_matrix(bound):
    return lambda matrix, separation, participations: bound(jnp.array(matrix), separation, participations)


def of_toeplitz(coefficients, steps, separation, participations):
    return math.sqrt(toeplitz.minsep_sensitivity_squared(jnp.array(coefficients), separation, participations, n=steps))


def materialized(bound):
    def answer(coefficients, steps, separation, participations):
        matrix = toeplitz.materialize_lower_triangular(jnp.array(coefficients), steps)
        return bound(matrix, separation, participations)

    return answer


SENSITIVITIES = {
    "upper-bound": sensitivity.get_min_sep_sensitivity_upper_bound,
    "banded": sensitivity.get_sensitivity_banded,
}
ANSWERS = {
    **{
        (name, kind): answer(config)
        for name, config in (("rdp", rdp), ("pld", pld))
        for kind, answer in (("sampled-gaussian", sampled_gaussian), ("fixed-sample-gaussian", fixed_sample_gaussian))
    },
    **{(name, "matrix-sensitivity"): of_matrix(bound) for name, bound in SENSITIVITIES.items()},
    **{(name, "toeplitz-sensitivity"): materialized(bound) for name, bound in SENSITIVITIES.items()},
    ("toeplitz", "toeplitz-sensitivity"): of_toeplitz,
}
