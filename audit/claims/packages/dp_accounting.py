"""dp-accounting: accountants of privacy loss distributions and of Rényi divergences, for added or removed records.

The interval of a loss distribution, a free choice that its estimate is pessimistic for, follows the size of the losses:
with the default of 10^-4 an answer takes minutes where losses are large.
"""

import math

from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import common, privacy_loss_distribution
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp import rdp_privacy_accountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant


def gaussian(sigma):
    return dp_event.GaussianDpEvent(sigma)


def laplace(scale):
    return dp_event.LaplaceDpEvent(scale)


def sampled_gaussian(sigma, sampling):
    return dp_event.PoissonSampledDpEvent(sampling, gaussian(sigma))


def sampled_laplace(scale, sampling):
    return dp_event.PoissonSampledDpEvent(sampling, laplace(scale))


def interval(loss, steps):
    """Return the interval for losses of this size: a thousandth of those of all steps, and at most that of one."""
    return loss * min(1.0, 1e-3 * math.sqrt(steps))


def pld(event, steps, scale, **rest):
    """Return the accountant after so many steps. scale: of the noise; losses have a size of the sampling over it."""
    width = interval((rest.get("sampling") or 1.0) / scale, steps)
    return PLDAccountant(value_discretization_interval=width).compose(event(scale, **rest), steps)


def pld_gaussian(sigma, steps, delta):
    return pld(gaussian, steps, sigma).get_epsilon(delta)


def pld_gaussian_delta(sigma, steps, epsilon):
    return pld(gaussian, steps, sigma).get_delta(epsilon)


def pld_laplace(scale, steps, delta):
    return pld(laplace, steps, scale).get_epsilon(delta)


def pld_sampled_gaussian(sigma, sampling, steps, delta):
    return pld(sampled_gaussian, steps, sigma, sampling=sampling).get_epsilon(delta)


def pld_sampled_laplace(scale, sampling, steps, delta):
    return pld(sampled_laplace, steps, scale, sampling=sampling).get_epsilon(delta)


def pld_discrete_laplace(scale, steps, delta):
    one = privacy_loss_distribution.from_discrete_laplace_mechanism(
        1 / scale, value_discretization_interval=interval(1 / scale, steps)
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_discrete_gaussian(sigma, steps, delta):
    one = privacy_loss_distribution.from_discrete_gaussian_mechanism(
        sigma, value_discretization_interval=interval(1 / sigma, steps)
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_composition(epsilon, failure, steps, delta):
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, failure), value_discretization_interval=interval(epsilon, steps)
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_mixed_composition(budgets, delta):
    width = interval(max(epsilon for epsilon, _ in budgets), 1)
    total = privacy_loss_distribution.identity(value_discretization_interval=width)
    for epsilon, failure in budgets:
        one = common.DifferentialPrivacyParameters(epsilon, failure)
        total = total.compose(
            privacy_loss_distribution.from_privacy_parameters(one, value_discretization_interval=width)
        )
    return total.get_epsilon_for_delta(delta)


def rdp(event):
    """Return the function of a kind's parameters that composes an event and asks for ε at δ."""
    return lambda steps, delta, **rest: RdpAccountant().compose(event(**rest), steps).get_epsilon(delta)


def rdp_gaussian_delta(sigma, steps, epsilon):
    return RdpAccountant().compose(gaussian(sigma), steps).get_delta(epsilon)


def rdp_fixed_sample_gaussian(sigma, sample, left_out, steps, delta):
    """The noise multiplier of an event is the deviation over the largest norm of a value, here 1."""
    event = dp_event.SampledWithoutReplacementDpEvent(sample + left_out, sample, gaussian(sigma))
    one = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    return one.compose(event, steps).get_epsilon(delta)


def rdp_renyi(alpha, tau, delta):
    return rdp_privacy_accountant.compute_epsilon([alpha], [tau], delta)[0]


def rdp_sampled_gaussian_renyi(alpha, **rest):
    return RdpAccountant(orders=[alpha]).compose(sampled_gaussian(**rest))._rdp[0]


def rdp_zcdp(rho, delta):
    return RdpAccountant().compose(dp_event.ZCDpEvent(rho)).get_epsilon(delta)


ANSWERS = {
    ("pld", "gaussian"): pld_gaussian,
    ("pld", "gaussian-delta"): pld_gaussian_delta,
    ("pld", "laplace"): pld_laplace,
    ("pld", "discrete-laplace"): pld_discrete_laplace,
    ("pld", "discrete-gaussian"): pld_discrete_gaussian,
    ("pld", "sampled-gaussian"): pld_sampled_gaussian,
    ("pld", "sampled-laplace"): pld_sampled_laplace,
    ("pld", "composition"): pld_composition,
    ("pld", "mixed-composition"): pld_mixed_composition,
    ("rdp", "gaussian"): rdp(gaussian),
    ("rdp", "gaussian-delta"): rdp_gaussian_delta,
    ("rdp", "laplace"): rdp(laplace),
    ("rdp", "sampled-gaussian"): rdp(sampled_gaussian),
    ("rdp", "sampled-gaussian-renyi"): rdp_sampled_gaussian_renyi,
    ("rdp", "fixed-sample-gaussian"): rdp_fixed_sample_gaussian,
    ("rdp", "renyi"): rdp_renyi,
    ("rdp", "zcdp"): rdp_zcdp,
}
