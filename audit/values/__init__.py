"""Data and outcomes of any type: as tuples of plain values, as Python that rebuilds them, and their distances."""
