from snsql.sql._mechanisms.approx_bounds import approx_bounds


def function(values):
    return approx_bounds([float(value) for value in values], 1.0)
