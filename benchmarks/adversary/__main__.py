"""Hold `check` against adversaries who know the optimal event: python -m benchmarks.adversary.

Measurements are kept in build/adversary, a file each: an interrupted table goes on where it was, and several commands
with different --only may measure at the same time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import click

from benchmarks.adversary.functions import PROBLEMS
from benchmarks.adversary.measure import measured
from benchmarks.adversary.others import OTHERS, asked, is_there
from benchmarks.adversary.page import Known, document, page
from subnormal.audit.report.atomic_write import write

RESULTS = Path(__file__).parent
KEPT = Path(__file__).parents[2] / "build" / "adversary"
SOUND = 0.25  # of the first of the seconds, for a sound twin


def todo(names: Iterable[str], seconds: tuple[float, ...], seeds: int) -> list[tuple[str, str, int, float]]:
    """Return what is measured, in this order: (what, name of the function, seed, seconds of processor)."""
    chosen, first = list(names), seconds[0]
    tries = [("pair", name, seed, first) for seed in range(1, seeds + 1) for name in chosen]
    tries += [("domain", name, seed, each) for each in seconds for seed in range(1, seeds + 1) for name in chosen]
    tries += [(other, name, 1, first) for name in chosen for other in OTHERS if is_there(other)]
    return tries + [("sound", name, 1, SOUND * first) for name in chosen if PROBLEMS[name].sound]


def key(one: tuple[str, str, int, float]) -> str:
    """Return the key of a measurement of a measurement."""
    what, name, seed, seconds = one
    return f"{what}, {name}, {seed}, {seconds:g}"


def known() -> Known:
    """Return what was measured so far."""
    return {path.stem: json.loads(path.read_text()) for path in KEPT.glob("*.json")}


def measure(one: tuple[str, str, int, float]) -> dict[str, Any]:
    """Measure, in this process or in one of another package."""
    what, name, seed, seconds = one
    return asked(what, name, seconds) if what in OTHERS else measured(what, name, seed, seconds)  # type: ignore[arg-type]


@click.command(context_settings={"show_default": True})
@click.option("--seconds", type=click.FloatRange(0, min_open=True), multiple=True, default=(12.0, 60.0))
@click.option("--seeds", type=click.IntRange(1), default=1, help="Of each check.")
@click.option("--jobs", type=click.IntRange(1), default=2, help="Measurements at the same time.")
@click.option("--only", type=click.Choice(list(PROBLEMS)), multiple=True, help="Print these functions alone, no page.")
@click.option("--known", "is_known", is_flag=True, help="Write the page of what was measured so far.")
def main(seconds: tuple[float, ...], seeds: int, jobs: int, only: tuple[str, ...], is_known: bool) -> None:
    """Write benchmarks/adversary/results.md and results.json.

    --seconds: of processor, for each check; the first is also that of named pairs and of other tools. These are tried
    where the environment variable ADVERSARY_TOOLS names a folder with them: NAME/ is a checkout, NAME-python starts
    Python with its packages.
    """
    left = [] if is_known else [one for one in todo(only or PROBLEMS, seconds, seeds) if key(one) not in known()]
    if left:
        measured("pair", "order-of-counts", 1, 1.0)  # imports what `check` needs, so that no measurement pays for it
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(measure, one): one for one in left}
        for place, future in enumerate(as_completed(futures), 1):
            found = {**future.result(), "load": round(os.getloadavg()[0], 1)}
            write(KEPT, {f"{key(futures[future])}.json": json.dumps(found).encode()})
            click.echo(f"{place} of {len(left)}: {key(futures[future])}: {found}", err=not only)
    if not only:
        given = {"seconds": list(seconds), "seeds": seeds, "jobs": jobs}
        (RESULTS / "results.md").write_text(page(known(), seconds, seeds), encoding="utf-8")
        (RESULTS / "results.json").write_text(json.dumps(document(known(), given), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
