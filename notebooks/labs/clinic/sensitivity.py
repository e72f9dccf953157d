"""How far one patient moves a statistic."""


def of_count() -> int:
    """Return the sensitivity of a number of patients."""
    return 1


def of_sum(low: int, high: int) -> int:
    """Return the sensitivity of a sum of numbers, one of each patient, that are clipped to [low, high]."""
    return high - low
