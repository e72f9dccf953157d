"""Bounds and tests, one pure function for each formula."""
