"""The cities of a table of people, with the number of people of each.

The reader is built with δ = 10^-3. Its noisy counts spend that δ, and its threshold spends it again.
"""

from hypothesis import strategies as st

from subnormal import Claim, add_or_remove

data = st.lists(st.sampled_from(["Bergen", "Oslo", "Tromsø"]), max_size=20)
adjacent = add_or_remove()
claim = Claim(epsilon=1.0, delta=2e-3)
