"""Differential-privacy mechanisms as twins: the naive floating-point one that people write, and an exact one."""
