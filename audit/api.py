"""The public functions of the audit: run attacks, load a report, and query a report."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subnormal.attacks import catalogue
from subnormal.attacks.core.attack import AnyAttack, Attack
from subnormal.audit import model
from subnormal.audit.engine.pairs import Crossing, crossings
from subnormal.audit.engine.process_pool import local
from subnormal.audit.engine.scheduler import examine_all
from subnormal.mechanisms.core.mechanism import AnyMechanism, Mechanism
from subnormal.mechanisms.families import family as family_named
from subnormal.mechanisms.families import member

if TYPE_CHECKING:
    import pandas

QUICK_RUNS = 2_000  # largest number of runs of each world with quick=True


class Report(model.Report):
    """The rows of an audit, and everything that is needed to reproduce them.

    `run` and `load` return one. `rows` holds a `Row` for each attack on each mechanism: its names, its
    claim, its kinds of evidence (`exact`, `exhaustive`, `sampled`, `sequential`, `timing`; None where there is none),
    `verdict` and `violated`. A notebook shows a report as a table.
    """

    __slots__ = ()

    @property
    def violated(self) -> tuple[model.Row, ...]:
        """The rows in which a claim is violated. If there are none, that does not mean that a mechanism is private.

        What a clock measured is in no verdict, because times change from run to run: see `timing` of a row.
        """
        return tuple(row for row in self.rows if row.violated)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas data frame with one line for each row.

        Its columns are the names of the attack and the mechanism, the verdict, the claim and the result as text, the
        claim's numbers, and the numbers of each kind of evidence, as in "sampled.epsilon_lower".

        Returns:
            A data frame. A number that a row does not have is missing (NaN or None).

        Raises:
            ModuleNotFoundError: pandas is not installed. Subnormal does not need it for anything else.
        """
        from subnormal.audit.report import notebook
        from subnormal.audit.text import frame

        return frame(list(map(notebook.record, self.rows)))

    def to_latex(self) -> str:
        """Return the comparison of naive base e with exact base 2, which `subnormal run` prints first, as LaTeX.

        It is a tabular for the package booktabs. A cross marks what is more than the claim allows, a dash what so few
        runs could not show.

        Returns:
            The text of the table.

        Raises:
            ValueError: no row is of an attack of that comparison, with runs on both twins.
        """
        from subnormal.audit.report import twins

        return twins.to_latex(self.rows)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write report.json and report.html, the files that `subnormal run` writes.

        A loaded report has no charts, because report.json does not hold them.

        Args:
            folder: where to write. It is created if necessary; files of the same names are replaced.

        Raises:
            OSError: the folder cannot be created or written. Then no file is written in part.
        """
        from subnormal.audit.report import atomic_write, to_html

        atomic_write.prepare(Path(folder))
        atomic_write.write(Path(folder), to_html.files(self))

    def _repr_html_(self) -> str:
        from subnormal.audit.report import notebook

        return notebook.to_html(self)

    def __repr__(self) -> str:
        from subnormal.audit.report.terminal import tally

        return f"<Report: {tally(self.rows)}>"


def run(
    attacks: Sequence[str | AnyAttack] | None = None,
    mechanisms: Sequence[str | AnyMechanism] | None = None,
    *,
    family: str | None = None,
    channels: bool = False,
    runs: int = 100_000,
    seed: int = 1,
    alpha: float = 0.05,
    jobs: int | None = None,
    until_decided: bool = False,
    quick: bool = False,
    everything: bool = False,
) -> Report:
    """Attack mechanisms of this project and return the report, as `subnormal run` does.

    The same arguments return the same report, for any `jobs`. No file is written: see `Report.save`.

    Args:
        attacks: names of attacks, or attacks that `attack` has returned. None: every attack.
        mechanisms: names of mechanisms, or mechanisms of your own, of one of the families. None: those that the attacks
            break, their fixes, and one exact mechanism.
        family: only attacks on this family, as "laplace".
        channels: only side channels: attacks that see a count or a time with the outcome.
        runs: runs of each world for each row. 0: the laws alone, and no times.
        seed: of all randomness.
        alpha: largest probability that any sampled verdict of the report is a false alarm.
        jobs: number of worker processes. None: one for each core. 1: only this process.
        until_decided: stop each row as soon as its claim is refuted.
        quick: at most 2,000 runs, and no slow attacks unless they are named.
        everything: also pairs of attacks and mechanisms without an expected verdict.

    Returns:
        A report with a row for each pair of an attack and a mechanism. A row whose code failed has an error.

    Raises:
        LookupError: a name is unknown, or needs a library that is not installed.
        TypeError: `attacks` or `mechanisms` is one string instead of a list of them, or a number is not whole.
        ValueError: a number is out of range, or none of the attacks is meant for these mechanisms.
    """
    for name, names in (("attacks", attacks), ("mechanisms", mechanisms)):
        if isinstance(names, str):
            raise TypeError(f"{name} must be a list of names, got the string {names!r}")
    for one in mechanisms or ():
        if isinstance(one, str):
            member(one)
        elif not isinstance(one, Mechanism):
            raise TypeError(f"mechanisms must hold names or mechanisms, got {one!r}")
    for other in attacks or ():
        if not isinstance(other, str | Attack):
            raise TypeError(f"attacks must hold names or attacks, got {other!r}")
    _require_whole("runs", runs, 0)
    _require_whole("seed", seed, 0)
    if jobs is not None:
        _require_whole("jobs", jobs, 1)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
    every = chosen(attacks or (), family, channels=channels, slow=not quick)
    pairs = met(every, mechanisms or (), everything, "everything=True tries every pair of a family")
    runs = min(runs, QUICK_RUNS) if quick else runs
    with local(jobs) as executor:
        report = examine_all(pairs, seed=seed, runs=runs, alpha=alpha, until_decided=until_decided, executor=executor)
    return _public(report)


def load(path: str | os.PathLike[str]) -> Report:
    """Load a report.json.

    Rows have everything except their charts: `sketch` is None. Parameters and events are as in the file.

    Args:
        path: of the file.

    Returns:
        The report, of the same type as that of `run`. `save` writes the same report.json again.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a report of this version's form; the message names the file and the field.
    """
    from subnormal.audit.report.load import report

    content = Path(path).read_bytes()
    try:
        return _public(report(content))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)} {error}") from None


def chosen(
    names: Sequence[str | AnyAttack], family: str | None = None, *, channels: bool = False, slow: bool = True
) -> list[AnyAttack]:
    """Return the named attacks in the catalogue's order, followed by the attacks that are objects.

    names: empty for all attacks. channels: only side channels. slow: also attacks whose rows take seconds; a named
    attack is always returned. Raises LookupError for an unknown name, ValueError if the options of a name make no
    attack, or if two different attacks have the same name.
    """
    known, objects = [one for one in names if isinstance(one, str)], [one for one in names if not isinstance(one, str)]
    if family is not None:
        family_named(family)
    named = catalogue.chosen(known) if names else [one for one in catalogue.attacks() if slow or not one.slow]
    unique = list(dict.fromkeys((*named, *objects)))
    if twice := {one.name for one in unique if sum(other.name == one.name for other in unique) > 1}:
        raise ValueError(f"two different attacks are named {min(twice)!r}")
    return [one for one in unique if family in (None, one.family) and (one.channel is not None or not channels)]


def met(
    attacks: list[AnyAttack], mechanisms: Sequence[str | AnyMechanism], everything: bool, otherwise: str
) -> list[Crossing]:
    """Return the attacks, each on the mechanisms that it meets. Raises ValueError for none, and says what to do."""
    pairs = crossings(attacks, mechanisms=mechanisms, everything=everything)
    if not pairs:
        hint = "they are of other families" if everything else otherwise
        raise ValueError(f"none of these attacks is meant for these mechanisms; {hint}")
    return pairs


def _public(report: model.Report) -> Report:
    values: dict[str, Any] = {field.name: getattr(report, field.name) for field in fields(report) if field.init}
    return Report(**values)


def _require_whole(name: str, value: int, least: int) -> None:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
