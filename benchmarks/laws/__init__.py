"""What laws prove of functions as they are."""
