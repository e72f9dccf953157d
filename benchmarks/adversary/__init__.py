"""Functions whose flaws a search hardly meets, or whose losses no single part of an outcome shows."""
