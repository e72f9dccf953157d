"""The pair named by the options of `audit compose`: a closed form, a member's exact laws, or a recorded pair."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subnormal.audit import text
from subnormal.audit.commands.common import known, mistakes

if TYPE_CHECKING:
    from subnormal.audit.composition.comparison import Subject

ALPHA = 0.05  # default for a pair of counts


def composed(
    attacks: Sequence[str],
    mechanism: str | None,
    *,
    gaussian: float | None,
    sampling: float | None,
    laplace: float | None,
    truncation: float | None,
    response: float | None,
    files: Sequence[Path],
    alpha: float | None,
    count: int,
) -> Subject | None:
    """Return the pair that the options name, or None if they name no mechanism.

    Raises UsageError for options that exclude or need each other, BadParameter for a file without a readable pair.
    """
    from subnormal.audit.composition.comparison import Subject
    from subnormal.mechanisms.composition import closed_forms

    named = {
        "--mechanism": mechanism,
        "--gaussian": gaussian,
        "--laplace": laplace,
        "--response": response,
        "--file": files or None,
    }
    options = [option for option, value in named.items() if value is not None]
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} exclude each other")
    if sampling is not None and gaussian is None:
        raise click.UsageError("--sampling needs --gaussian")
    if truncation is not None and laplace is None:
        raise click.UsageError("--truncation needs --laplace")
    if alpha is not None and not files:
        raise click.UsageError("--alpha needs --file")
    if attacks and options and mechanism is None:
        raise click.UsageError(f"{options[0]} excludes --attack")
    with mistakes(ValueError):
        if gaussian is not None and sampling is not None:
            steps = (closed_forms.subsampled_gaussian(gaussian, sampling, way, count=count) for way in ("in", "out"))
            return Subject(
                f"Gaussian noise, σ = {text.given(gaussian)}, sampled with q = {text.given(sampling)}", tuple(steps)
            )
        if gaussian is not None:
            one = closed_forms.gaussian(gaussian, count=count)
            return Subject(f"Gaussian noise, σ = {text.given(gaussian)}", (one,), 0.5 / gaussian / gaussian)
        if laplace is not None:
            label = f"Laplace noise, scale {text.given(laplace)}" + (
                f", within ±{text.given(truncation)}" if truncation is not None else ""
            )
            rho = 0.5 / laplace / laplace if truncation is None else None
            return Subject(label, (closed_forms.laplace(laplace, truncation=truncation, count=count),), rho)
        if response is not None:
            one = closed_forms.randomized_response(response, count=count)
            return Subject(f"randomized response, ε = {text.given(response)}", (one,), response**2 / 2)
    if files:
        return recorded(files, alpha, count)
    return None if mechanism is None else _member(attacks, mechanism, count)


def _member(attacks: Sequence[str], name: str, count: int) -> Subject:
    from subnormal.attacks.catalogue import attack
    from subnormal.audit.composition.leak_growth import both_directions
    from subnormal.mechanisms.families import member

    known(member, name, "--mechanism")
    if len(attacks) != 1:
        raise click.UsageError(f"--mechanism {name} needs one --attack, whose worlds it is composed in")
    known(attack, attacks[0], "--attack")
    worlds, mechanism = attack(attacks[0]), member(name)
    if worlds.family != mechanism.family:
        raise click.UsageError(f"{name} is of the family {mechanism.family}, {worlds.name} of {worlds.family}")
    subject = both_directions(f"{name} under {worlds.name}", mechanism, worlds, count)
    if subject is None:
        raise click.UsageError(f"{name} has no exact law for the worlds of {worlds.name}")
    return subject


def recorded(files: Sequence[Path], alpha: float | None, count: int) -> Subject:
    """Read a pair of worlds: probabilities, or counts, whose bounds hold together with probability 1 − α.

    files: a JSON object with both, or a file for each world, with one number a line. Raises BadParameter, with the
    paths, if they hold no such pair: what raises ValueError here.
    """
    from subnormal.audit.composition.buckets import count_bounds, probabilities
    from subnormal.audit.composition.comparison import Subject
    from subnormal.mechanisms.composition.composition import Composition
    from subnormal.mechanisms.composition.privacy_buckets import fill_buckets

    with mistakes(ValueError, RecursionError, option="--file", of=f"{', '.join(map(str, files))}: "):
        values = _worlds([path.read_text(encoding="utf-8") for path in files])
        name = " and ".join(path.name for path in files)
        if len(values[0]) != len(values[1]):
            raise ValueError(f"'in' and 'out' must be over the same atoms, got {len(values[0])} and {len(values[1])}")
        if all(isinstance(value, int) for value in chain(*values)) and max(map(sum, values)) > 1:
            share = (ALPHA if alpha is None else alpha) / 2  # of each world
            one, other = count_bounds("'in'", values[0], share), count_bounds("'out'", values[1], share)
            name += f", counts, at confidence {text.given(1 - 2 * share)}"
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
    from subnormal.mechanisms.core.options import unique

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
