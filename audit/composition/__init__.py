"""What many releases cost together."""
