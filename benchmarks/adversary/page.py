"""The page and the document of what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.adversary.functions import KINDS, PROBLEMS
from benchmarks.adversary.laws import loss, runs_needed
from benchmarks.adversary.others import OTHERS
from benchmarks.adversary.problem import Problem
from subnormal.audit.text import short

Known = dict[str, dict[str, Any]]
TIMES = 3  # as many runs as the optimal event needs: what is asked of `check`
HEADER = """# Functions whose optimal events are known

Written by `python -m benchmarks.adversary`. {functions} functions with a flaw; on a named pair, the law of a statistic
of the outcome is known. *The optimal event* is the set of outcomes with a likelihood ratio above the threshold at which
wealth grows fastest; its probabilities P and Q on the two inputs are computed from the law, and
`tests/acceptance/test_adversary.py` holds them against runs. *Needed* is 64 + ln(10^6) / growth, where growth is that
of the logarithm of wealth in a run, with the best bet on that event. By Wald's identity no sequential test by bets on
it needs fewer runs in the mean, at α = 10^−6; the first 64 bet nothing. The functions were written before the code of
the search was read.

*Pair*: what `check` took where the pair is named: the runs of each input in all, those of them that judged, and seconds
of processor. *Domain*: the domain, the relation and the claim alone are given. Where a law or a replay convicts, runs
do not. A clock that shows the processor's time stands in place of the machine's, so a loaded machine gives a check as
much work as an idle one. {state}

"""


def page(known: Known, seconds: tuple[float, ...], seeds: int) -> str:
    """Return results.md."""
    loads = [one["load"] for one in known.values()] or [0.0]
    state = (
        f"Seeds: {seeds}. The load of the machine (two processors) was {min(loads):g} to {max(loads):g}. "
        "A dash was not measured; ✗: not convicted."
    )
    text = HEADER.format(functions=len(PROBLEMS), state=state) + summary(known, seconds, seeds)
    for title, problems in KINDS.items():
        columns = [f"domain, {each:g} s" for each in seconds]
        head = ["function", "event", "P / Q", "claim", "loss", "needed", "pair: runs", "judged", "s", *columns]
        text += f"\n## {title.capitalize()}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}\n"
        text += "".join(f"| {' | '.join(row(known, problem, seconds, seeds))} |\n" for problem in problems)
    return text + side_by_side(known, seconds[0])


def row(known: Known, problem: Problem, seconds: tuple[float, ...], seeds: int) -> list[str]:
    """Return the cells of a function."""
    best, claim = problem.optimum, problem.claim
    pairs = tries(known, "pair", problem.name, seconds[0], seeds)
    found = sorted((one for one in pairs if one["found"]), key=lambda one: float(one["runs"]))
    middle = found[len(found) // 2] if found else None
    cells = ["–"] * 3 if not pairs else ["✗"] * 3
    if middle:
        cells = [f"{middle['runs']:,}", f"{middle['judged']:,}" or "–", short(middle["processor"], 2)]
        cells[1] = cells[1] if middle["judged"] else middle["stage"]
    shown = (best.first, best.second) if best.second < 0.9 else (1 - best.first, 1 - best.second)  # or the complement
    stated = f"{claim.epsilon:g}" + (f", {claim.delta:g}" if claim.delta else "")
    needed = runs_needed(claim, best.first, best.second)
    return [
        problem.name,
        problem.words,
        f"{short(shown[0] if shown[0] > 1e-12 else 0.0, 3)} / {short(shown[1], 2)}",
        stated,
        short(loss(claim, best.first, best.second), 3),
        f"{math.ceil(needed):,}",
        *cells,
        *(domain(tries(known, "domain", problem.name, each, seeds)) for each in seconds),
    ]


def tries(known: Known, what: str, name: str, seconds: float, seeds: int) -> list[dict[str, Any]]:
    """Return the measurements with the seeds, as far as they were made."""
    keys = [f"{what}, {name}, {seed}, {seconds:g}" for seed in range(1, seeds + 1)]
    return [known[each] for each in keys if each in known]


def domain(made: list[dict[str, Any]]) -> str:
    """Return how many of the checks convicted, and in how many seconds the median."""
    if not made:
        return "–"
    found = sorted(one["processor"] for one in made if one["found"])
    share = f"{len(found)} of {len(made)}, " if len(made) > 1 else ""
    return f"{share}{short(found[len(found) // 2], 2)} s" if found else "✗"


def summary(known: Known, seconds: tuple[float, ...], seeds: int) -> str:
    """Return what was asked beside what was measured."""
    pairs = [(each, one) for each in PROBLEMS.values() for one in tries(known, "pair", each.name, seconds[0], seeds)]

    def within(value: Callable[[Mapping[str, Any]], float]) -> int:
        optima = {each.name: each.optimum for each, _ in pairs}
        return sum(
            one["found"]
            and value(one) <= TIMES * runs_needed(each.claim, optima[each.name].first, optima[each.name].second)
            for each, one in pairs
        )

    convicted = sum(one["found"] for _, one in pairs)
    in_all, judged = within(lambda one: one["runs"]), within(lambda one: one["judged"])
    lines = [
        f"- Pair named, {seconds[0]:g} s: {convicted} of {len(pairs)} convicted; {in_all} of them with at most {TIMES} "
        f"times the needed runs in all, {judged} where only those that judged are counted.",
    ]
    for each in seconds:
        made = [one for name in PROBLEMS for one in tries(known, "domain", name, each, seeds)]
        lines.append(f"- Domain alone, {each:g} s: {sum(one['found'] for one in made)} of {len(made)} convicted.")
    never = [
        name for name in PROBLEMS if not any(one["found"] for one in tries(known, "domain", name, seconds[0], seeds))
    ]
    lines.append(f"- Not convicted from the domain in {seconds[0]:g} s, or not measured: {', '.join(never) or 'none'}.")
    lines.append("- A longer check may be made of functions alone that a shorter one does not convict.")
    sound = [one for name, one in known.items() if name.startswith("sound, ")]
    lines.append(f"- Sound twins, from the domain: {sum(one['found'] for one in sound)} of {len(sound)} accused.")
    return "\n".join(lines) + "\n"


def side_by_side(known: Known, seconds: float) -> str:
    """Return the table of `check` beside other tools, where the pair is named."""
    text = f"""
