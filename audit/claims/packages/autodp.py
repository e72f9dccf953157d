"""autodp: its mechanisms and transformers."""

from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, PureDP_Mechanism, zCDP_Mechanism
from autodp.transformer_zoo import AmplificationBySampling, Composition


def composed(one, steps, delta):
    return Composition()([one], [steps]).get_approxDP(delta)


def gaussian(sigma, steps, delta):
    return composed(GaussianMechanism(sigma), steps, delta)


def laplace(scale, steps, delta):
    return composed(LaplaceMechanism(scale), steps, delta)


def sampled_gaussian(sigma, sampling, steps, delta):
    one = GaussianMechanism(sigma)
    one.neighboring = "add_remove"
    return composed(
        AmplificationBySampling(PoissonSampling=True)(one, sampling, improved_bound_flag=True), steps, delta
    )


def zcdp(rho, delta):
    return zCDP_Mechanism(rho).get_approxDP(delta)


def composition(epsilon, failure, steps, delta):
    """Return ε of pure mechanisms together. Raises ValueError for others."""
    if failure:
        raise ValueError("only pure privacy is composed")
    return composed(PureDP_Mechanism(epsilon), steps, delta)


def mixed_composition(budgets, delta):
    """Return ε of pure mechanisms together. Raises ValueError for others."""
    if any(failure for _, failure in budgets):
        raise ValueError("only pure privacy is composed")
    mechanisms = [PureDP_Mechanism(epsilon) for epsilon, _ in budgets]
    return Composition()(mechanisms, [1] * len(mechanisms)).get_approxDP(delta)


def fixed_sample_gaussian(sigma, sample, left_out, steps, delta):
    """The deviation of a mechanism is in units of what a replaced record moves, here 2."""
    one = GaussianMechanism(sigma / 2)
    one.neighboring = "replace_one"
    share = sample / max(1, sample + left_out)
    return composed(AmplificationBySampling(PoissonSampling=False)(one, share, improved_bound_flag=True), steps, delta)


ANSWERS = {
    ("rdp", "gaussian"): gaussian,
    ("rdp", "laplace"): laplace,
    ("rdp", "sampled-gaussian"): sampled_gaussian,
    ("rdp", "zcdp"): zcdp,
    ("rdp", "composition"): composition,
    ("rdp", "mixed-composition"): mixed_composition,
    ("rdp", "fixed-sample-gaussian"): fixed_sample_gaussian,
}
