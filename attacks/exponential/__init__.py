"""Attacks on the exponential mechanism."""

FILES = (  # with attacks, in the order of reports
    "zero_rounding",
    "truncated_addition",
    "rounded_addition",
    "auction",
    "gumbel_ties",
)
