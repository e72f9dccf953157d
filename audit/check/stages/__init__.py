"""The stages of a check, a file each, and what they share."""
