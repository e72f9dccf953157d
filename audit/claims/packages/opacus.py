"""opacus: its Gaussian and Rényi accountants. The files are loaded by themselves: importing the package needs torch."""

import importlib.metadata
import importlib.util


def module(path):
    """Return a module of the release by its file."""
    file = importlib.metadata.distribution("opacus").locate_file("opacus/accountants/analysis/" + path)
    spec = importlib.util.spec_from_file_location(path.replace(".", "_"), str(file))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


gdp, rdp = module("gdp.py"), module("rdp.py")
ALPHAS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))  # the default of RDPAccountant


def gdp_sampled_gaussian(sigma, sampling, steps, delta):
    return gdp.compute_eps_poisson(steps=steps, noise_multiplier=sigma, sample_rate=sampling, delta=delta)


def rdp_sampled_gaussian(sigma, sampling, steps, delta):
    divergences = rdp.compute_rdp(q=sampling, noise_multiplier=sigma, steps=steps, orders=ALPHAS)
    return rdp.get_privacy_spent(orders=ALPHAS, rdp=divergences, delta=delta)[0]


def rdp_gaussian(sigma, steps, delta):
    return rdp_sampled_gaussian(sigma, 1.0, steps, delta)


def rdp_sampled_gaussian_renyi(sigma, sampling, alpha):
    return rdp.compute_rdp(q=sampling, noise_multiplier=sigma, steps=1, orders=alpha)


def rdp_renyi(alpha, tau, delta):
    return rdp.get_privacy_spent(orders=[alpha], rdp=[tau], delta=delta)[0]


ANSWERS = {
    ("gdp", "sampled-gaussian"): gdp_sampled_gaussian,
    ("rdp", "sampled-gaussian"): rdp_sampled_gaussian,
    ("rdp", "gaussian"): rdp_gaussian,
    ("rdp", "sampled-gaussian-renyi"): rdp_sampled_gaussian_renyi,
    ("rdp", "renyi"): rdp_renyi,
}
