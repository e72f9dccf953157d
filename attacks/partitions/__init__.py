"""Attacks on the mechanism over integer partitions."""

FILES = ("negligible_region",)  # with attacks, in the order of reports
