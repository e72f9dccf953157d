"""Loops of DP-SGD, stage by stage: sampling, isolation, clipping, aggregation, noise, accounting, and what else leaves."""
