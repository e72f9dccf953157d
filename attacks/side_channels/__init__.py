"""Attacks that count tries, bits or steps, or read a clock."""
