"""What laws prove of the museum's exhibits: python -m benchmarks.laws.exhibits.

Each function of an exhibit that needs no package is followed as it is, on the inputs on which its check ended: of a
flawed one, those that convict it; of a sound one, the worst ones that the search found. It is followed on the inputs
that convict its flawed twin, too. Writes benchmarks/laws/exhibits.md.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.laws.functions import SLACK
from museum.exhibits import FLAWED, Exhibit, exhibits
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.floats import one_world_only
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.text import short
from subnormal.mechanisms.privacy import Claim, Zcdp

PAGE = Path(__file__).with_suffix(".md")
SECONDS = 60.0  # for one pair, at most
DELTA = 1e-6  # more than is claimed: a loop without end leaves a rest
DECIDED = ("VIOLATED", "HOLDS")
HEADER = """# What laws prove of the museum's exhibits

Written by `python -m benchmarks.laws.exhibits`. Each function is followed for {seconds:g} s at most, on the inputs on
which its [check](../../museum/README.md) ended, and on those that convict its flawed twin. A claim (ε, δ) is tried as
(ε + {slack:g}, δ + {delta:g}): noise from a loop without end leaves a rest. Of {functions} functions that no package is
needed for, {followed} are followed, and **{decided} are decided**: {violated} flawed ones are VIOLATED, and {held}
sound ones HOLD on all of their inputs. None is decided otherwise. A loss ε is a lower bound, and δ an upper bound at
the claimed ε.

| exhibit | function | inputs | is | decided | | paths | s |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A function of an exhibit, two inputs of it as texts, and whether it is flawed."""

    exhibit: str
    function: str
    data_in: str
    data_out: str
    is_flawed: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """What was found of a row: the verdict, the loss or δ or the reason in words, the paths, and the seconds."""

    verdict: str
    words: str
    paths: int
    seconds: float


def rows() -> Iterator[Row]:
    """Yield the functions with their inputs."""
    for one in exhibits():
        if one.package or one.is_alone or not hasattr(module_of(one), "claim"):
            continue
        results = json.loads((one.folder / "result.json").read_text(encoding="utf-8"))
        for release in one.releases:
            if not hasattr(module_of(one), release.name):
                continue  # a program
            roles = dict.fromkeys((release.role, one.kind))
            worlds = dict.fromkeys((results[role]["worlds"]["in"], results[role]["worlds"]["out"]) for role in roles)
            for data_in, data_out in worlds:
                yield Row(one.name, release.name, data_in, data_out, release.role == FLAWED)


def module_of(one: Exhibit) -> ModuleType:
    """Return the exhibit's module, under a name of its own."""
    name = f"exhibit_{one.name.replace('-', '_')}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, one.folder / "exhibit.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def decided(row: Row) -> Decided:
    """Follow a function on its inputs."""
    names = module_of(next(one for one in exhibits() if one.name == row.exhibit))
    pair = eval(row.data_in), eval(row.data_out)
    started = time.perf_counter()
    try:
        verdict, words, paths = _verdict(getattr(names, row.function), *pair, names.claim)
    except NotFollowedError as error:
        place = str(error).removeprefix("not followed: ").replace(f"{Path.cwd()}{os.sep}", "")
        verdict, words, paths = "not followed", place, 0
    return Decided(verdict, words, paths, time.perf_counter() - started)


def _verdict(function: Any, data_in: Any, data_out: Any, claim: Any) -> tuple[str, str, int]:
    if isinstance(claim, Claim):
        tried = Claim(claim.epsilon + SLACK, claim.delta + DELTA)
        try:
            found = decide(function, data_in, data_out, tried, seconds=SECONDS)
        except NotFollowedError:
            if claim.delta:
                raise
        else:
            loss = f"ε ≥ {short(found.evidence.epsilon, 4)}"
            words = loss if found.keeps is None else f"δ ≤ {short(found.keeps.delta, 2)}"
            return str(found.verdict), words, found.paths
    # a float of one input alone has an infinite loss, which neither a pure claim nor zCDP allows
    own = one_world_only(function, data_in, data_out, seconds=SECONDS)
    if own is None:
        return "UNRESOLVED", "", 0
    is_beyond = own.loss > (math.inf if isinstance(claim, Zcdp) else claim.epsilon) or own.loss == math.inf
    return "VIOLATED" if is_beyond else "UNRESOLVED", f"ε ≥ {short(own.loss, 4)}", own.paths


def main() -> None:
    """Write benchmarks/laws/exhibits.md."""
    every, lines = list(rows()), []
    verdicts: dict[tuple[str, str, bool], list[str]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row, found in zip(every, pool.map(decided, every), strict=True):
            true = "VIOLATED" if row.is_flawed else "HOLDS"
            if found.verdict in DECIDED and found.verdict != true:
                raise SystemExit(f"{row.exhibit}, {row.function}: decided {found.verdict}, and {true} is true")
            verdicts.setdefault((row.exhibit, row.function, row.is_flawed), []).append(found.verdict)
            inputs = f"`{row.data_in}`, `{row.data_out}`"
            kind = "flawed" if row.is_flawed else "sound"
            cells = (row.exhibit, f"`{row.function}`", inputs, kind, found.verdict, found.words, f"{found.paths:,}")
            lines.append(f"| {' | '.join(cells)} | {found.seconds:.1f} |\n")
            print(lines[-1], end="", flush=True)
    of_all = Counter(
        (is_flawed, all(one in DECIDED for one in found), all(one != "not followed" for one in found))
        for (*_, is_flawed), found in verdicts.items()
    )
    violated, held = of_all[True, True, True], of_all[False, True, True]
    header = HEADER.format(
        seconds=SECONDS,
        slack=SLACK,
        delta=DELTA,
        functions=len(verdicts),
        followed=sum(count for (*_, is_followed), count in of_all.items() if is_followed),
        decided=violated + held,
        violated=violated,
        held=held,
    )
    PAGE.write_text(header + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
