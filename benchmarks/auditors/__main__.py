"""Hold auditors to their word: python -m benchmarks.auditors writes benchmarks/auditors/results.md.

Each package is installed in an environment of its own. Each auditor states lower bounds on ε for scores from mechanisms
whose ε is known. A bound above the certified upper bound of the truth is false.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from scipy.stats import binom

from benchmarks.auditors.mechanisms import DELTA, MECHANISMS, Mechanism
from subnormal.audit.report.atomic_write import prepare, write
from subnormal.audit.targets.environments import Environment, install

HERE = Path(__file__).parent
ROOT, PAGE = HERE.parents[1], HERE / "results.md"
FOLDER, KEPT = Path("reports"), "auditors.json"
ALPHA = 0.05  # of each bound
CHANCE = 0.001  # that an auditor whose bounds are false with probability ALPHA is called false, over all its cells
BYTES = 40_000_000  # of the scores of a mechanism, at most: fewer repetitions of many canaries
PACKAGES: Mapping[str, tuple[str, ...]] = {  # a file of packages/, and what is installed for it
    "jax_privacy": ("jax-privacy==2.0.0",),
    "privacy_estimates": ("privacy-estimates==0.1.0.post1",),
    "opake_auditing": ("opake-auditing==0.16.1",),
    "subnormal": (),
}
PUBLIC = {  # where it was reported that an auditor's bounds are false
    ("jax_privacy", "epsilon_from_gdp"): "https://github.com/google-deepmind/jax_privacy/pull/270; "
    "repaired by its commit aab3e1c, after release 2.0.0",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """The bounds of one auditor on one mechanism, by its number."""

    package: str
    auditor: str
    is_gaussian: bool  # whether the auditor assumes a Gaussian curve
    mechanism: int
    bounds: tuple[float, ...]

    @property
    def of(self) -> Mechanism:
        """The mechanism."""
        return MECHANISMS[self.mechanism]

    @property
    def false(self) -> int:
        """How many bounds lie above the truth. A millionth is left to the grid of the scores and to rounding."""
        return sum(one > self.of.epsilon[1] * (1 + 1e-6) + 1e-9 for one in self.bounds)

    @property
    def chance(self) -> float:
        """The probability of so many false bounds, where each is false with probability ALPHA."""
        return float(binom.sf(self.false - 1, len(self.bounds), ALPHA))

    @property
    def median(self) -> float:
        """The median of the bounds."""
        return statistics.median(self.bounds)


def interpreter(package: str) -> str:
    """Return the interpreter of a package's environment, which is installed. Raises NotInstalledError."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    wanted = Environment(PACKAGES[package], (), cache / "subnormal" / "environments")
    install(wanted)
    return str(wanted.interpreter)


