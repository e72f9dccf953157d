"""What libraries' accountants promise beside the truth: python -m benchmarks.claims writes benchmarks/claims.md.

Each release answers in an environment of its own; the table's rows are those of `subnormal claims`. No clock ends a
row: the same commit draws the same parameters (Hypothesis tries constants of the code too), and the page is the same,
except for answers that take about a second.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from subnormal.audit.claims.answers import Row, as_json, held, of_package, source
from subnormal.audit.claims.holding import Held
from subnormal.audit.commands.common import line_progress
from subnormal.audit.engine.process_pool import Executor, local
from subnormal.audit.report.atomic_write import prepare, write

PAGE = Path(__file__).parent / "claims.md"
FOLDER, ROWS = Path("reports"), "claims.json"  # where finished rows are kept until the page is written
EXAMPLES, MANY = 100, 2_600  # sets of parameters of a kind; of MANY, half are different ones with an answer
LEAST_DELTA = 1e-7  # most who use an accountant choose one from 10^-7 to 10^-5
RENYI = ("sampled-gaussian-renyi",)
NOISE = ("gaussian", "gaussian-delta", "laplace", "discrete-laplace", "sampled-gaussian", "sampled-laplace")
RELEASES: Sequence[tuple[str, Sequence[str], int]] = (  # with kinds, none for all, and sets of parameters
    ("dp-accounting==0.6.0", (*NOISE, "composition", "mixed-composition"), MANY),
    ("dp-accounting==0.6.0", ("discrete-gaussian", "fixed-sample-gaussian", "renyi", "zcdp", *RENYI), EXAMPLES),
    ("dp-accounting==0.4.4", RENYI, EXAMPLES),
    ("dp-accounting==0.4.3", RENYI, EXAMPLES),
    ("opacus==1.1.3", ("sampled-gaussian",), EXAMPLES),
    ("opendp==0.16.0", (), EXAMPLES),
    ("opendp==0.14.2", ("discrete-laplace-draws",), EXAMPLES),
    ("opendp==0.14.1", ("discrete-laplace-draws",), EXAMPLES),
    ("diffprivlib==0.6.6", (), EXAMPLES),
    ("prv-accountant==0.2.0", (), EXAMPLES),
    ("autodp==0.2.3.1", (), EXAMPLES),
    ("jax-privacy==2.0.0", (), EXAMPLES),
    ("smartnoise-sql==1.0.10", ("mixed-composition",), EXAMPLES),
    ("subnormal", (), EXAMPLES),
)
PUBLIC = {  # where a violation of a release was reported
    ("opacus==1.1.3", "gdp", "sampled-gaussian"): "https://github.com/pytorch/opacus/pull/400",
    (
        "dp-accounting==0.6.0",
        "rdp",
        "fixed-sample-gaussian",
    ): "https://github.com/google/differential-privacy/issues/378",
    ("opendp==0.14.1", "sampler", "discrete-laplace-draws"): "https://github.com/opendp/opendp/issues/2638",
    ("opendp==0.16.0", "map", "threshold"): "https://github.com/opendp/opendp/issues/2922",
    (
        "dp-accounting==0.4.3",
        "rdp",
        "sampled-gaussian-renyi",
    ): "https://github.com/google/differential-privacy/blob/main/python/dp_accounting/dp_accounting/rdp/rdp_privacy_accountant_test.py",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A row of the page: a release, and what it is asked."""

    release: str
    row: Row

    @property
    def key(self) -> str:
        """The name of the row among those that are kept."""
        return f"{self.release} {self.row.accountant} {self.row.kind} {self.row.options['examples']}"


def asked(tell: Callable[[str], None]) -> Iterator[Asked]:
    """Yield the rows of all releases, which are installed. Raises LookupError, NotInstalledError and TargetError."""
    for release, kinds, examples in RELEASES:
        tell(f"preparing {release}")
        where = source(release)
        with of_package(*where) as known:
            pairs = [(who, name) for who, name in known if not kinds or name in kinds]
        for who, name in pairs:
            yield Asked(release, Row(who, name, where, options={"examples": examples, "least_delta": LEAST_DELTA}))


def answered(executor: Executor, rows: Iterable[Asked]) -> Iterator[tuple[Asked, dict[str, Any]]]:
    """Yield each row and what is found of it, as JSON values, as soon as it is found: a slow row holds none back."""
    left, running = deque(rows), dict[Future[Held], Asked]()
    while left or running:
        while left and len(running) < executor.window:
            one = left.popleft()
            running[executor.submit(held, {}, one.row)] = one
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), as_json(future.result())


