"""What `audit compose` composes: a closed form, a member's exact laws, or a recorded pair; its tables and charts."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from subnormal.attacks import catalogue
from subnormal.audit.commands.common import known, mistakes, print_table, progress
from subnormal.audit.composition import leak_growth
from subnormal.audit.composition.buckets import count_bounds, probabilities
from subnormal.audit.composition.comparison import POINTS, Line, Subject, chart, delta_lines, epsilon_lines
from subnormal.audit.report.svg import Axis, Panel
from subnormal.audit.report.table import grid
from subnormal.audit.text import at_least, at_most, given
from subnormal.mechanisms.composition import closed_forms
from subnormal.mechanisms.composition.composition import Composition
from subnormal.mechanisms.composition.privacy_buckets import fill_buckets
from subnormal.mechanisms.core.options import unique
from subnormal.mechanisms.families import member
from subnormal.mechanisms.privacy import Claim

LINES = 9  # in the table of δ(ε)
ALPHA = 0.05  # default for a pair of counts


def composed(attacks: Sequence[str], mechanism: str | None, options: Mapping[str, Any]) -> Subject | None:
    """Return the pair that the options of `audit compose` name, or None if they name no mechanism.

    Raises UsageError for options that exclude or need each other, BadParameter for a file without a readable pair.
    """
    values = {**options, "mechanism": mechanism, "file": options["files"] or None}
    stated = {f"--{name}": value for name, value in values.items() if value is not None}
    named = [name for name in (*FORMS, "--mechanism", "--file") if name in stated]
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)} exclude each other")
    for name, needed in (("--sampling", "--gaussian"), ("--truncation", "--laplace"), ("--alpha", "--file")):
        if name in stated and needed not in stated:
            raise click.UsageError(f"{name} needs {needed}")
    if attacks and named and mechanism is None:
        raise click.UsageError(f"{named[0]} excludes --attack")
    for name, form in FORMS.items():
        if name in stated:
            with mistakes(ValueError):
                return form(stated[name], options)
    if "--file" in stated:
        return recorded(stated["--file"], options["alpha"], options["count"])
    return None if mechanism is None else _member(attacks, mechanism, options["count"])


def _gaussian(sigma: float, options: Mapping[str, Any]) -> Subject:
    name, sampling, count = f"Gaussian noise, σ = {given(sigma)}", options["sampling"], options["count"]
    if sampling is None:
        return Subject(name, (closed_forms.gaussian(sigma, count=count),), 0.5 / sigma / sigma)
    steps = (closed_forms.subsampled_gaussian(sigma, sampling, way, count=count) for way in ("in", "out"))
    return Subject(f"{name}, sampled with q = {given(sampling)}", tuple(steps))


def _laplace(scale: float, options: Mapping[str, Any]) -> Subject:
    name, within = f"Laplace noise, scale {given(scale)}", options["truncation"]
    one = closed_forms.laplace(scale, truncation=within, count=options["count"])
    if within is None:
        return Subject(name, (one,), 0.5 / scale / scale)
    return Subject(f"{name}, within ±{given(within)}", (one,))


def _response(epsilon: float, options: Mapping[str, Any]) -> Subject:
    one = closed_forms.randomized_response(epsilon, count=options["count"])
    return Subject(f"randomized response, ε = {given(epsilon)}", (one,), epsilon**2 / 2)


FORMS = {"--gaussian": _gaussian, "--laplace": _laplace, "--response": _response}


def _member(attacks: Sequence[str], name: str, count: int) -> Subject:
    known(member, name, "--mechanism")
    if len(attacks) != 1:
        raise click.UsageError(f"--mechanism {name} needs one --attack, whose worlds it is composed in")
    known(catalogue.attack, attacks[0], "--attack")
    worlds, mechanism = catalogue.attack(attacks[0]), member(name)
    if worlds.family != mechanism.family:
        raise click.UsageError(f"{name} is of the family {mechanism.family}, {worlds.name} of {worlds.family}")
    subject = leak_growth.both_directions(f"{name} under {worlds.name}", mechanism, worlds, count)
    if subject is None:
        raise click.UsageError(f"{name} has no exact law for the worlds of {worlds.name}")
    return subject


def recorded(files: Sequence[Path], alpha: float | None, count: int) -> Subject:
    """Read a pair of worlds: probabilities, or counts, whose bounds hold together with probability 1 − α.

    files: a JSON object with both, or a file for each world, with one number a line. Raises BadParameter, with the
    paths, if they hold no such pair: what raises ValueError here.
    """
    with mistakes(ValueError, RecursionError, option="--file", of=f"{', '.join(map(str, files))}: "):
        values = _worlds([path.read_text(encoding="utf-8") for path in files])
        name = " and ".join(path.name for path in files)
        if len(values[0]) != len(values[1]):
            raise ValueError(f"'in' and 'out' must be over the same atoms, got {len(values[0])} and {len(values[1])}")
        if all(isinstance(value, int) for value in chain(*values)) and max(map(sum, values)) > 1:
            share = (ALPHA if alpha is None else alpha) / 2  # of each world
            one, other = count_bounds("'in'", values[0], share), count_bounds("'out'", values[1], share)
            name += f", counts, at confidence {given(1 - 2 * share)}"
        elif alpha is not None:
            raise ValueError("--alpha is for counts, and 'in' and 'out' hold probabilities")
        else:
            one, other = probabilities("'in'", values[0]), probabilities("'out'", values[1])
        pairs = Composition(fill_buckets(one, other, count)), Composition(fill_buckets(other, one, count))
    return Subject(name, pairs)


def _worlds(texts: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """Return the numbers of both worlds: of one JSON object, or of two texts with one number a line."""
    if len(texts) > 2:
        raise ValueError(f"one file with a pair, or one for each of two worlds, got {len(texts)}")
    if len(texts) == 2:
        one, other = ([_number(line) for line in text.split()] for text in texts)
        return one, other
    document = json.loads(texts[0], object_pairs_hook=unique)
    return _world(document, "in"), _world(document, "out")


def _number(text: str) -> int | float:
    return int(text) if text.isdecimal() else float(text)


def _world(document: Any, key: str) -> list[Any]:
    """Return the numbers of a world: integers, or floats."""
    if not isinstance(document, dict) or key not in document:
        raise ValueError(f'no {key!r}: a pair is {{"in": […], "out": […]}}')
    values = document[key]
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ValueError(f"{key!r} must be a list of numbers, got {reprlib.repr(values)}")
    return values


def compared(subject: Subject, runs: int, delta: float) -> list[Panel]:
    """Print both tables; return both charts."""
    with progress("composing", 2) as done:
        curve = delta_lines(subject, runs)
        done()
        growth = epsilon_lines(subject, delta, runs)
        done()
    title = f"{subject.name}: {runs:,} runs"
    some = curve[:: (POINTS - 1) // (LINES - 1)]
    print_table(_table(f"δ(ε), {title}", "ε", some))
    print_table(_table(f"ε(δ) at δ = {given(delta)}, {subject.name}", "runs", growth))
    return [
        chart(curve, title, Axis("ε (nats)", 0.0, curve[-1].at or 1.0), f"δ of {runs:,} runs"),
        chart(growth, subject.name, Axis("runs r", 1, max(2, runs), logarithmic=True), f"ε at δ = {given(delta)}"),
    ]


def beyond(subject: Subject, runs: int, budget: float, delta: float) -> str:
    """Return in words how many runs are proved to exceed a claim."""
    with progress("searching", 1) as done:
        found = subject.runs_beyond(Claim(budget, delta), runs)
        done()
    claim = f"(ε, δ) = ({given(budget)}, {given(delta)})"
    if found is None:
        return f"{subject.name}: {runs:,} runs are not proved to exceed {claim}"
    return f"{subject.name}: {found:,} run{'s are' if found > 1 else ' is'} proved to exceed {claim}"


def leaks(names: Sequence[str], count: int) -> list[Panel]:
    """Print how the leaks of broken members grow; return the charts."""
    for name in names:
        known(catalogue.attack, name, "--attack")
    composed = catalogue.chosen(names) or [one for one in catalogue.attacks() if not one.slow]
    with progress("composing", len(composed)) as done:
        rows = leak_growth.measure_leaks(composed, count=count, done=done)
    if not rows:
        raise click.UsageError("no exact law convicts a member under these attacks")
    print_table(_leak_table(rows))
    return leak_growth.charts(rows)


def _table(title: str, axis: str, lines: Sequence[Line]) -> Table:
    table = grid([axis, "low", "up", *(name.replace("Oh–", "Oh–\n") for name in lines[0].others)], (), title)
    for line in lines:
        at = f"{line.at:,}" if isinstance(line.at, int) else given(line.at, 6)
        table.add_row(at, given(line.low, 7), given(line.up, 7), *(given(one, 5) for one in line.others.values()))
    return table


def _leak_table(rows: Sequence[leak_growth.LeakGrowth]) -> Table:
    titles = ["attack", "mechanism", "ε", *(f"r = {r:,}" for r in leak_growth.RUNS)]
    table = grid(titles, ("attack", "mechanism"), "δ(r·ε): the leak beyond r times the claim")
    for row in rows:
        if row.exact:
            table.add_row(
                "", f"{row.mechanism} (exact)", given(row.claim.epsilon), *(f"≤ {at_most(up)}" for _, up in row.beyond)
            )
            table.add_section()
        else:
            lows = (at_least(low) for low, _ in row.beyond)
            table.add_row(row.attack, row.mechanism, given(row.claim.epsilon), *lows)
    return table
