"""Exact sampling from weights and of noise, shared by the families."""
