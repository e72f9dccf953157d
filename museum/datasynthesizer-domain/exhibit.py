"""The counts of pairs of values, from which PrivBayes makes its conditional distributions."""

import pandas as pd
from DataSynthesizer.lib.PrivBayes import get_noisy_distribution_of_attributes
from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

COLUMNS = ["a", "b"]
claim = Claim(epsilon=1.0)


def function(records: list[tuple[int, int]]) -> list[float]:
    """Return the noisy count of each pair, rounded: the low bits of float noise are a flaw of their own."""
    counts = get_noisy_distribution_of_attributes(COLUMNS, pd.DataFrame(records, columns=COLUMNS), claim.epsilon)
    return [round(count, 2) for count in counts["count"]]


data = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20)
adjacent = add_or_remove()
