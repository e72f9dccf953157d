"""Four people with a city and a trade, of which synthetic records are made."""

from hypothesis import strategies as st

from subnormal import Claim, change_one

cities, trades = st.sampled_from(["Bergen", "Oslo", "Tromsø"]), st.sampled_from(["baker", "smith", "tailor"])
data = st.lists(st.tuples(cities, trades), min_size=4, max_size=4)
adjacent = change_one()
claim = Claim(epsilon=1.0)
