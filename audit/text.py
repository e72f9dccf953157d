"""Numbers and other people's text, made fit for one line: every number that is shown is written here."""

from __future__ import annotations

import json
import math

SHOWN = 160  # characters of what somebody else printed


def quoted(value: object) -> str:
    """Return what somebody else printed as one short line without control characters."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr, ensure_ascii=False)
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return repr(text) if isinstance(value, str) else text


def printable(text: str) -> str:
    """Return the text with what no page or terminal can show, as control characters, in Python's notation.

    >>> printable("\x1b[31mno")
    '\\\\x1b[31mno'
    """
    return "".join(one if one.isprintable() or one in "\t\n" else ascii(one)[1:-1] for one in text)


def error_text(error: BaseException) -> str:
    """Return an error as a row shows it.

    >>> error_text(ValueError("no runs"))
    'ValueError: no runs'
    """
    return f"{type(error).__name__}: {error}"


def short(value: float | None, digits: int = 4) -> str:
    """Return a number that was found: ∞, –, or a few digits, never 0 for a positive number or 1 for one below.

    >>> short(0.25), short(12345.678), short(1 - 1e-9), short(None)
    ('0.25', '1.2e+04', '1−1e-09', '–')
    """
    if value is None:
        return "–"
    if value == math.inf:
        return "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        text = f"{value:.{digits}g}"
        return f"1−{1 - value:.1g}" if text == "1" and value < 1 else text
    return f"{value:.{max(2, digits - 2)}g}"


def interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval that was found.

    >>> interval((0.25, 0.5))
    '[0.25, 0.5]'
    """
    return "–" if bounds is None else f"[{short(bounds[0], 3)}, {short(bounds[1], 3)}]"


def given(value: float) -> str:
    """Return a number that somebody has chosen, as it is written: with every digit that it has, up to 12.

    >>> given(0.5), given(20_000.0), given(1e-06)
    ('0.5', '20000', '1e-06')
    """
    return f"{value:.12g}"
