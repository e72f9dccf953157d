"""What libraries' accountants promise beside the truth: python -m benchmarks.claims writes benchmarks/claims.md.

Each release answers in an environment of its own; the table's rows are those of `subnormal claims`.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

PAGE = Path(__file__).parent / "claims.md"
EXAMPLES = 100
SECONDS = 90.0  # for the kinds of one line of RELEASES
RENYI = ("sampled-gaussian-renyi",)
RELEASES: Sequence[tuple[str, Sequence[str]]] = (  # and kinds; none for all
    ("dp-accounting==0.6.0", ("gaussian", "sampled-gaussian")),
    ("dp-accounting==0.6.0", ("laplace", "discrete-laplace", "sampled-laplace", "composition")),
    ("dp-accounting==0.6.0", ("fixed-sample-gaussian", "mixed-composition")),
    ("dp-accounting==0.6.0", ("gaussian-delta", "renyi", "zcdp", *RENYI)),
    ("dp-accounting==0.4.4", RENYI),
    ("dp-accounting==0.4.3", RENYI),
    ("opacus==1.1.3", ("sampled-gaussian",)),
    ("opendp==0.16.0", ()),
    ("diffprivlib==0.6.6", ()),
    ("prv-accountant==0.2.0", ()),
    ("autodp==0.2.3.1", ()),
    ("subnormal", ()),
)
PUBLIC = {  # where a violation of a release was reported
    ("opacus==1.1.3", "gdp", "sampled-gaussian"): "https://github.com/pytorch/opacus/pull/400",
    (
        "dp-accounting==0.6.0",
        "rdp",
        "fixed-sample-gaussian",
    ): "https://github.com/google/differential-privacy/issues/378",
    ("opendp==0.16.0", "map", "threshold"): "https://github.com/opendp/opendp/issues/2922",
    (
        "dp-accounting==0.4.3",
        "rdp",
        "sampled-gaussian-renyi",
    ): "https://github.com/google/differential-privacy/blob/main/python/dp_accounting/dp_accounting/rdp/rdp_privacy_accountant_test.py",
}


def held(release: str, kinds: Sequence[str], examples: int, seconds: float) -> list[dict[str, Any]]:
    """Return the rows of a release. Raises RuntimeError with what the command says where it fails."""
    arguments = [part for name in kinds for part in ("--kind", name)]
    limits = ["--examples", str(examples), "--seconds", str(seconds), "--format", "json"]
    ended = subprocess.run(
        [sys.executable, "-m", "subnormal.audit", "claims", "--against", release, *arguments, *limits],
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        raise RuntimeError(f"{release}: {ended.stderr.strip()}")
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    return rows


def text(found: Mapping[str, Iterable[Mapping[str, Any]]], examples: int) -> str:
    """Return the page. found: the rows of each release."""
    lines = [
        "# Promises beside the truth",
        "",
        f"`make claims` asks each accountant about up to {examples} sets of parameters of each kind "
        "([claims](../docs/claims.md)). VIOLATED: it promises less than is true, shrunk to simple parameters. LOOSE: "
        "the median and the largest factor by which it promises more than our upper bound; edge cases are drawn on "
        "purpose, so the largest says little about usual parameters. Answers that took more than a second of "
        "processor time, or were refused, are not counted.",
        "",
        "| release | accountant | kind | answers | verdict | LOOSE, median | largest |",
        "|---|---|---|---|---|---|---|",
    ]
    proofs = []
    for release, rows in found.items():
        for row in rows:
            if not row["answered"]:
                continue
            verdict = "not refuted" if row["violated"] is None else "**VIOLATED**"
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
@click.option(
    "--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="Sets of parameters a kind."
)
@click.option("--seconds", type=float, default=SECONDS, show_default=True, help="Time for each release.")
def main(examples: int, seconds: float) -> None:
    """Ask every release, and write benchmarks/claims.md.

    A violation that is not listed as public is printed, and the page is not written: it goes to the maintainers first.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for release, kinds in RELEASES:
        click.echo(f"asking {release}", err=True)
        found.setdefault(release, []).extend(held(release, kinds, examples, seconds))
    unknown = [
        _proof(release, row)
        for release, rows in found.items()
        for row in rows
        if row["violated"] is not None and (release, row["accountant"], row["kind"]) not in PUBLIC
    ]
    if unknown:
        raise click.ClickException("not public, so the page is not written:\n" + "\n".join(unknown))
    PAGE.write_text(text(found, examples), encoding="utf-8")


if __name__ == "__main__":
    main()
