"""Neighbouring inputs of any Hypothesis strategy, and the relations that make them neighbours."""
