"""A real frequency list: how often each word comes up in the Python files of an installed package, the most first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import scipy

from subnormal.mechanisms.partitions.family import Frequencies

MILLION = 1_000_000


def _words() -> Iterator[str]:
    for path in sorted(Path(scipy.__file__).parent.rglob("*.py")):
        yield from re.findall("[a-z]+", path.read_text(encoding="utf-8").lower())


@lru_cache(maxsize=1)
def frequencies(total: int = MILLION) -> Frequencies:
    """Return the counts of the first `total` words of scipy's Python files, in the order of their paths."""
    return np.array(sorted(Counter(islice(_words(), total)).values(), reverse=True))
