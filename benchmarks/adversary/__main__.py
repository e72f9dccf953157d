"""Check functions whose flaws are hard to find, and write down how long it took: python -m benchmarks.adversary."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.ablation.functions import HARD
from subnormal.audit.check.check import check
from subnormal.audit.model import Verdict
from subnormal.audit.text import short

RESULTS = Path(__file__).with_name("results.md")
JOBS = 2
HEADER = """# Flaws that are hard to find

Written by `python -m benchmarks.adversary --seconds {seconds:g} --seeds {seeds}`: the functions of
`benchmarks/ablation/functions.py`, each checked with {seeds} seeds, {jobs} checks at the same time. Only the domain,
the relation and the claim are given. {convicted} of {checks} checks found the flaw.

| function | found | seconds | seconds of processor | pairs | decided by |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check took. processor: seconds of it."""

    is_found: bool
    seconds: float
    processor: float
    pairs: int
    stage: str


def checked(name: str, seed: int, seconds: float) -> Checked:
    """Check a function, in this process."""
    case, before, started = HARD[name], time.process_time(), time.monotonic()
    result = check(case.function, case.data, case.adjacent, case.claim, seconds=seconds, seed=seed)
    spent = time.monotonic() - started, time.process_time() - before
    return Checked(result.verdict is Verdict.VIOLATED, *spent, result.examples, result.stage)


def row(name: str, checks: Sequence[Checked]) -> str:
    """Return a row: the medians of the checks."""
    seconds, processor, pairs = (
        statistics.median(getattr(one, field) for one in checks) for field in ("seconds", "processor", "pairs")
    )
    stages = ", ".join(dict.fromkeys(one.stage for one in checks if one.is_found))
    found = f"{sum(one.is_found for one in checks)} of {len(checks)}"
    return f"| {name} | {found} | {short(seconds, 2)} | {short(processor, 2)} | {pairs:g} | {stages} |\n"


@click.command(context_settings={"show_default": True})
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=60.0, help="For each check.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, help="Of each function.")
@click.option("--only", type=click.Choice(list(HARD)), multiple=True, help="Print the rows of these functions alone.")
def main(seconds: float, seeds: int, only: tuple[str, ...]) -> None:
    """Check functions whose flaws are hard to find, and write results.md."""
    names = only or tuple(HARD)
    rows, found = list[str](), list[Checked]()
    with ProcessPoolExecutor(JOBS) as pool:
        ahead = {name: [pool.submit(checked, name, seed, seconds) for seed in range(1, seeds + 1)] for name in names}
        for name, futures in ahead.items():
            checks = [one.result() for one in futures]
            found += checks
            rows.append(row(name, checks))
            click.echo(rows[-1], nl=False)
    if not only:
        convicted = sum(one.is_found for one in found)
        header = HEADER.format(seconds=seconds, seeds=seeds, jobs=JOBS, convicted=convicted, checks=len(found))
        RESULTS.write_text(header + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
