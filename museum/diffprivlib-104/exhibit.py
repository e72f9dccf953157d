"""The coefficient of a linear regression of one feature within [0, 100], without an intercept."""

import numpy as np
from diffprivlib.models import LinearRegression
from hypothesis import strategies as st

from subnormal import Claim, change_one

records = st.tuples(st.floats(0, 100), st.floats(0, 1))

claim = Claim(epsilon=1.0)
data = st.lists(records, min_size=1, max_size=10)
adjacent = change_one(records)


def function(rows):
    feature, target = np.array(rows).T
    model = LinearRegression(epsilon=1.0, bounds_X=(0, 100), bounds_y=(0, 1), fit_intercept=False)
    return float(model.fit(feature[:, None], target).coef_[0])
