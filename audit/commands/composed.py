"""What `audit compose` is told to compose: noise with a closed form, a member's exact laws, or a recorded pair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.commands.shared import known

if TYPE_CHECKING:
    from audit.comparison import Subject


def composed(
    attacks: Sequence[str],
    mechanism: str | None,
    *,
    gaussian: float | None,
    sampling: float | None,
    laplace: float | None,
    truncation: float | None,
    response: float | None,
    recorded: Path | None,
    count: int,
) -> Subject | None:
    """Return what the options name, or None where they name no mechanism."""
    from audit import closed_forms
    from audit.comparison import Subject

    named = {
        "--mechanism": mechanism,
        "--gaussian": gaussian,
        "--laplace": laplace,
        "--response": response,
        "--file": recorded,
    }
    given = [option for option, value in named.items() if value is not None]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other")
    if sampling is not None and gaussian is None:
        raise click.UsageError("--sampling needs --gaussian")
    if truncation is not None and laplace is None:
        raise click.UsageError("--truncation needs --laplace")
    if attacks and given and mechanism is None:
        raise click.UsageError(f"{given[0]} excludes --attack")
    try:
        if gaussian is not None and sampling is not None:
            steps = (closed_forms.subsampled_gaussian(gaussian, sampling, way, count=count) for way in ("in", "out"))
            return Subject(f"Gaussian noise, σ = {gaussian:g}, sampled with q = {sampling:g}", tuple(steps))
        if gaussian is not None:
            one = closed_forms.gaussian(gaussian, count=count)
            return Subject(f"Gaussian noise, σ = {gaussian:g}", (one,), 0.5 / gaussian / gaussian)
        if laplace is not None:
            told = f"Laplace noise, scale {laplace:g}" + (f", within ±{truncation:g}" if truncation is not None else "")
            rho = 0.5 / laplace / laplace if truncation is None else None
            return Subject(told, (closed_forms.laplace(laplace, truncation=truncation, count=count),), rho)
        if response is not None:
            one = closed_forms.randomized_response(response, count=count)
            return Subject(f"randomized response, ε = {response:g}", (one,), response**2 / 2)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if recorded is not None:
        return _recorded(recorded, count)
    return None if mechanism is None else _member(attacks, mechanism, count)


def _member(attacks: Sequence[str], name: str, count: int) -> Subject:
    from attacks.catalogue import attack
    from audit.compounding import both_directions
    from mechanisms.families import member

    known(member, name, "--mechanism")
    if len(attacks) != 1:
        raise click.UsageError(f"--mechanism {name} needs one --attack, whose worlds it is composed in")
    known(attack, attacks[0], "--attack")
    worlds, mechanism = attack(attacks[0]), member(name)
    if worlds.family != mechanism.family:
        raise click.UsageError(f"{name} is of the family {mechanism.family}, {worlds.name} of {worlds.family}")
    found = both_directions(f"{name} under {worlds.name}", mechanism, worlds, count)
    if found is None:
        raise click.UsageError(f"{name} has no exact law for the worlds of {worlds.name}")
    return found


def _recorded(path: Path, count: int) -> Subject:
    """Read a pair of worlds: probabilities, or counts, which are divided by their sum."""
    from audit.comparison import Subject
    from audit.composition import buckets

    def world(values: Any) -> list[float | Fraction]:
        if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
            raise ValueError("'in' and 'out' must be lists of numbers")
        if all(isinstance(value, int) for value in values) and sum(values) > 1:
            return [Fraction(value, sum(values)) for value in values]
        return [float(value) for value in values]

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        one, other = world(document["in"]), world(document["out"])
        pairs = (buckets(one, other, count=count), buckets(other, one, count=count))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        told = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise click.BadParameter(f"{path}: {told}", param_hint="--file") from None
    return Subject(path.name, pairs)
