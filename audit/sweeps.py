"""A study: one attack at each combination of its options, on the mechanism that it breaks and on the exact twin."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from subnormal.attacks import catalogue
from subnormal.attacks.core.attack import AnyAttack
from subnormal.attacks.core.constructor import Constructor
from subnormal.audit.engine.pairs import Crossing, resisting
from subnormal.audit.engine.process_pool import Executor, each_of, local
from subnormal.audit.engine.row import examine
from subnormal.audit.evidence import exact, sampled
from subnormal.audit.model import Verdict
from subnormal.audit.report import notebook, sentences
from subnormal.audit.text import error_text, frame
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.core.options import split, unknown
from subnormal.mechanisms.families import member

if TYPE_CHECKING:
    import pandas

ALPHA = 0.05  # of a study with runs; its rows share it
NAMES = ("attack", "mechanism", "exact", "verdict")
NOTE_MAX = 120  # characters of a note
COLUMNS = (*NAMES, *notebook.STUDY, "seconds", "note")  # after those of the options

Record = dict[str, Any]
Values = str | Iterable[object]


@dataclass(frozen=True, slots=True)
class Study:
    """An attack and the number of runs, common to all points of a study. alpha: the share of one row."""

    attack: str
    runs: int
    seed: int
    alpha: float


def sweep(
    attack: str,
    over: Mapping[str, Values],
    *,
    runs: int = 0,
    seed: int = 1,
    jobs: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> pandas.DataFrame:
    """Try an attack at each combination of some of its options, and return a row for each of its two mechanisms.

    The mechanisms are the one that the attack breaks and the exact one that must resist. Their laws decide, unless
    `runs` asks for runs as well. A combination that makes no attack is a row with a note.

    Args:
        attack: the name of an attack, as `subnormal list` shows it; options after its @ are the same in all rows.
        over: for each option to be varied its values, or text as on the command line: "0.1,0.5,1" or "2:4096",
            which is 2 and its doubles up to 4096.
        runs: runs of each world for each row. 0: laws alone.
        seed: of the runs.
        jobs: number of worker processes. 1: only this process.
        progress: is called with the number of combinations that are done, and of all.

    Returns:
        A pandas data frame. Its columns are the options of the attack; attack, mechanism and whether it is exact;
        verdict; the claim; advantage and the largest one that the claim allows; loss; delta at the claimed ε; ks, the
        distance of the worlds' distribution functions, in the order of the attack's statistic; total_variation, the
        largest advantage of any event; bounds on the event's probability in both worlds; the evidence of runs; seconds;
        and a note where there is no evidence. An option that has the name of another column is "option.NAME".

    Raises:
        LookupError: the attack or an option is unknown.
        ModuleNotFoundError: pandas is not installed.
        ValueError: an option has no values, a range is empty, or a number is out of range.

    >>> found = sweep("zero-rounding", {"epsilon": [0.5, 1], "outcomes": "2:8"})
    >>> found[~found.exact].groupby("outcomes").advantage.min().to_dict()
    {2: 0.5, 4: 0.75, 8: 0.875}
    """
    for name, value, least in (("runs", runs, 0), ("seed", seed, 0), ("jobs", jobs, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    at = points(attack, over)
    frame([])  # without pandas the error comes first
    found: list[Record] = []
    with local(jobs) as executor:
        for done, several in enumerate(records(attack, at, runs=runs, seed=seed, executor=executor), 1):
            found += several
            progress(done, len(at))
    return frame(found)


def points(attack: str, over: Mapping[str, Values]) -> list[dict[str, object]]:
    """Return the options of each combination, those that stay the same included; the last of `over` varies fastest.

    Raises LookupError for an unknown attack or option, and ValueError as `values_of` does.
    """
    constructor, options = _constructor(attack)
    for option in (*over, *options):
        if option not in constructor.defaults:
            raise LookupError(unknown(f"option of {constructor.name}", option, list(constructor.defaults)))
    fixed = {**constructor.defaults, **options}
    values = {option: [_kept(constructor, option, one) for one in values_of(option, over[option])] for option in over}
    chosen = (dict(zip(values, several, strict=True)) for several in itertools.product(*values.values()))
    return [{**fixed, **several} for several in chosen]


def _constructor(attack: str) -> tuple[Constructor[..., AnyAttack], dict[str, str]]:
    base, options = split(attack)
    if base not in catalogue.constructors():
        raise LookupError(unknown("attack", base, list(catalogue.constructors())))
    return catalogue.constructors()[base], options


def _kept(constructor: Constructor[..., AnyAttack], option: str, value: object) -> object:
    """Return a value as the attack takes it; one that it does not take as it is, for its row says so."""
    try:
        return constructor.value(option, value)
    except ValueError:
        return value


def values_of(option: str, given: Values) -> list[object]:
    """Return the values of an option. Text is a list with commas, and "A:B" in it stands for A, 2A, 4A, … up to B.

    Raises ValueError for a range without values, and for no values at all.

    >>> values_of("outcomes", "2:16,100"), values_of("epsilon", "0.5:3")
    ([2, 4, 8, 16, 100], [0.5, 1.0, 2.0])
    """
    if isinstance(given, str):
        values = [value for part in given.split(",") if part for value in _expanded(option, part.strip())]
    elif isinstance(given, Iterable):
        values = list(given)
    else:
        values = [given]
    if not values:
        raise ValueError(f"{option} has no values")
    return values


def _expanded(option: str, part: str) -> Iterator[object]:
    first, colon, last = part.partition(":")
    try:
        value, end = _number(first), _number(last if colon else first)
    except ValueError:
        if colon:
            raise ValueError(f"{option}={part} is no range: A:B is A and its doubles up to B") from None
        yield part  # a name, as of a float type
        return
    if colon and not 0 < value <= end < float("inf"):
        raise ValueError(f"{option}={part} is no range: A:B needs 0 < A <= B")
    yield value
    while colon and 2 * value <= end:
        value *= 2
        yield value


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def records(
    attack: str, at: list[dict[str, object]], *, runs: int, seed: int, executor: Executor
) -> Iterator[list[Record]]:
    """Yield the rows of each point, in their order."""
    name, _ = split(attack)
    study = Study(name, runs, seed, ALPHA / (2 * len(at)))
    yield from each_of(executor, _rows, study, at)


def _rows(study: Study, options: Mapping[str, object]) -> list[Record]:
    """Return the rows of one point: of the mechanism that the attack breaks, and of the exact one. No error escapes."""
    named = {column(option): shown(value) for option, value in options.items()}
    empty: Record = {**named, **dict.fromkeys(COLUMNS), "attack": study.attack}
    try:
        attack = catalogue.constructors()[study.attack](**options)
        if attack.channel == "time":
            raise ValueError("the attack measures times, which have no law: `subnormal run` does so")
        pair = [member(attack.breaks[0]), *resisting(attack)[:1]]
    except Exception as error:  # one point of many must not end the study
        return [{**empty, "note": _note(error)}]
    return [{**empty, "attack": attack.name, **_row(study, attack, mechanism)} for mechanism in pair]


def column(option: str) -> str:
    """Return the name of an option's column."""
    return f"option.{option}" if option in COLUMNS else option


