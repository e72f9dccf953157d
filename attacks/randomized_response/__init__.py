"""Attacks on randomized response."""

FILES = ("certain_response", "uneven_choice")  # with attacks, in the order of reports
