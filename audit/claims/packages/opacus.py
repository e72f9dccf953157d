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


def compute_rdp(sigma, sampling, steps, orders):
    return rdp.compute_rdp(q=sampling, noise_multiplier=sigma, steps=steps, orders=orders)


def spent(divergences, orders, delta):
    return rdp.get_privacy_spent(orders=orders, rdp=divergences, delta=delta)[0]


def rdp_sampled_gaussian(sigma, steps, delta, sampling=1.0):
    return spent(compute_rdp(sigma, sampling, steps, ALPHAS), ALPHAS, delta)


def prv_sampled_gaussian(sigma, steps, delta, sampling=1.0):
    one = PRV()
    one.history = [(sigma, sampling, steps)]
    return one.get_epsilon(delta)


ANSWERS = {
    ("gdp", "sampled-gaussian"): lambda sigma, sampling, steps, delta: gdp.compute_eps_poisson(
        steps=steps, noise_multiplier=sigma, sample_rate=sampling, delta=delta
    ),
    ("rdp", "sampled-gaussian"): rdp_sampled_gaussian,
    ("rdp", "gaussian"): rdp_sampled_gaussian,
    ("rdp", "sampled-gaussian-renyi"): lambda sigma, sampling, alpha: compute_rdp(sigma, sampling, 1, alpha),
    ("rdp", "renyi"): lambda alpha, tau, delta: spent([tau], [alpha], delta),
}
if PRV is not None:
    ANSWERS |= {("prv", "sampled-gaussian"): prv_sampled_gaussian, ("prv", "gaussian"): prv_sampled_gaussian}
