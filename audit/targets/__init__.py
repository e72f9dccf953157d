"""Other people's mechanisms under audit."""
