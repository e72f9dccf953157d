"""So that `python -m audit` works where subnormal is installed. Nothing of ours imports it."""
