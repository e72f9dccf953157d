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


def gaussian(sigma, steps, delta):
    return upper(GaussianMechanism(sigma), steps, delta)


def laplace(scale, steps, delta):
    return upper(LaplaceMechanism(mu=1 / scale), steps, delta)


def sampled_gaussian(sigma, sampling, steps, delta):
    return upper(PoissonSubsampledGaussianMechanism(sampling, sigma), steps, delta)


ANSWERS = {
    ("prv", "gaussian"): gaussian,
    ("prv", "laplace"): laplace,
    ("prv", "sampled-gaussian"): sampled_gaussian,
}
