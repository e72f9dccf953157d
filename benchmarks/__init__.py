"""What exactness costs: the exact mechanism timed against the same mechanism in plain floats."""
