"""The counts of pairs of values, from which PrivBayes makes its conditional distributions."""

import importlib.metadata
import importlib.util
import sys
from types import ModuleType

import pandas as pd
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

COLUMNS, EPSILON = ["a", "b"], 2.0
KNOWN = [(0, 0), (0, 1), (1, 0), (1, 1)]


class Unused(ModuleType):
    """A module of which nothing is called here: importing the whole package needs torch and pgmpy."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return object


for name in (
    "pgmpy.factors.discrete.CPD",
    "pgmpy.models",
    "pgmpy.sampling",
    "synthcity.logger",
    "synthcity.plugins.core.dataloader",
    "synthcity.plugins.core.distribution",
    "synthcity.plugins.core.plugin",
    "synthcity.plugins.core.schema",
    "synthcity.plugins.core.serializable",
    "synthcity.utils.reproducibility",
):
    for end in range(1, name.count(".") + 2):
        part = ".".join(name.split(".")[:end])
        sys.modules.setdefault(part, Unused(part))
file = importlib.metadata.distribution("synthcity").locate_file("synthcity/plugins/privacy/plugin_privbayes.py")
spec = importlib.util.spec_from_file_location("plugin_privbayes", str(file))
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)
mechanism = release.PrivBayes(epsilon=EPSILON, K=1)


def function(records: list[tuple[int, int]]) -> list[float]:
    """Return the noisy count of each pair, rounded: the low bits of float noise are a flaw of their own.

    The library counts the pairs that occur, so four records that everybody knows hold one of each.
    """
    frame = pd.DataFrame([*records, *KNOWN], columns=COLUMNS)
    return [round(count, 2) for count in mechanism._get_noisy_counts_for_attributes(frame, COLUMNS)["count"]]


data = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=EPSILON / 2)
