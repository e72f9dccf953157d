"""What the vectors find without Subnormal: flaws of the museum, and mutants of samplers and maps."""
