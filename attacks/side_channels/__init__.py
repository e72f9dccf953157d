"""Attacks that count tries, bits or steps, or read a clock."""

FILES = (  # with attacks, in the order of reports
    "rejection_tries",
    "weight_concentration",
    "precision_retry",
    "geometric_trials",
    "subnormal_time",
    "rejection_time",
)
