"""Attacks on the sparse vector technique."""

FILES = ("absorbed_threshold", "clamped_noise", "published_variants")  # with attacks, in the order of reports
