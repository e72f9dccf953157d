"""Attacks on the exponential mechanism."""
