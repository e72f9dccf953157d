try:
    from opendp import transformations as trans
except ImportError:  # its name up to 0.5
    from opendp import trans
from opendp.mod import enable_features

enable_features("contrib")

multiply = trans.make_lipschitz_float_mul(0.5, (1.0, 10.0))
assert multiply.map(1.0) <= 0.5 + 1e-9


def function(number):
    return multiply(number)
