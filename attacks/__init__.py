"""Attacks on differential-privacy mechanisms as pure descriptions: two worlds, and what to look for."""
