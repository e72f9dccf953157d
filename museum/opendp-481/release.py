from opendp import meas
from opendp.mod import enable_features

enable_features("contrib")
function = meas.make_randomized_response_bool(0.75)
