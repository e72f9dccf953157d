from snsql.sql._mechanisms.approx_bounds import quantile


def function(counts):
    zeros, ones = counts
    return quantile([0.0] * zeros + [1.0] * ones, 0.5, 1.0, 0.0, 1.0)
