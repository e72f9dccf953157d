"""The means by which a linear regression centres one feature and the target.

The fit sets aside ε / (features + 1) for them; what is left goes to the coefficients.
"""

import numpy as np
from diffprivlib.models.linear_regression import LinearRegression
from hypothesis import strategies as st

from subnormal import Claim, change_one

ROWS, EPSILON, FEATURES = 2, 2.0, 1

model = LinearRegression(epsilon=EPSILON, bounds_X=(0, 1), bounds_y=(0, 1))
part = EPSILON / (FEATURES + 1)


def function(rows: list[tuple[float, float]]) -> list[float]:
    """Return both means, rounded: the low bits of float noise are a flaw of their own."""
    feature, target = np.array(rows).T
    bounds = (np.zeros(1), np.ones(1))
    centred = model._preprocess_data(
        feature[:, None],
        target,
        fit_intercept=True,
        bounds_X=bounds,
        bounds_y=bounds,
        epsilon=part,
        copy=True,
        check_input=False,
        random_state=None,
    )
    return [round(float(np.ravel(one)[0]), 3) for one in (centred[2], centred[3])]


data = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=ROWS, max_size=ROWS)
adjacent = change_one()
claim = Claim(epsilon=part)
