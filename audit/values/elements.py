"""What expressions of all types share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import numpy as np

FEW = 16  # elements; so few are written one by one
PLAIN = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))  # the types of arrays of Python's numbers


def of_each(text: Callable[[Any], str], elements: Iterable[Any]) -> list[str]:
    """Return the text of each element, made once for an object that comes many times.

    >>> of_each(str, range(1000, 1003))
    ['1000', '1001', '1002']
    """
    elements = list(elements)  # no id is another's while both are held
    places = list(map(id, elements))
    texts = {place: text(one) for place, one in dict(zip(places, elements, strict=True)).items()}
    return [texts[place] for place in places]


def refuse(data: Any) -> str:
    """Raise TypeError: there is no expression."""
    raise TypeError(f"there is no short expression for a {type(data).__name__}")


def written_list(texts: list[str]) -> str:
    """Return an expression for a list; a long one is a sum of repeated elements, [0] + 999 * [37]."""
    stretches = [(text, len(list(same))) for text, same in groupby(texts)]
    if len(texts) <= FEW or 2 * len(stretches) > len(texts):
        return f"[{', '.join(texts)}]"
    return " + ".join(f"[{text}]" if count == 1 else f"{count} * [{text}]" for text, count in stretches)
