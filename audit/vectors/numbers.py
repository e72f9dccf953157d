"""How numbers are written in vectors."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

EXACT = 1 << 53  # integers up to here are exact in every JSON parser
DIGITS = 6  # of bounds: what processors compute differently lies far behind them


def as_json(value: Any) -> Any:
    """Return a number, text or truth as JSON: integers beyond 2^53 are texts, and so are "inf", "-inf" and "nan"."""
    inexact = not math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and abs(value) > EXACT
    return str(value) if inexact else value


def outward(low: float, high: float) -> tuple[float, float]:
    """Return bounds of six significant digits that hold those given.

    >>> outward(0.1234564, 0.1234564)
    (0.123456, 0.123457)
    """
    down, up = (Context(prec=DIGITS, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    return float(down.create_decimal_from_float(low)), float(up.create_decimal_from_float(high))
