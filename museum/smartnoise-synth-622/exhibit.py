"""The covariances of two columns with bounds."""

import importlib.metadata
import importlib.util
from types import ModuleType

import pandas as pd
from hypothesis import strategies as st

from subnormal import Claim, change_one

ROWS, COLUMNS = 4, ["a", "b"]


def module(path: str) -> ModuleType:
    """Return a module of the release by its file: importing the package needs torch."""
    file = importlib.metadata.distribution("smartnoise-synth").locate_file(path)
    spec = importlib.util.spec_from_file_location("module", str(file))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


covariance = module("snsynth/models/dp_covariance.py").DPcovariance


def function(rows: list[tuple[float, float]]) -> list[float]:
    bounds = pd.DataFrame({0: [0.0, 1.0], 1: [0.0, 1.0]})
    released = covariance(ROWS, COLUMNS, bounds, 1.0).release(pd.DataFrame(rows, columns=COLUMNS))
    return [round(one, 3) for one in released]  # the low bits of the noise are another flaw


numbers = st.floats(allow_nan=False, allow_infinity=False)
data = st.lists(st.tuples(numbers, numbers), min_size=ROWS, max_size=ROWS)
adjacent = change_one()
claim = Claim(epsilon=1.0)
