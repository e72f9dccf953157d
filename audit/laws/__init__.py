"""The law of unmodified Python code: each uniform is an interval of integers, and the code splits it."""
