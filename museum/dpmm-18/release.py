import copy

import pandas
from dpmm.models.mst import MST

UNFITTED = MST(epsilon=1.0, delta=1e-5, compress=False, n_jobs=1)  # takes a second: it searches for its noise


def function(values):
    mechanism = copy.copy(UNFITTED)
    mechanism.fit(pandas.DataFrame({"value": values}), marginals_only=True)
    ((_, counts, _, _),) = mechanism.measures
    return [float(count) for count in counts]
