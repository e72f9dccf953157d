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
EXAMPLES, MANY = 100, 2_600  # sets of parameters of a kind; of MANY, half are different ones with an answer
SECONDS = 90.0  # for the kinds of one line of RELEASES, and for each hundred sets of a kind
LEAST_DELTA = 1e-7  # most who use an accountant choose one from 10^-7 to 10^-5
RENYI = ("sampled-gaussian-renyi",)
NOISE = ("gaussian", "gaussian-delta", "laplace", "discrete-laplace", "sampled-gaussian", "sampled-laplace")
RELEASES: Sequence[tuple[str, Sequence[str], int]] = (  # with kinds, none for all, and sets of parameters
    ("dp-accounting==0.6.0", (*NOISE, "composition", "mixed-composition"), MANY),
    ("dp-accounting==0.6.0", ("fixed-sample-gaussian", "renyi", "zcdp", *RENYI), EXAMPLES),
    ("dp-accounting==0.4.4", RENYI, EXAMPLES),
    ("dp-accounting==0.4.3", RENYI, EXAMPLES),
    ("opacus==1.1.3", ("sampled-gaussian",), EXAMPLES),
    ("opendp==0.16.0", (), EXAMPLES),
    ("opendp==0.14.2", ("discrete-laplace-draws",), EXAMPLES),
    ("opendp==0.14.1", ("discrete-laplace-draws",), EXAMPLES),
    ("diffprivlib==0.6.6", (), EXAMPLES),
    ("prv-accountant==0.2.0", (), EXAMPLES),
    ("autodp==0.2.3.1", (), EXAMPLES),
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


def held(release: str, kinds: Sequence[str], examples: int, seconds: float) -> list[dict[str, Any]]:
    """Return the rows of a release. Raises RuntimeError with what the command says where it fails."""
    arguments = [part for name in kinds for part in ("--kind", name)]
    limits = ["--examples", str(examples), "--seconds", str(seconds), "--least-delta", str(LEAST_DELTA)]
    limits += ["--format", "json"]
    ended = subprocess.run(
        [sys.executable, "-m", "subnormal.audit", "claims", "--against", release, *arguments, *limits],
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        raise RuntimeError(f"{release}: {ended.stderr.strip()}")
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    return rows


def text(found: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Return the page. found: the rows of each release."""
    lines = [
        "# Promises beside the truth",
        "",
        f"`make claims` asks each accountant about up to {EXAMPLES} sets of parameters of each kind, and one of loss "
        f"distributions about up to {MANY:,} ([claims](../docs/claims.md)), with δ from {LEAST_DELTA:g} on. VIOLATED: "
        "it promises less than is true, shrunk to simple parameters. ROUNDED: it promises less, by a ten-thousandth at "
        "the most, and by the last bit of a float at the least; `subnormal claims` shows the numbers. LOOSE: the "
        "median and the largest factor by which it promises more than our upper bound; edge cases are drawn on "
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
@click.option(
    "--seconds", type=float, default=SECONDS, show_default=True, help=f"Time for each line, and each {EXAMPLES} sets."
)
def main(seconds: float) -> None:
    """Ask every release, and write benchmarks/claims.md.

    A violation that is not listed as public is printed, and the page is not written: it goes to the maintainers first.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for release, kinds, examples in RELEASES:
        click.echo(f"asking {release}", err=True)
        found.setdefault(release, []).extend(held(release, kinds, examples, seconds * examples / EXAMPLES))
    unknown = [
        _proof(release, row)
        for release, rows in found.items()
        for row in rows
        if row["violated"] is not None and (release, row["accountant"], row["kind"]) not in PUBLIC
    ]
    if unknown:
        raise click.ClickException("not public, so the page is not written:\n" + "\n".join(unknown))
    PAGE.write_text(text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
