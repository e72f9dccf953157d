"""Published flaws of released software, checked as a user would check them: python -m museum."""
