"""What the vectors find without Subnormal: flaws of the museum, mutants of samplers and maps, and released libraries."""
