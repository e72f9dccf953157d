"""dp-accounting: accountants of privacy loss distributions and of Rényi divergences, for added or removed records.

The interval of a loss distribution is the user's choice, and every choice is meant to be sound. The library proposes
10^-4 nats, with which an answer takes minutes where losses are large, and means nothing where they are small. Here it
follows the size of the losses.
"""

import math

from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import common, privacy_loss_distribution
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from dp_accounting.rdp import rdp_privacy_accountant
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

POINTS = 10_000  # intervals of one step's losses, at most: a few hundredths of a second
DENSE = 1_000  # intervals of one step, up to which the library computes intervals**steps, with all digits
STEPS = 3_000_000  # of which that takes a second
REACH = 10.0  # standard deviations of Gaussian noise that the library keeps


def gaussian(sigma):
    return dp_event.GaussianDpEvent(sigma)


def laplace(scale):
    return dp_event.LaplaceDpEvent(scale)


def sampled_gaussian(sigma, sampling):
    return dp_event.PoissonSampledDpEvent(sampling, gaussian(sigma))


def interval(span, deviation, steps):
    """Return the interval for losses of one step: a thousandth of the deviation of all steps' losses.

    span: of the losses, which fill POINTS intervals at most. deviation: of the losses; the largest interval.
    Raises ValueError where there are too many steps for the library's composition.
    """
    width = max(span / POINTS, deviation * min(1.0, 1e-3 * math.sqrt(steps)))
    if steps > STEPS and span / width <= DENSE:
        raise ValueError(f"{steps} steps of few intervals take minutes")
    return width


def deviation(span, loss, sampling):
    """Return about the deviation of a step's losses. loss: the logarithm of the second moment without sampling."""
    return min(sampling * math.sqrt(math.expm1(min(loss, 700.0))), math.sqrt(sampling) * span)


def sampled_span(loss, sampling):
    """Return the span of the losses of a sampled step whose losses without sampling are from -loss to loss."""
    most = loss + math.log(sampling + (1 - sampling) * math.exp(-loss))
    return most - math.log1p(-sampling * -math.expm1(-loss))


def pld(event, width, steps):
    return PLDAccountant(value_discretization_interval=width).compose(event, steps)


def gaussians(sigma, steps):
    mu = math.sqrt(steps) / sigma  # the library composes them to one
    return pld(gaussian(sigma), (mu * mu + 2 * REACH * mu) / POINTS, steps)


def pld_laplace(scale, steps, delta):
    return pld(laplace(scale), interval(2 / scale, 1 / scale, steps), steps).get_epsilon(delta)


def pld_sampled(event, loss, second, sampling, steps, delta):
    """Return ε of a sampled step. loss: the largest without sampling. second: the logarithm of its second moment."""
    span = sampled_span(loss, sampling)
    width = interval(span, deviation(span, second, sampling), steps) if sampling else 1.0
    return pld(dp_event.PoissonSampledDpEvent(sampling, event), width, steps).get_epsilon(delta)


def pld_truncated(sigma, sampling, batch, records, steps, delta):
    """Return ε of truncated Poisson samples. Its losses are at most those of a sampled step of half the deviation."""
    span = sampled_span(2 / sigma**2 + 2 * REACH / sigma, sampling)
    width = interval(span, deviation(span, 4 / sigma**2, sampling), steps)
    event = dp_event.TruncatedSubsampledGaussianDpEvent(records, sampling, batch, sigma)
    return pld(event, width, steps).get_epsilon(delta)


def pld_discrete_laplace(scale, steps, delta):
    one = privacy_loss_distribution.from_discrete_laplace_mechanism(
        1 / scale, value_discretization_interval=interval(2 / scale, 1 / scale, steps)
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_discrete_gaussian(sigma, steps, delta):
    one = privacy_loss_distribution.from_discrete_gaussian_mechanism(
        sigma, value_discretization_interval=interval(2 * REACH / sigma + 1 / sigma**2, 1 / sigma, steps)
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_composition(epsilon, failure, steps, delta):
    one = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, failure),
        value_discretization_interval=interval(2 * epsilon, epsilon, steps),
    )
    return one.self_compose(steps).get_epsilon_for_delta(delta)


def pld_mixed_composition(budgets, delta):
    most = max(epsilon for epsilon, _ in budgets)
    width = interval(2 * most, most, 1)
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


def rdp_fixed_sample_gaussian(sigma, sample, left_out, steps, delta):
    """The noise multiplier of an event is the deviation over the largest norm of a value, here 1."""
    event = dp_event.SampledWithoutReplacementDpEvent(sample + left_out, sample, gaussian(sigma))
    one = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    return one.compose(event, steps).get_epsilon(delta)


ANSWERS = {
    ("pld", "gaussian"): lambda sigma, steps, delta: gaussians(sigma, steps).get_epsilon(delta),
    ("pld", "gaussian-delta"): lambda sigma, steps, epsilon: gaussians(sigma, steps).get_delta(epsilon),
    ("pld", "laplace"): pld_laplace,
    ("pld", "discrete-laplace"): pld_discrete_laplace,
    ("pld", "discrete-gaussian"): pld_discrete_gaussian,
    ("pld", "sampled-gaussian"): lambda sigma, **rest: pld_sampled(
        gaussian(sigma), 0.5 / sigma / sigma + REACH / sigma, 1 / sigma / sigma, **rest
    ),
    ("pld", "truncated-sample-gaussian"): pld_truncated,
    ("pld", "sampled-laplace"): lambda scale, **rest: pld_sampled(laplace(scale), 1 / scale, 1 / scale, **rest),
    ("pld", "composition"): pld_composition,
    ("pld", "mixed-composition"): pld_mixed_composition,
    ("rdp", "gaussian"): rdp(gaussian),
    ("rdp", "gaussian-delta"): lambda sigma, steps, epsilon: (
        RdpAccountant().compose(gaussian(sigma), steps).get_delta(epsilon)
    ),
    ("rdp", "laplace"): rdp(laplace),
    ("rdp", "sampled-gaussian"): rdp(sampled_gaussian),
    ("rdp", "sampled-gaussian-renyi"): lambda alpha, **rest: (
        RdpAccountant(orders=[alpha]).compose(sampled_gaussian(**rest))._rdp[0]
    ),
    ("rdp", "fixed-sample-gaussian"): rdp_fixed_sample_gaussian,
    ("rdp", "renyi"): lambda alpha, tau, delta: rdp_privacy_accountant.compute_epsilon([alpha], [tau], delta)[0],
    ("rdp", "zcdp"): lambda rho, delta: RdpAccountant().compose(dp_event.ZCDpEvent(rho)).get_epsilon(delta),
}
