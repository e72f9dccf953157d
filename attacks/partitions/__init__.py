"""Attacks on the mechanism over integer partitions."""
