"""The mechanism over integer partitions: a whole list of frequencies."""
