"""Attacks on DP-SGD: one canary gradient, there or not."""
