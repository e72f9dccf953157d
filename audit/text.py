"""Numbers and foreign text for one line of output. All reports and commands format their numbers here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

DIGITS_MAX = 19  # of a result: all 17 of a float, also where `short` takes two off
SHOWN = 160  # characters of foreign text


def quoted(value: object) -> str:
    """Return foreign output as one short line without control characters."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr, ensure_ascii=False)
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    text = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return repr(text) if isinstance(value, str) else text


def printable(text: str) -> str:
    """Return the text with control characters, and others that cannot be shown, escaped as in Python.

    >>> printable("\x1b[31mno")
    '\\\\x1b[31mno'
    """
    return "".join(one if one.isprintable() or one in "\t\n" else ascii(one)[1:-1] for one in text)


def error_text(error: BaseException) -> str:
    """Return the text of an error for a row.

    >>> error_text(ValueError("no runs"))
    'ValueError: no runs'
    """
    return f"{type(error).__name__}: {error}"


def short(value: float | None, digits: int = 4) -> str:
    """Return a result in a few digits, or ∞ or –. Only 0 is written as 0, and no number below 1 as 1.

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


def e_value(logarithm: float) -> str:
    """Return the wealth of a bet in a few digits, from its natural logarithm.

    >>> e_value(0.0), e_value(1e9)
    ('1', '1e+304')
    """
    return short(math.exp(min(700.0, logarithm)), 3)


def thousandths(value: float) -> str:
    """Return a probability with three decimals, for columns that are read downwards.

    >>> thousandths(0.98956)
    '0.990'
    """
    return f"{value:.3f}"


def short_apart(one: float, other: float, digits: int = 4) -> tuple[str, str]:
    """Return two results in a few digits, or in as many as tell them apart: those of two floats are enough.

    >>> short_apart(0.25, 0.75, 4), short_apart(1.0, 1.0000000000000002, 12)
    (('0.25', '0.75'), ('1', '1.0000000000000002'))
    >>> short_apart(2**60, 2**60 + 1)
    ('1.152921504606847e+18', '1.152921504606847e+18')
    """
    found = short(one, digits), short(other, digits)
    if found[0] != found[1] or one == other or digits >= DIGITS_MAX:
        return found
    return short_apart(one, other, digits + 1)


def interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval in a few digits.

    >>> interval((0.25, 0.5))
    '[0.25, 0.5]'
    """
    return "–" if bounds is None else f"[{short(bounds[0], 3)}, {short(bounds[1], 3)}]"


def counted(number: int, one: str) -> str:
    """Return a number of things.

    >>> counted(1, "pair"), counted(2000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def given(value: float, digits: int = 12) -> str:
    """Return a chosen number, such as a parameter, with all of its digits, up to `digits`.

    >>> given(0.5), given(20_000.0), given(1e-06), given(math.inf)
    ('0.5', '20000', '1e-06', '∞')
    """
    return "∞" if value == math.inf else f"{value:.{digits}g}"


def at_least(value: float) -> str:
    """Return a lower bound to six decimals, rounded down.

    >>> at_least(0.1234567)
    '0.123456'
    """
    return f"{Decimal(value).quantize(Decimal('1e-6'), ROUND_FLOOR)}"


def at_most(value: float) -> str:
    """Return an upper bound to one digit, rounded up.

    >>> at_most(3.2e-12), at_most(5e-324)
    ('4e-12', '5e-324')
    """
    return f"{float(Context(prec=1, rounding=ROUND_CEILING).create_decimal_from_float(value)):.1g}"


def on_axis(value: float) -> str:
    """Return a number as the label of an axis.

    >>> on_axis(-0.30000000000000004), on_axis(2e7), on_axis(1e-5)
    ('−0.3', '2e7', '1e−5')
    """
    digits, _, exponent = given(value, 6).partition("e")
    return (f"{digits}e{int(exponent)}" if exponent else digits).replace("-", "−")


def power_of_ten(place: int) -> str:
    """Return a power of 10 as the label of an axis.

    >>> power_of_ten(-2), power_of_ten(3), power_of_ten(-12)
    ('0.01', '1000', '10⁻¹²')
    """
    if -3 < place < 4:
        return given(10.0**place)
    return "10" + str(place).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def percent(share: float) -> str:
    r"""Return a confidence, rounded down.

    >>> percent(0.95), percent(1 - 0.05 / 178)
    ('95\xa0%', '99.971\xa0%')
    """
    places = 0 if share == 1 else max(0, math.ceil(-math.log10(1 - share)) - 1)
    digits = f"{math.floor(100 * share * 10**places + 1e-6) / 10**places:.{places}f}"
    return (digits.rstrip("0").rstrip(".") if places else digits) + "\u00a0%"  # no line break there


def frame(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return records as a pandas data frame. Raises ModuleNotFoundError, with an install command, without pandas."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ModuleNotFoundError("to_frame needs pandas: pip install pandas", name="pandas") from None
    return pandas.DataFrame.from_records(list(records))