## Side by side

The pair is named, and each tool has {seconds:g} s of processor; importing it is not counted. A tool is given outcomes
as vectors of numbers (`tools/__init__.py`), since it takes no others, and twice the runs of the try before until its
time is over; a try that has begun goes to its end. It convicts where its own test does at α = 10^−6; each try may
spend that α, which favours it. *`check` on these*: convicted of the same functions. Minutes are of processor.

| tool | version | tried | not possible | convicted | `check` on these | convictions a minute | a user writes |
|---|---|---|---|---|---|---|---|
"""
    mine = {name: known.get(f"pair, {name}, 1, {seconds:g}") for name in PROBLEMS}
    text += line("`check`", "this one", [(one, one) for one in mine.values() if one], "the function")
    for key, tool in OTHERS.items():
        made = [(known.get(f"{key}, {name}, 1, {seconds:g}"), mine[name]) for name in PROBLEMS]
        pairs = [(one, other) for one, other in made if one and other]
        if tool.folder:
            text += line(f"[{tool.title}]({tool.source})", tool.version, pairs, "the function, on vectors")
    text += "\n" + "".join(f"- {one.title}, {one.version}: {one.remark}.\n" for one in OTHERS.values())
    names = [key for key, tool in OTHERS.items() if tool.folder]
    heads = ["`check`", *(OTHERS[key].title for key in names)]
    text += "\nSeconds of processor; ✗: not convicted; !: it takes no such outcomes or claim; –: not measured.\n"
    text += f"\n| function | {' | '.join(heads)} |\n"
    text += f"|{'---|' * (len(heads) + 1)}\n"
    for name in PROBLEMS:
        cells = [mark(known.get(f"{key}, {name}, 1, {seconds:g}")) for key in ("pair", *names)]
        text += f"| {name} | {' | '.join(cells)} |\n"
    return text


def line(title: str, version: str, made: list[Any], written: str) -> str:
    """Return the row of a tool. made: what it said and what `check` said of each function."""
    found = sum(one["found"] for one, _ in made)
    spent = sum(one["processor"] for one, _ in made)
    rate = short(found / spent * 60, 2) if spent else "–"
    both = sum(other["found"] for _, other in made)
    failed = sum(bool(one.get("error")) for one, _ in made)
    return f"| {title} | {version} | {len(made)} | {failed} | {found} | {both} | {rate} | {written} |\n"


def mark(one: Mapping[str, Any] | None) -> str:
    """Return the cell of a tool and a function."""
    if one is None:
        return "–"
    if one["found"]:
        return short(one["processor"], 2)
    return "!" if one.get("error") else "✗"


def document(known: Known, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return results.json: the problems, and all that was measured."""
    problems = {}
    for name, each in PROBLEMS.items():
        best = each.optimum
        problems[name] = {
            "claim": [each.claim.epsilon, each.claim.delta],
            "event": each.words,
            "probabilities": [best.first, best.second],
            "runs_needed": runs_needed(each.claim, best.first, best.second),
        }
    return {**given, "problems": problems, "measured": dict(sorted(known.items()))}
