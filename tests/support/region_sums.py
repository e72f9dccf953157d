"""GetSum of the working paper on the discrete sparse vector mechanism: what laws are compared with."""

from fractions import Fraction


def get_sum(base: Fraction, low: int | None, high: int | None) -> Fraction:
    """Return (1−B)·Σ B^|k| over low ≤ k ≤ high, in closed form; None stands for −∞ or ∞. (GetSum, working paper.)

    >>> get_sum(Fraction(1, 2), 0, 0), get_sum(Fraction(1, 2), None, None)
    (Fraction(1, 2), Fraction(3, 2))
    """
    if low is not None and high is not None:
        return (1 + base) - get_sum(base, None, low - 1) - get_sum(base, high + 1, None)
    if high is not None:  # from −∞
        return base**-high if high <= 0 else 1 + base - base ** (high + 1)
    if low is not None:
        return base**low if low >= 0 else 1 + base - base ** (1 - low)
    return 1 + base
