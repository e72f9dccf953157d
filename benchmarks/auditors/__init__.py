"""Auditors held to their word: does "ε ≥ x at confidence c" keep its confidence?"""
