"""The result of a check as a test to paste: a file of its own that fails until the two inputs keep the claim."""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

from subnormal.audit.check.evidence import StabilityEvidence
from subnormal.audit.model import SequentialEvidence
from subnormal.audit.values.distance import Norm
from subnormal.audit.values.literal import Imports, expression, written
from subnormal.audit.values.reference import imported
from subnormal.mechanisms.curves import AnyClaim, Profile

if TYPE_CHECKING:
    from subnormal.audit.check.result import Result

AGAIN = 3  # times the runs and the seconds of a check, for a test that repeats it on its pair
RUNS, SECONDS, ALPHA = 100_000, 60, 1e-6  # defaults of `assert_private`
PAIRS = "[(data_in, data_out)]"


def as_test(result: Result) -> str | None:
    """Return a test that fails until the two inputs keep the claim; None where they have no short expressions, and for
    a program: its command line is a test."""
    found = [expression(data) for data in result.worlds or ()]
    worlds = [one for one in found if one is not None]
    if len(worlds) < 2 or result.function.startswith("cmd:"):
        return None
    imports = dict.fromkeys(line for world in worlds for line in world.imports)
    exact = result.evidence.get("exact")
    names = ["Verdict", "stability"] if isinstance(exact, StabilityEvidence) else ["assert_private"]
    claim = _claim(result)
    if claim is not None:
        names.append(type(claim).__name__)
    elif exact is None:
        return None
    function = _function(result, [*imports, *names], imports)
    title = function.removesuffix(".__wrapped__").rpartition(".")[2]
    if result.batch:
        function = (
            f"lambda: lambda data: {function}()(data, 1)[0]" if result.fresh else f"lambda data: {function}(data, 1)[0]"
        )
    if result.fresh:
        function = f"fresh={function}"
    if isinstance(exact, StabilityEvidence):
        body = _stability(function, exact, imports)
    else:
        grid = result.grid or result.test_grid
        options = "" if grid is None else f", grid={grid!r}"
        options += "".join(f", {name}={value:_}" for name, value in _enough(result).items())
        body = [f"assert_private({function}, adjacent={PAIRS}, claim={claim!r}{options})"]
    lines = sorted(
        [*imports, f"from subnormal import {', '.join(sorted(names))}"], key=lambda line: line.startswith("#")
    )
    body = [f"data_in = {worlds[0].text}", f"data_out = {worlds[1].text}", *body]
    return "\n".join([*lines, "", "", f"def test_{title}_keeps_its_claim():", *(f"    {line}" for line in body), ""])


def _claim(result: Result) -> AnyClaim | None:
    """Return a claim that can be written: one that depends on the inputs is taken at them."""
    claim: Any = result.claim
    if claim is not None and not isinstance(claim, AnyClaim):
        claim = claim(*result.worlds or ())
    return result.point if isinstance(claim, Profile) else claim


def _stability(function: str, exact: StabilityEvidence, imports: Imports) -> list[str]:
    norm = repr(exact.norm)
    if exact.norm not in get_args(Norm):
        norm = exact.norm
        imports[f"# {norm} must be imported or defined here"] = None
    whole = exact.bound != math.inf and exact.bound == int(exact.bound)
    bound = written(int(exact.bound) if whole else float(exact.bound), imports)
    return [
        f"result = stability({function}, pairs={PAIRS}, distance={norm}, bound={bound})",
        "assert result.verdict == Verdict.NOT_REFUTED, result",
    ]


def _enough(result: Result) -> dict[str, int]:
    """Return the runs and the seconds that the check of one pair needs, where the defaults may not suffice."""
    judged = [one for one in result.evidence.values() if isinstance(one, SequentialEvidence)]
    again = AGAIN * max([1.0, *(_nats(ALPHA) / _nats(one.alpha) for one in judged)])
    runs = max((one.runs for one in judged), default=0)
    needed = {"runs": (math.ceil(again * runs), RUNS), "seconds": (math.ceil(again * result.seconds), SECONDS)}
    return {name: value for name, (value, default) in needed.items() if value > default}


def _nats(alpha: float) -> float:
    """Return the mean nats m of the runs of a check that refutes at alpha by luck.

    Wealth that grows by m nats in the mean has a standard deviation of about √(2m), and refutes at ln(1/α) nats. Luck
    of two of them: m + 2·√(2m) = ln(1/α), so √m = √(2 + ln(1/α)) − √2.
    """
    return (math.sqrt(2 - math.log(alpha)) - math.sqrt(2)) ** 2


def _function(result: Result, taken: Sequence[str], imports: Imports) -> str:
    """Return the name of the function in a test, and note what imports it. taken: names, or lines that import them.

    A name that means something else there gives way: one that is taken, a variable of the test, or one by which pytest
    would collect the function.
    """
    words = {"data_in", "data_out", "result", *(word.strip(",") for one in taken for word in one.split())}
    if result.place is None:
        name = (
            "fresh"
            if result.fresh
            else "".join(one if one.isalnum() else "_" for one in result.function.rpartition(".")[2]).strip("_")
        )
        name = "function" if not name or keyword.iskeyword(name) or _gives_way(name, words) else name
        imports[f"# {name} must be imported or defined here"] = None
        return name
    name, line = imported(result.place)
    first, dot, rest = name.partition(".")
    if line is not None and _gives_way(first, words):
        line, name = f"{line} as function", f"function{dot}{rest}"
    if line is not None:
        imports[line] = None
    return name


def _gives_way(name: str, words: set[str]) -> bool:
    return name in words or name.startswith(("test", "Test"))
