"""What laws prove of the museum's exhibits: python -m benchmarks.laws.exhibits.

Each function of an exhibit that needs no package, or one that draws from Python or numpy, is followed as it is, on the
inputs on which its check ended: of a flawed one, those that convict it; of a sound one, the worst ones that the search
found. It is followed on the inputs that convict its flawed twin, too. Writes benchmarks/laws/exhibits.md.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.laws.functions import SLACK
from museum.environments import ROOT, environment
from museum.exhibits import FIXED, FLAWED, MUSEUM, SOUND, Release, exhibit, exhibits
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.floats import one_world_only
from subnormal.audit.laws.path import NotFollowedError
from subnormal.audit.targets.environments import Environment, install
from subnormal.audit.text import short
from subnormal.mechanisms.privacy import Claim

PAGE = Path(__file__).with_suffix(".md")
PACKAGES = ("", "diffprivlib", "multi-freq-ldpy", "pure-ldp", "synthcity")
SECONDS = 60.0  # for one pair, at most
WALL_SECONDS = 300.0  # for one pair, imports included
DELTA = 1e-6  # more than is claimed: a loop without end leaves a rest
NOT_FOLLOWED, DECIDED = "not followed", ("VIOLATED", "HOLDS")
HEADER = """# What laws prove of the museum's exhibits

Written by `python -m benchmarks.laws.exhibits`. Each function is followed for {seconds:g} s at most, on the inputs on
which its [check](../../museum/README.md) ended, and on those that convict its flawed twin. A claim (ε, δ) is tried as
(ε + {slack:g}, δ + {delta:g}): noise from a loop without end leaves a rest. Of {functions} functions that need no
package, or one that draws from Python or numpy, {followed} are followed, and **{decided} are decided**: {violated}
flawed ones are VIOLATED, and {held} sound ones HOLD on all of their inputs. None is decided otherwise. A loss ε is a
lower bound, and δ an upper bound at the claimed ε.

| exhibit | function | inputs | is | decided | | paths | s |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A release of an exhibit, by its role and name, and two inputs of it as texts."""

    exhibit: str
    role: str
    release: str
    data_in: str
    data_out: str


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
        has_claim = re.search(r"^claim = ", (one.folder / "exhibit.py").read_text(encoding="utf-8"), re.MULTILINE)
        if one.package not in PACKAGES or one.is_alone or not has_claim:
            continue
        results = json.loads((one.folder / "result.json").read_text(encoding="utf-8"))
        for release in one.releases:
            if release.role not in (FLAWED, FIXED, SOUND) or release.name.startswith("cmd:"):
                continue
            roles = dict.fromkeys((release.role, one.kind))
            worlds = dict.fromkeys((results[role]["worlds"]["in"], results[role]["worlds"]["out"]) for role in roles)
            for data_in, data_out in worlds:
                yield Row(one.name, release.role, release.name, data_in, data_out)


def environment_of(row: Row) -> Environment:
    """Return the environment of a release."""
    one = exhibit(MUSEUM / row.exhibit)
    return environment(one, Release(row.role, row.release))


def decided_elsewhere(row: Row) -> Decided:
    """Follow a function in the environment of its release."""
    command = [str(environment_of(row).interpreter), "-m", "benchmarks.laws.exhibits", json.dumps(asdict(row))]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=WALL_SECONDS,
        check=True,
    )
    return Decided(**json.loads(ended.stdout.splitlines()[-1]))


def decided(row: Row) -> Decided:
    """Follow a function on its inputs."""
    one = exhibit(MUSEUM / row.exhibit)
    sys.path.insert(0, str(one.folder))
    names = importlib.import_module("exhibit")
    function = names.function if one.package else getattr(names, row.release)
    pair = eval(row.data_in), eval(row.data_out)
    function(pair[0])  # numba seeds itself at its first call, and ends the process where that is refused
    started = time.perf_counter()
    try:
        verdict, words, paths = _verdict(function, *pair, names.claim)
    except NotFollowedError as error:
        place = re.sub(r"/\S*/site-packages/|/\S*/(?=museum/|subnormal/|benchmarks/)", "", str(error))
        place = place.removeprefix("not followed: ")
        verdict, words, paths = NOT_FOLLOWED, place.replace("|", "\\|"), 0
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
    is_beyond = own.loss == math.inf or (isinstance(claim, Claim) and own.loss > claim.epsilon)
    return "VIOLATED" if is_beyond else "UNRESOLVED", f"ε ≥ {short(own.loss, 4)}", own.paths


def main() -> None:
    """Write benchmarks/laws/exhibits.md; with a row as JSON, print what is decided of it."""
    if sys.argv[1:]:
        print(json.dumps(asdict(decided(Row(**json.loads(sys.argv[1]))))))
        return
    every, lines = list(rows()), []
    for wanted in dict.fromkeys(map(environment_of, every)):
        install(wanted)
    verdicts: dict[tuple[str, str], list[str]] = {}  # by the exhibit and the role
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, found in zip(every, pool.map(decided_elsewhere, every), strict=True):
            true = "VIOLATED" if row.role == FLAWED else "HOLDS"
            if found.verdict in DECIDED and found.verdict != true:
                raise SystemExit(f"{row.exhibit}, {row.release}: decided {found.verdict}, and {true} is true")
            verdicts.setdefault((row.exhibit, row.role), []).append(found.verdict)
            inputs = f"`{row.data_in}`, `{row.data_out}`"
            kind = "flawed" if row.role == FLAWED else "sound"
            cells = (row.exhibit, f"`{row.release}`", inputs, kind, found.verdict, found.words, f"{found.paths:,}")
            lines.append(f"| {' | '.join(cells)} | {found.seconds:.1f} |\n")
            print(lines[-1], end="", flush=True)
    of_all = Counter(role for (_, role), found in verdicts.items() if all(one in DECIDED for one in found))
    header = HEADER.format(
        seconds=SECONDS,
        slack=SLACK,
        delta=DELTA,
        functions=len(verdicts),
        followed=sum(NOT_FOLLOWED not in found for found in verdicts.values()),
        decided=of_all.total(),
        violated=of_all[FLAWED],
        held=of_all[FIXED] + of_all[SOUND],
    )
    PAGE.write_text(header + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
