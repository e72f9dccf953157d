"""Attacks on private selection."""
