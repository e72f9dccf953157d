"""Attacks on thresholded noise."""

FILES = (  # with attacks, in the order of reports
    "singleton_key",
    "uniform_floor",
    "rounding_before_threshold",
    "boundary",
)
