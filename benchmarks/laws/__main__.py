"""What the laws of unmodified code prove, and how fast: python -m benchmarks.laws.

Each function is ordinary Python code on `random` or on numpy. `decide` follows it on two inputs until the claim is
decided, or the time is over; unrounded floats go to `one_world_only`. What must come out is known from the literature.
Writes benchmarks/laws/results.md.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.laws.functions import (
    NOISE,
    SLACK,
    geometric,
    noisy_maximum,
    rounded,
    sparse_vector,
    textbook_laplace,
)
from subnormal.audit.laws.comparison import Comparison, decide
from subnormal.audit.laws.floats import OneWorldOnly, one_world_only
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.text import short
from subnormal.mechanisms.privacy import Claim

PAGE = Path(__file__).with_name("results.md")
SECONDS = 30.0  # for one row, at most
QUERIES = 12  # of a sparse vector
HEADER = """# What laws prove of unmodified code

Written by `python -m benchmarks.laws`. Each row is followed for {seconds:g} s at most. A claim ε is tried as
(ε + {slack:g}, {slack:g}). *True* is what the literature says of the claim. A loss is a lower bound; δ is an
upper bound, at the claimed ε. {right} of {rows} rows are decided as the literature says; none is decided otherwise.

| function | draws from | inputs | claim | true | decided | | paths | s |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A function, what it draws from, two inputs, its claim, and whether the literature says that it HOLDS or not."""

    name: str
    source: str
    function: Callable[[Any], Any]
    data_in: Any
    data_out: Any
    epsilon: float
    holds: bool
    floats: bool = False


def rows() -> Iterator[Row]:
    """Yield the table."""
    half = math.exp(-0.5)
    yield Row("randomized response", "random", lambda x: x if random.random() < 0.7 else 1 - x, 0, 1, 0.9, True)
    yield Row("randomized response", "random", lambda x: x if random.random() < 0.75 else 1 - x, 0, 1, 1.0, False)
    yield Row(
        "difference of geometric numbers", "random", lambda x: x + geometric(half) - geometric(half), 0, 1, 0.6, True
    )
    for name, noise in NOISE.items():
        yield Row("rounded noise of scale 2", name, partial(rounded, noise), 0, 1, 0.6, True)
    for size in (3, 5, 8, 20):
        scores = [size % 2] * (size // 2), [1 - size % 2] * (size - size // 2)
        yield Row(
            f"Gumbel maximum of {size}",
            "random",
            noisy_maximum,
            [0, *scores[0], *scores[1]][:size],
            [1, *scores[1], *scores[0]][:size],
            2.1,
            True,
        )
    yield Row(
        "Gumbel maximum of 20",
        "numpy.random",
        lambda x: int(np.argmax(np.array(x) + np.random.gumbel(size=20))),
        [0] * 10 + [1] * 10,
        [1] * 10 + [0] * 10,
        2.1,
        True,
    )
    for source in NOISE:
        for number in range(1, 7):
            for positives in (1, 2, 3, 4) if number <= 4 else (1,):
                name = f"Algorithm {number}" + (f", c = {positives}" if number <= 4 else "")
                low, high = [0] * (QUERIES // 2), [1] * (QUERIES // 2)
                pair = (low + high, high + low)
                yield Row(name, source, sparse_vector(number, NOISE[source], positives), *pair, 1.0, number <= 2)
    unrounded: dict[str, Callable[[float], Any]] = {
        "numpy.random.laplace": lambda x: x + np.random.laplace(),
        "random.gauss": lambda x: random.gauss(x, 1.0),
        "textbook Laplace": lambda x: x + textbook_laplace(1.0),
        "copied sign": lambda x: x + math.copysign(math.log(1 - random.random()), random.random() - 0.5),
        "Box-Muller": lambda x: (
            x + math.sqrt(-2 * math.log(1 - random.random())) * math.cos(math.tau * random.random())
        ),
    }
    for name, noisy in unrounded.items():
        yield Row("unrounded noise of scale 1", name, noisy, 0.0, 1.0, 1.0, False, floats=True)


def decided(row: Row) -> tuple[str, str, int]:
    """Return the verdict, the loss or δ in words, and the number of paths."""
    try:
        found: Comparison | OneWorldOnly | None
        if row.floats:
            found = one_world_only(row.function, row.data_in, row.data_out, seconds=SECONDS)
        else:
            claim = Claim(row.epsilon + SLACK, SLACK)
            found = decide(row.function, row.data_in, row.data_out, claim, seconds=SECONDS)
    except NotFollowedError:
        return "not followed", "", 0
    if found is None:
        return "UNRESOLVED", "", 0
    if isinstance(found, OneWorldOnly):
        return "VIOLATED", f"ε ≥ {short(found.loss, 4)}", found.paths
    words = f"ε ≥ {short(found.evidence.epsilon, 4)}" if found.keeps is None else f"δ ≤ {short(found.keeps.delta, 2)}"
    return str(found.verdict), words, found.paths


def main() -> None:
    """Write benchmarks/laws/results.md."""
    lines, right, count = [], 0, 0
    for row in rows():
        started = time.perf_counter()
        verdict, words, paths = decided(row)
        seconds = time.perf_counter() - started
        true = "HOLDS" if row.holds else "VIOLATED"
        if verdict in ("HOLDS", "VIOLATED") and verdict != true:
            raise SystemExit(f"{row.name}, {row.source}: decided {verdict}, and {true} is true")
        right, count = right + (verdict == true), count + 1
        cells = (row.name, row.source, f"`{row.data_in}`, `{row.data_out}`", f"{row.epsilon:g}", true, verdict, words)
        lines.append(f"| {' | '.join(cells)} | {paths:,} | {seconds:.1f} |\n")
        print(lines[-1], end="", flush=True)
    header = HEADER.format(seconds=SECONDS, slack=SLACK, right=right, rows=count)
    PAGE.write_text(header + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