def answers(package: str, python: str, folder: Path, seconds: float) -> Iterator[Cell]:
    """Yield the cells of a package, as its process finds them. Raises ClickException where it fails."""
    given = (str(HERE / "packages" / f"{package}.py"), str(folder), str(DELTA), str(ALPHA), str(seconds))
    path = str(ROOT) if package == "subnormal" else ""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}
    with subprocess.Popen(
        [python, str(HERE / "answer.py"), *given], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        for line in process.stdout or ():
            is_gaussian, auditor, number, bounds = json.loads(line)
            yield Cell(package, auditor, is_gaussian, number, tuple(bounds))
    if process.returncode:
        raise click.ClickException(f"{package} ended with {process.returncode}")


def is_false(cells: Iterable[Cell]) -> bool:
    """Return whether an auditor's bounds are false too often on one of its mechanisms; CHANCE is shared by them."""
    each = list(cells)
    return min(one.chance for one in each) < CHANCE / len(each)


def text(cells: list[Cell], repetitions: int, seconds: float) -> str:
    """Return the page: the rows of auditors whose flaw is public, or that were not refuted."""
    auditors = dict.fromkeys((one.package, one.auditor) for one in cells)
    rows = {key: [one for one in cells if (one.package, one.auditor) == key] for key in auditors}
    shown = {key: row for key, row in rows.items() if key in PUBLIC or not is_false(row)}
    lines = [
        "# Auditors held to their word",
        "",
        f"`python -m benchmarks.auditors --repetitions {repetitions} --seconds {seconds:g}`. Each "
        f"auditor states a lower bound on ε at δ = {DELTA:g} and confidence {1 - ALPHA:.0%}, for the scores of "
        "canaries that fair coins included, from "
        "mechanisms whose ε at δ is known: bounds in intervals with directed rounding. A bound above the truth is "
        f"false, and may be so in {ALPHA:.0%} of the repetitions. **FALSE**: on some mechanism it is so more often, by "
        f"an exact binomial test; {CHANCE:.1%} of auditors that keep their word are called so: mechanisms share "
        "it. *Not refuted* is no proof. An auditor that assumes a Gaussian curve (G) is tried where it is one. "
        "Fewer repetitions are made of auditors that take more seconds of the processor, and of many canaries. **Rows "
        "may be withheld**: a flaw that is not public goes to the maintainers first.",
        "",
        "privacy-meter 1.0.1 and Opacus 1.6.0 state no lower bound. DP-Auditorium is on no package index.",
        "",
        "## The word",
        "",
        "| package | auditor | mechanisms | bounds | false | most often | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for (package, auditor), row in shown.items():
        worst = min(row, key=lambda one: one.chance)
        made, false = sum(len(one.bounds) for one in row), sum(one.false for one in row)
        where = f"{worst.false} of {len(worst.bounds)}: {title(worst.of)}" if worst.false else "–"
        verdict = "**FALSE**" if is_false(row) else "not refuted"
        mark = " (G)" if worst.is_gaussian else ""
        release = (*PACKAGES[package], package)[0]
        lines.append(f"| {release} | {auditor}{mark} | {len(row)} | {made} | {false} | {where} | {verdict} |")
    lines += ["", *(f"- {name}, {auditor}: {source}" for (name, auditor), source in PUBLIC.items())]
    lines += [
        "",
        "## How loose",
        "",
        "The median bound beside the truth. In bold: the largest that was not refuted.",
        "",
    ]
    tried = sorted({one.mechanism for one in cells})
    lines += [f"| auditor | {' | '.join(title(MECHANISMS[one]) for one in tried)} |", f"|---|{'---|' * len(tried)}"]
    lines.append(f"| **the truth** | {' | '.join(f'{MECHANISMS[one].epsilon[0]:.4g}' for one in tried)} |")
    sound = [one for row in shown.values() if not is_false(row) for one in row if not one.is_gaussian]
    best = {number: max(one.median for one in sound if one.mechanism == number) for number in tried}
    for (package, auditor), row in shown.items():
        medians = {one.mechanism: one for one in row}
        told = (_median(medians.get(number), best[number], sound) for number in tried)
        lines.append(f"| {package}: {auditor} | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def _median(cell: Cell | None, best: float, sound: list[Cell]) -> str:
    if cell is None:
        return "–"
    return f"**{cell.median:.3g}**" if cell in sound and cell.median == best > 0 else f"{cell.median:.3g}"


def title(mechanism: Mechanism) -> str:
    """Return the name and the number of canaries."""
    return f"{mechanism.name}; {mechanism.canaries:,}"


def drawn(folder: Path, repetitions: int, seed: int) -> None:
    """Write the scores of all mechanisms."""
    for number, mechanism in enumerate(MECHANISMS):
        count = max(20, min(repetitions, BYTES // (9 * mechanism.canaries)))
        scores, included = mechanism.scores(count, seed)
        np.savez(folder / f"{number}.npz", scores=scores, included=included, gaussian=mechanism.is_gaussian)


def keep(cells: Iterable[Cell]) -> None:
    """Keep what was found so far in reports/auditors.json."""
    found = [[one.package, one.auditor, one.is_gaussian, one.mechanism, one.bounds] for one in list(cells)]
    write(FOLDER, {KEPT: json.dumps(found).encode()})


@click.command()
@click.option("--repetitions", type=click.IntRange(20), default=2_000, show_default=True, help="Bounds, at most.")
@click.option("--seconds", type=click.FloatRange(0), default=12.0, show_default=True, help="Processor time of a cell.")
@click.option("--package", "packages", type=click.Choice(list(PACKAGES)), multiple=True, help="Only this one.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Packages at the same time.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the scores.")
def main(repetitions: int, seconds: float, packages: tuple[str, ...], jobs: int, seed: int) -> None:
    """Hold all auditors to their word, and write the page.

    Cells of packages that are not asked are those of the last run, in reports/auditors.json.
    """
    prepare(FOLDER)
    asked = packages or tuple(PACKAGES)
    before = json.loads((FOLDER / KEPT).read_text()) if packages and (FOLDER / KEPT).is_file() else []
    cells = [Cell(one[0], one[1], one[2], one[3], tuple(one[4])) for one in before if one[0] not in asked]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        drawn(Path(folder), repetitions, seed)

        def ask(package: str) -> None:
            for one in answers(package, interpreter(package), Path(folder), seconds):
                cells.append(one)
                keep(cells)
                click.echo(f"{package}, {one.auditor}, {title(one.of)}: {len(one.bounds)} bounds", err=True)

        for _ in pool.map(ask, asked):
            pass
    cells.sort(key=lambda one: list(PACKAGES).index(one.package))
    for one in cells:
        if one.chance < CHANCE and (one.package, one.auditor) not in PUBLIC:
            told = f"{one.false} of {len(one.bounds)} false, chance {one.chance:.1g}, median {one.median:.3g}"
            click.echo(f"not public: {one.package}, {one.auditor}, {title(one.of)}: {told}", err=True)
    PAGE.write_text(text(cells, repetitions, seconds), encoding="utf-8")
    click.echo(f"wrote {PAGE}", err=True)


if __name__ == "__main__":
    main()
