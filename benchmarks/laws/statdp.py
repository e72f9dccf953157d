"""Laws beside StatDP on the sparse vectors of Lyu, Su, Li 2017: python -m benchmarks.laws.statdp.

Both get the same function and the same pair. StatDP (Ding, Wang, Wang, Zhang, Kifer 2018) tests the event that its
selection finds, of runs; its answers are padded to one length, which it needs. Needs its checkout and numba on the
path, see `benchmarks/adversary/others.py`. Writes benchmarks/laws/statdp.md.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.laws.functions import LAPLACE, NOISE, SLACK, sparse_vector
from subnormal.audit.laws.comparison import decide
from subnormal.audit.text import short
from subnormal.mechanisms.privacy import Claim

PAGE = Path(__file__).with_suffix(".md")
QUERIES, RUNS, SECONDS = 4, 100_000, 30.0
NONE = 9  # an answer that was not given
HEADER = """# Laws beside other tools

Written by `python -m benchmarks.laws.statdp`. Sparse vectors of Lyu, Su, Li 2017 with textbook Laplace
noise, ε = 1 and {queries} queries, on one pair. StatDP 0.1 (d1f1e8f) selects an event of {runs:,} runs and tests it on
as many. *p* is its p-value, which proves nothing where it is large. Its answers are padded to one length, and those of
Algorithm 3 cut off at ±2. A broken algorithm may keep its claim on this pair.

| function | algorithm | laws | | s | StatDP: p | s |
|---|---|---|---|---|---|---|
"""
REST = """
- [dp-recorder](https://github.com/ObliviousAI/dp-recorder) 0.1.0 was not run: each function would have to be written
  anew around annotated primitives that state a sensitivity.
- [CheckDP](https://github.com/cmla-psu/checkdp) was not run: it takes programs that are written anew in C with types
  that are annotated, and needs KLEE, LLVM 9 and PSI. Its authors report a proof or a counterexample within 70 s. It
  knows real numbers, no floats.
"""


def functions() -> Iterator[tuple[str, Callable[[Any], Any], bool]]:
    """Yield the functions, with whether their algorithm is sound.

    The answers of Algorithm 3 are numbers, cut off at ±2: of all of them, StatDP tries some 60^4 events.
    """
    for number in range(1, 7):
        for positives in (1, 2) if number <= 4 else (1,):
            name = f"Algorithm {number}" + (f", c = {positives}" if number <= 4 else "")
            function = sparse_vector(number, NOISE[LAPLACE], positives)
            yield name, partial(cut_off, function) if number == 3 else function, number <= 2


def cut_off(function: Callable[[Any], Any], queries: list[int]) -> tuple[int, ...]:
    """Return the answers of a function, as numbers from −2 to 2."""
    return tuple(min(max(int(answer), -2), 2) for answer in function(queries))


def p_value(function: Callable[[Any], Any], pair: tuple[list[int], list[int]]) -> float:
    """Return the p-value of StatDP, for the claim that the loss on a pair is at most 1."""
    np.bool = bool  # type: ignore[misc,assignment]  # numpy 1.24 dropped the name that it uses
    from statdp.hypotest import hypothesis_test  # type: ignore[import-not-found]
    from statdp.selectors import select_event  # type: ignore[import-not-found]

    def algorithm(prng: Any, queries: list[int], **given: Any) -> list[int]:
        answers = [int(answer) for answer in function(queries)]
        return answers + [NONE] * (len(queries) - len(answers))

    with ThreadPool(1) as pool:
        given = select_event(algorithm, [(*pair, {}), (*pair[::-1], {})], 1.0, RUNS, pool, quiet=True)
        return float(min(hypothesis_test(algorithm, *given, 1.0, RUNS, pool)))


def main() -> None:
    """Write benchmarks/laws/statdp.md."""
    logging.disable(logging.CRITICAL)
    low, high = [0] * (QUERIES // 2), [1] * (QUERIES // 2)
    pair, lines = (low + high, high + low), []
    for name, function, holds in functions():
        started = time.perf_counter()
        found = decide(function, *pair, Claim(1.0 + SLACK, SLACK), seconds=SECONDS)
        decided = time.perf_counter()
        p = p_value(function, pair)
        words = (
            f"ε ≥ {short(found.evidence.epsilon, 4)}" if found.keeps is None else f"δ ≤ {short(found.keeps.delta, 2)}"
        )
        cells = (
            name,
            "sound" if holds else "broken",
            str(found.verdict),
            words,
            f"{decided - started:.1f}",
            short(p, 2),
        )
        lines.append(f"| {' | '.join(cells)} | {time.perf_counter() - decided:.0f} |\n")
        print(lines[-1], end="", flush=True)
    PAGE.write_text(HEADER.format(queries=QUERIES, runs=RUNS) + "".join(lines) + REST, encoding="utf-8")


if __name__ == "__main__":
    main()