def shown(value: object) -> object:
    """Return a value of an option as a table shows it: a type of numbers by its name."""
    if isinstance(value, type):
        return np.dtype(value).name
    return value.item() if isinstance(value, np.generic) else value


def _row(study: Study, attack: AnyAttack, mechanism: AnyMechanism) -> Record:
    names = {"mechanism": mechanism.name, "exact": mechanism.exact}
    started = time.perf_counter()
    try:
        found = (_by_runs if study.runs else _by_laws)(study, Crossing(attack, mechanism))
    except Exception as error:  # as above
        found = {"note": _note(error)}
    return {**names, **found, "seconds": time.perf_counter() - started}


def _by_laws(study: Study, crossing: Crossing) -> Record:
    worlds, claim = crossing.claimed()
    laws = exact.both_laws(crossing.seen, crossing.attack, worlds)
    if laws is None:
        note = "no law for these data: runs are needed"
        return {"verdict": str(Verdict.UNRESOLVED), **notebook.study(claim, None, None), "note": note}
    proved, whole = exact.compare(*laws, claim, crossing.attack.event), exact.whole(laws)
    masses = None if whole is None else sampled.law_masses(crossing.attack, whole)
    return {"verdict": str(proved.verdict), **notebook.study(claim, proved, masses)}


def _by_runs(study: Study, crossing: Crossing) -> Record:
    row = examine(crossing, seed=study.seed, runs=study.runs, alpha=study.alpha)
    by_runs = {name: value for name, value in notebook.record(row).items() if name.startswith("sampled.")}
    return {"verdict": sentences.verdict(row), **notebook.study_of(row), **by_runs, "note": row.error or row.note}


def _note(error: Exception) -> str:
    text = str(error) if isinstance(error, ValueError) else error_text(error)
    return text if len(text) <= NOTE_MAX else f"{text[: NOTE_MAX - 1]}…"
