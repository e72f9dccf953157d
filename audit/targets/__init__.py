"""Targets: mechanisms outside this project, as a command or a Python callable."""
