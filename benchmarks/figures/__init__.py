"""Figures of what exactness costs."""