def text(rows_of: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Return the page. rows_of: what was found of each release."""
    lines = [
        "# Promises beside the truth",
        "",
        f"`make claims` asks each accountant about up to {EXAMPLES} sets of parameters of each kind, and one of loss "
        f"distributions about up to {MANY:,} ([claims](../docs/claims.md)), with δ from {LEAST_DELTA:g} on. VIOLATED: "
        "it promises less than is true, shrunk to simple parameters. ROUNDED: it promises less, by a ten-thousandth at "
        "the most, and by the last bit of a float at least; `subnormal claims` shows the numbers. LOOSE: the "
        "median and the largest factor by which it promises more than our upper bound; edge cases are drawn on "
        "purpose, so the largest says little about usual parameters. Answers that took more than a second of "
        "processor time, or were refused, are not counted.",
        "",
        "| release | accountant | kind | answers | verdict | LOOSE, median | largest |",
        "|---|---|---|---|---|---|---|",
    ]
    proofs = []
    for release, rows in rows_of.items():
        for row in rows:
            if not row["answered"]:
                continue
            verdict = "**VIOLATED**" if row["verdict"] == "VIOLATED" else row["verdict"].lower()
            largest = None if row["loosest"] is None else _factor(row["loosest"])
            cells = (release, row["accountant"], f"`{row['kind']}`", str(row["answered"]), verdict)
            lines.append(f"| {' | '.join((*cells, shown(row['loose']), shown(largest)))} |")
            if row["violated"] is not None:
                proofs.append(_proof(release, row))
    return "\n".join([*lines, "", "## What is violated", "", *proofs, ""])


def _factor(loosest: Mapping[str, Any]) -> Any:
    return "inf" if loosest["said"] == "inf" else loosest["said"] / loosest["up"]


def shown(factor: Any) -> str:
    """Return a factor in a few digits.

    >>> shown(0.5), shown(1.23456), shown("inf"), shown(math.inf), shown(None)
    ('1', '1.235', '∞', '∞', '–')
    """
    if factor is None:
        return "–"
    return "∞" if factor in ("inf", math.inf) else f"{max(1.0, factor):.4g}"


def _proof(release: str, row: Mapping[str, Any]) -> str:
    one = row["violated"]
    of = ", ".join(f"{name} = {_value(value)}" for name, value in one["parameters"].items())
    source = PUBLIC.get((release, row["accountant"], row["kind"]), "")
    numbers = f"{one['said']:.9g} is promised, at least {one['low']:.9g} is true"
    return f"- {release}, {row['accountant']}, `{row['kind']}` at {of}: {numbers}. {source}".rstrip()


def _value(value: Any) -> str:
    """Return a parameter as it is written: a number, or a list of such.

    >>> _value(1e-05), _value([[1.0, 0.0], [0.5, 1e-06]])
    ('1e-05', '((1, 0), (0.5, 1e-06))')
    """
    return f"({', '.join(map(_value, value))})" if isinstance(value, list) else f"{value:g}"


@click.command()
@click.option("--resume", is_flag=True, help=f"Keep the rows in {FOLDER / ROWS}, which an interrupted run has left.")
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one for each core]")
def main(resume: bool, jobs: int | None) -> None:
    """Ask every release, and write benchmarks/claims.md.

    A violation that is not listed as public is printed, and the page is not written: it goes to the maintainers first.
    """
    kept = kept_rows() if resume else {}
    prepare(FOLDER)
    start = time.monotonic()
    with line_progress() as tell, local(jobs) as executor:
        wanted = list(asked(tell))
        left = [one for one in wanted if one.key not in kept]
        for number, (one, row) in enumerate(answered(executor, left), 1):
            kept[one.key] = row
            write(FOLDER, {ROWS: json.dumps(kept, indent=1).encode()})
            tell(f"{number} of {len(left)}: {one.release}, {row['accountant']}, {row['kind']}: {row['verdict']}")
    click.echo(f"{len(left)} rows in {time.monotonic() - start:.0f} s", err=True)
    unknown = [
        _proof(one.release, row)
        for one in wanted
        if (row := kept[one.key])["violated"] is not None
        and (one.release, row["accountant"], row["kind"]) not in PUBLIC
    ]
    if unknown:
        raise click.ClickException("not public, so the page is not written:\n" + "\n".join(unknown))
    by_release = groupby(wanted, key=lambda one: one.release)
    PAGE.write_text(text({release: [kept[one.key] for one in rows] for release, rows in by_release}), encoding="utf-8")
    (FOLDER / ROWS).unlink(missing_ok=True)


def kept_rows() -> dict[str, dict[str, Any]]:
    """Return the rows that an interrupted run has left, by their keys; none where there are none."""
    try:
        rows: dict[str, dict[str, Any]] = json.loads((FOLDER / ROWS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return rows


if __name__ == "__main__":
    main()
