"""Attacks on additive noise and on sums."""
