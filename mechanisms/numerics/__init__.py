"""Arithmetic with directed rounding, and the grids of the float formats."""
