"""Leave out one heuristic of `check` at a time, and write down what it convicts: python -m benchmarks.ablation.

A clock that counts work takes the place of time, so a check makes the same runs on every machine, and the heuristic is
all that differs. Counts are kept in build/ablation.json, so an interrupted table goes on where it was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import click

from benchmarks.ablation.functions import FUNCTIONS
from benchmarks.ablation.heuristics import CONSTANTS, HEURISTICS, Heuristic
from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict
from tests.support.work_clock import work_counted

SECONDS, RUN = 10.0, 5e-5  # of counted work, and of one run: some 200 pairs, or as many as 200,000 runs
RESULTS = Path(__file__).with_name("results.md")
KNOWN = Path(__file__).parents[2] / "build" / "ablation.json"
WHOLE = "everything"  # the check as it is
VARIANTS: Mapping[str, Heuristic] = {WHOLE: Heuristic("", {}), **HEURISTICS, **CONSTANTS}
HEADER = """# What the heuristics of `check` convict

Written by `python -m benchmarks.ablation --seeds {seeds}`: {functions} functions that break their claims, of
`benchmarks/ablation/functions.py` and `tests/support/checked_functions.py`. Seeds of each: {seeds}. A clock that counts
work gives every check {seconds:g} s, in which a run takes {run:g} s: the same runs on every machine.
*Convicted* is out of {checks} checks. With everything, {convicted} are; never convicted: {never}.

*Lost* are the checks that convict with everything and not without the heuristic. Checks that do not convict with
everything are not repeated without. A seed decides which pairs are drawn, so a change of the search alone loses some.

"""
TABLE = """| {kind} | lost | lost by function |
|---|---|---|
"""


def convicts(variant: str, function: str, seed: int) -> bool:
    """Return whether a check convicts the function, without the heuristic."""
    case = FUNCTIONS[function]
    with ExitStack() as stack:
        for name, value in VARIANTS[variant].without.items():
            stack.enter_context(patch(name, value))
        stack.enter_context(patch("tests.support.work_clock.RUN", RUN))
        stack.enter_context(work_counted())
        found = check(case.function, case.data, case.adjacent, case.claim, seconds=SECONDS, seed=seed)
    return found.verdict is Verdict.VIOLATED


def text(known: Mapping[str, bool], seeds: int) -> str:
    """Return the page."""
    tries = [(function, seed) for function in FUNCTIONS for seed in range(1, seeds + 1)]
    whole = {one for one in tries if known[_key(WHOLE, *one)]}
    never = [name for name in FUNCTIONS if not any(function == name for function, _ in whole)]
    page = HEADER.format(
        seeds=seeds,
        functions=len(FUNCTIONS),
        seconds=SECONDS,
        run=RUN,
        checks=len(tries),
        convicted=len(whole),
        never=", ".join(never) or "none",
    )
    for kind, variants in (("without", HEURISTICS), ("constant", CONSTANTS)):
        page += TABLE.format(kind=kind)
        for name, heuristic in variants.items():
            lost = {one for one in whole if not known[_key(name, *one)]}
            page += f"| {name}: {heuristic.does} " if kind == "without" else f"| {heuristic.does} "
            page += f"| {len(lost)} | {_by_function(lost)} |\n"
        page += "\n"
    return page.rstrip("\n") + "\n"


def _by_function(lost: Iterable[tuple[str, int]]) -> str:
    counts: dict[str, int] = {}
    for function, _ in sorted(lost):
        counts[function] = counts.get(function, 0) + 1
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _key(variant: str, function: str, seed: int) -> str:
    return f"{variant}, {function}, {seed}"


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=5, show_default=True, help="Seeds of each function.")
@click.option("--only", metavar="TEXT", default="", help="Only variants with this text, and no page.")
def main(seeds: int, only: str) -> None:
    """Write benchmarks/ablation/results.md."""
    known: dict[str, bool] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    tries = [(function, seed) for seed in range(1, seeds + 1) for function in FUNCTIONS]
    _add(known, [(WHOLE, *one) for one in tries])
    convicted = [one for one in tries if known[_key(WHOLE, *one)]]
    _add(known, [(variant, *one) for one in convicted for variant in VARIANTS if only in variant])
    if not only:
        RESULTS.write_text(text(known, seeds), encoding="utf-8")


def _add(known: dict[str, bool], checks: Iterable[tuple[str, str, int]]) -> None:
    """Make the checks that are not known yet, and keep what they found."""
    asked = [one for one in checks if _key(*one) not in known]
    KNOWN.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor() as processes:
        given = {processes.submit(convicts, *one): one for one in asked}
        for place, future in enumerate(as_completed(given)):
            known[_key(*given[future])] = future.result()
            if place % 20 == 0 or place == len(asked) - 1:
                KNOWN.write_text(json.dumps(known, indent=0))
                print(f"{place + 1} of {len(asked)} checks", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
