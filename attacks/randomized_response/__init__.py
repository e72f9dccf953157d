"""Attacks on randomized response."""
