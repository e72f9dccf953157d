"""Audit of any function from three things: the function, the domain of its data, and its claim."""
