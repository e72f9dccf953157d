"""prv-accountant: the upper end of its interval for ε, with a hundredth of δ as the error of δ."""

from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import (
    GaussianMechanism,
    LaplaceMechanism,
    PoissonSubsampledGaussianMechanism,
)


def upper(variable, steps, delta):
    accountant = PRVAccountant([variable], max_self_compositions=[steps], eps_error=0.1, delta_error=delta / 100)
    return accountant.compute_epsilon(delta, [steps])[2]


ANSWERS = {
    ("prv", "gaussian"): lambda sigma, **rest: upper(GaussianMechanism(sigma), **rest),
    ("prv", "laplace"): lambda scale, **rest: upper(LaplaceMechanism(mu=1 / scale), **rest),
    ("prv", "sampled-gaussian"): lambda sigma, sampling, **rest: upper(
        PoissonSubsampledGaussianMechanism(sampling, sigma), **rest
    ),
}
