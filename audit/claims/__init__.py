"""Claims of libraries: numbers that they compute, held against certified bounds on the true value."""

TOLERANCE = 1e-4  # relative: the last digit of a budget that anybody states
