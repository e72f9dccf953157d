"""Randomized response: each person reports a category, the true one or another."""
