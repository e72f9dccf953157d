"""How numbers are written in vectors."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

DIGITS = 6  # of bounds: what processors compute differently lies far behind them


def outward(low: float, high: float) -> tuple[float, float]:
    """Return bounds of six significant digits that hold those given.

    >>> outward(0.1234564, 0.1234564)
    (0.123456, 0.123457)
    """
    down, up = (Context(prec=DIGITS, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    return float(down.create_decimal_from_float(low)), float(up.create_decimal_from_float(high))
