"""The histogram of six yes-or-no answers, whose number is public.

The repaired source (0.2.4 to 0.2.6) is on the package index without its compiled library, so no release of it runs.
"""

from hypothesis import strategies as st

from subnormal import Claim, change_one

data = st.lists(st.sampled_from(["no", "yes"]), min_size=6, max_size=6)
adjacent = change_one()
claim = Claim(epsilon=1.0)
