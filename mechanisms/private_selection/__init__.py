"""Private selection: the best of private candidates."""
