"""The exponential mechanism: select an outcome by its utility."""
