"""opacus: its accountants. Their files are loaded by themselves: importing the package needs torch."""

import importlib
import importlib.metadata
import importlib.util
import sys
import types


def module(path):
    """Return a module of the release by its file."""
    file = importlib.metadata.distribution("opacus").locate_file("opacus/accountants/analysis/" + path)
    spec = importlib.util.spec_from_file_location(path.replace(".", "_"), str(file))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def without_torch(name, **names):
    """Make a module of the release known that holds these names only, and finds the files of its folder."""
    made = types.ModuleType(name)
    made.__path__ = [str(importlib.metadata.distribution("opacus").locate_file(name.replace(".", "/")))]
    vars(made).update(names)
    sys.modules[name] = made


def prv_accountant():
    """Return the class; None in a release that has none."""
    without_torch("opacus")
    without_torch("opacus.accountants")
    without_torch("opacus.optimizers", DPOptimizer=object)
    try:
        return importlib.import_module("opacus.accountants.prv").PRVAccountant
    except ModuleNotFoundError:
        return None


gdp, rdp = module("gdp.py"), module("rdp.py")
PRV = prv_accountant()
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


def prv_sampled_gaussian(sigma, sampling, steps, delta):
    one = PRV()
    one.history = [(sigma, sampling, steps)]
    return one.get_epsilon(delta)


def prv_gaussian(sigma, steps, delta):
    return prv_sampled_gaussian(sigma, 1.0, steps, delta)


ANSWERS = {
    ("gdp", "sampled-gaussian"): gdp_sampled_gaussian,
    ("rdp", "sampled-gaussian"): rdp_sampled_gaussian,
    ("rdp", "gaussian"): rdp_gaussian,
    ("rdp", "sampled-gaussian-renyi"): rdp_sampled_gaussian_renyi,
    ("rdp", "renyi"): rdp_renyi,
}
if PRV is not None:
    ANSWERS |= {("prv", "sampled-gaussian"): prv_sampled_gaussian, ("prv", "gaussian"): prv_gaussian}
