"""Attacks on DP-SGD: one canary gradient, there or not."""

FILES = (  # with attacks, in the order of reports
    "float_noise",
    "batch_size",
    "no_number",
    "scaled_noise",
    "shuffling",
)
