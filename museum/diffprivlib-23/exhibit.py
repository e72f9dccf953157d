"""The second moments of two columns, with Wishart noise."""

import importlib.metadata
import sys
from types import ModuleType

import numpy as np
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

package = ModuleType("diffprivlib")  # importing the whole package needs an old scikit-learn
package.__path__ = [str(importlib.metadata.distribution("diffprivlib").locate_file("diffprivlib"))]
sys.modules["diffprivlib"] = package

from diffprivlib.mechanisms.wishart import Wishart  # noqa: E402 - after the lines that let it be imported

claim = Claim(epsilon=1.0)
mechanism = Wishart().set_epsilon(claim.epsilon).set_sensitivity(1.0)


def function(records: list[tuple[float, float]]) -> list[float]:
    """Return x·x, x·y and y·y with noise, rounded: the low bits of float noise are a flaw of their own."""
    columns = np.array(records).reshape(-1, 2)
    (xx, xy), (_, yy) = mechanism.randomise(columns.T @ columns)
    return [round(float(moment), 3) for moment in (xx, xy, yy)]


data = st.lists(st.tuples(st.floats(-0.7, 0.7), st.floats(-0.7, 0.7)), max_size=20)
adjacent = add_or_remove()
