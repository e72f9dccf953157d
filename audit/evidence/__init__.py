"""Evidence from laws, from all bit strings, from runs and from times."""
