"""Attacks on private selection."""

FILES = ("absorbed_scores",)  # with attacks, in the order of reports
