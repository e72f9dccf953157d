"""Statistics of a clinic, released with differential privacy.

Neighbours: one patient more, or one less. Each query is ε-differentially private, for the ε that it is given.
"""
