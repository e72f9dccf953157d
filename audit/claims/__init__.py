"""Claims of libraries: numbers that they compute, held against certified bounds on the true value."""
