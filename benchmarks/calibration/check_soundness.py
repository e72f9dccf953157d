"""How often `check` accuses functions that keep their claims: python -m benchmarks.calibration.check_soundness 5 2.

The arguments are the seeds of each function and the seconds of processor time of each check, so that the load of the
machine does not matter. By the e-process one check accuses wrongly with probability at most ALPHA; a replay never
should. Writes soundness.md. Where names of functions follow, only their rows are written anew.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import opendp.prelude as dp
from hypothesis import strategies as st

from benchmarks.calibration.sound_functions import SOUND as OF_MANY_KINDS
from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict
from subnormal.audit.neighbours.relations import within
from subnormal.audit.statistics.binomial import clopper_pearson
from subnormal.mechanisms.privacy import Claim, Zcdp
from tests.support.checked_functions import SOUND as BY_HAND
from tests.support.checked_functions import Case

ALPHA = 1e-6
TAIL = 0.025  # of the interval of the rate that is printed
RESULTS = Path(__file__).with_name("soundness.md")
HEADER = """# How often `check` accuses functions that keep their claims

Written by `python -m benchmarks.calibration.check_soundness {seeds} {seconds:g}`: {seeds} seeds of each function,
{seconds:g} s of processor time a check, alpha = {ALPHA:g}. The functions are in `tests/support/checked_functions.py`
and `benchmarks/calibration/sound_functions.py`.

| function | checks | accused | decided by | processor seconds a check |
|---|---|---|---|---|
"""


def _of_opendp(make: Callable[..., Any], scale: float) -> Callable[[int], int]:
    dp.enable_features("contrib")
    measurement = make(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)
    return lambda count: int(measurement(count))


I32 = st.integers(-(2**31) + 1, 2**31 - 1)  # other integers are outside the domain: they are refused
SOUND = {
    **BY_HAND,
    **OF_MANY_KINDS,
    "opendp-laplace": Case(_of_opendp(dp.m.make_laplace, 1.0), I32, within(1), Claim(1.0)),
    "opendp-gaussian": Case(_of_opendp(dp.m.make_gaussian, 2.0), I32, within(1), Zcdp(1 / 8)),
}


def processor_clock(monotonic: Callable[[], float]) -> Callable[[], float]:
    """Return a clock of processor time, which is asked for once in a millisecond: it takes longer than the other."""
    asked, spent = monotonic(), time.process_time()

    def clock() -> float:
        nonlocal asked, spent
        if (now := monotonic()) > asked + 1e-3:
            asked, spent = now, time.process_time()
        return spent

    return clock


def row_of(name: str, seeds: int, seconds: float) -> str:
    """Return the row of a function."""
    case, started, stages, accused = SOUND[name], time.process_time(), Counter[str](), 0
    for seed in range(1, seeds + 1):
        with patch.object(time, "monotonic", processor_clock(time.monotonic)):
            asked = case.function, case.data, case.adjacent, case.claim
            result = check(*asked, seconds=seconds, alpha=ALPHA, seed=seed)
        stages[f"{result.stage}, {result.verdict or 'an error'}"] += 1
        if result.verdict is Verdict.VIOLATED:
            accused += 1
            print(result, flush=True)
    ended = "; ".join(f"{stage} {count}" for stage, count in stages.most_common())
    return f"| {name} | {seeds} | {accused} | {ended} | {(time.process_time() - started) / seeds:.2f} |"


def main(seeds: int, seconds: float, *names: str) -> None:
    """Print for each function how many checks accuse it, and of all of them the interval of their rate."""
    if unknown := [name for name in names if name not in SOUND]:
        sys.exit(f"{unknown[0]!r} is none of {', '.join(SOUND)}")
    head = HEADER.format(seeds=seeds, seconds=seconds, ALPHA=ALPHA)
    page = RESULTS.read_text(encoding="utf-8") if names else head
    if not page.startswith(head):
        sys.exit(f"{RESULTS.name} is of other seeds or seconds: name no functions")
    rows = {line.split(" | ")[0]: line for line in page[len(head) :].splitlines() if line.startswith("| ")}
    asked = names or tuple(SOUND)
    with ProcessPoolExecutor() as processes:
        for name, row in zip(asked, processes.map(row_of, asked, repeat(seeds), repeat(seconds)), strict=True):
            rows[f"| {name}"] = row
            print(row, flush=True)
    accused, checks = sum(int(row.split(" | ")[2]) for row in rows.values()), seeds * len(rows)
    low, high = clopper_pearson(accused, checks, TAIL)
    total = f"{accused} of {checks} accused: a rate between {low:.5f} and {high:.5f} (at 95 %)."
    print(total)
    RESULTS.write_text(head + "".join(f"{row}\n" for row in rows.values()) + f"\n{total}\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
