import numpy as np
from snsynth.mwem import MWEMSynthesizer

COLUMNS, EPSILON = 4, 2.0
KNOWN = [(0,) * COLUMNS, (1,) * COLUMNS]


def function(records):
    """Return the synthetic number of records that have a 1 in each column, rounded: the low bits of float noise are a
    flaw of their own.

    The library takes the domain from the data, so two records that everybody knows span it.
    """
    synthesizer = MWEMSynthesizer(
        epsilon=EPSILON, q_count=10, iterations=1, mult_weights_iterations=1, splits=[list(range(COLUMNS))]
    )
    synthesizer.fit(np.array([*records, *KNOWN]))
    histogram = synthesizer.synthetic_histograms[0][0]
    return [round(float(histogram.take(1, axis=column).sum()), 2) for column in range(COLUMNS)]
