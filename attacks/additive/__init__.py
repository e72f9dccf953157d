"""Attacks on additive noise and on sums."""

FILES = (  # with attacks, in the order of reports
    "least_significant_bits",
    "grid_precision",
    "sensitivity_underestimation",
    "absorption",
    "box_muller_inversion",
    "coarse_noise",
)
