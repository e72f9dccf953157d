from opendp import meas
from opendp.mod import enable_features

enable_features("contrib", "floating-point")
function = meas.make_base_laplace(1.0)
