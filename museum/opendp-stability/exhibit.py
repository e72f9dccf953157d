"""Counts of ten records by their key; those above a threshold are released."""

from hypothesis import strategies as st
from opendp import meas, trans
from opendp.mod import enable_features
from opendp.typing import L1Distance

from subnormal import Claim, change_one

enable_features("contrib", "floating-point")

SIZE, SCALE, THRESHOLD = 10, 1.0, 4.0
counts = trans.make_count_by(SIZE, MO=L1Distance[float], TIA=str, TOA=int)
function = counts >> meas.make_base_stability(SIZE, SCALE, THRESHOLD, MI=L1Distance[float], TIK=str, TIC=int)
data = st.lists(st.text(max_size=3), min_size=SIZE, max_size=SIZE)
adjacent = change_one()
claim = Claim(epsilon=1.0, delta=1e-6)
if not function.check(2, (claim.epsilon, claim.delta)):  # a changed record is two apart
    raise ValueError(f"the relation does not accept {claim}")
