"""Attacks on the sparse vector technique."""
