"""One step of noisy gradient descent on a sample, with the ε of the Gaussian accountant."""

import importlib.metadata
import importlib.util
import random
from types import ModuleType

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

SAMPLE_RATE, NOISE_MULTIPLIER, DELTA = 0.1, 0.6, 1e-3


def module(path: str) -> ModuleType:
    """Return a module of the release by its file: importing the package needs torch."""
    file = importlib.metadata.distribution("opacus").locate_file(path)
    spec = importlib.util.spec_from_file_location("module", str(file))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def function(gradients: list[float]) -> float:
    """Return the noisy sum of a Poisson sample of gradients of norm at most 1.

    It is rounded: the low bits of float noise are a flaw of their own.
    """
    sample = [one for one in gradients if random.random() < SAMPLE_RATE]
    return round(sum(sample) + random.gauss(0.0, NOISE_MULTIPLIER), 3)


analysis = module("opacus/accountants/analysis/gdp.py")
epsilon = analysis.compute_eps_poisson(steps=1, noise_multiplier=NOISE_MULTIPLIER, sample_rate=SAMPLE_RATE, delta=DELTA)
data = st.lists(st.floats(-1, 1))
adjacent = add_or_remove()
claim = Claim(epsilon=epsilon, delta=DELTA)
