"""Bounds and tests: one pure function a formula."""
