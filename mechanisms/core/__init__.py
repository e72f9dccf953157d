"""What a mechanism, a family, a law and an outcome are."""
