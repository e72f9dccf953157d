"""autodp: its mechanisms and transformers."""

from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, PureDP_Mechanism, zCDP_Mechanism
from autodp.transformer_zoo import AmplificationBySampling, Composition


def composed(several, steps, delta):
    return Composition()(several, steps).get_approxDP(delta)


def pure(*budgets):
    """Return pure mechanisms with these budgets. Raises ValueError for others."""
    if any(failure for _, failure in budgets):
        raise ValueError("only pure privacy is composed")
    return [PureDP_Mechanism(epsilon) for epsilon, _ in budgets]


def sampled(sigma, share, neighboring, poisson):
    one = GaussianMechanism(sigma)
    one.neighboring = neighboring
    return AmplificationBySampling(PoissonSampling=poisson)(one, share, improved_bound_flag=True)


def fixed_sample_gaussian(sigma, sample, left_out, steps, delta):
    """The deviation of a mechanism is in units of what a replaced record moves, here 2."""
    one = sampled(sigma / 2, sample / max(1, sample + left_out), "replace_one", False)
    return composed([one], [steps], delta)


ANSWERS = {
    ("rdp", "gaussian"): lambda sigma, steps, delta: composed([GaussianMechanism(sigma)], [steps], delta),
    ("rdp", "laplace"): lambda scale, steps, delta: composed([LaplaceMechanism(scale)], [steps], delta),
    ("rdp", "sampled-gaussian"): lambda sigma, sampling, steps, delta: composed(
        [sampled(sigma, sampling, "add_remove", True)], [steps], delta
    ),
    ("rdp", "zcdp"): lambda rho, delta: zCDP_Mechanism(rho).get_approxDP(delta),
    ("rdp", "composition"): lambda epsilon, failure, steps, delta: composed(pure((epsilon, failure)), [steps], delta),
    ("rdp", "mixed-composition"): lambda budgets, delta: composed(pure(*budgets), [1] * len(budgets), delta),
    ("rdp", "fixed-sample-gaussian"): fixed_sample_gaussian,
}
