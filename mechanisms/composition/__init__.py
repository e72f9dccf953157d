"""Compositions: certified bounds on what many releases of a mechanism cost together."""
