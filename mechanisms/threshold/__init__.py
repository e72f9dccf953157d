"""Thresholded noise: a histogram whose keys are private."""
