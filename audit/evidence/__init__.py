"""Evidence from laws, from all strings of bits, from runs and from times."""
