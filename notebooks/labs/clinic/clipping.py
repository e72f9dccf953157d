"""Bounds on what one patient contributes."""


def clip(value: float, low: float, high: float) -> float:
    """Return the value moved into [low, high]."""
    return min(max(value, low), high)
