"""Attacks on thresholded noise."""
