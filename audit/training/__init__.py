"""Loops of DP-SGD, stage by stage."""
