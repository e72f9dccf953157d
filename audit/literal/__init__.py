"""Data as Python that rebuilds them, and where what it names is imported from."""
