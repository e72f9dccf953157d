"""The set `attacks`: an attack as one JSON document that any language can run, like Wycheproof's.

vectors/1/vector.schema.json is the schema. A float is {"decimal": 0.5, "hex": "0x1.0000000000000p-1"}; an integer is a
JSON number up to 2^53 and a string beyond; a vector is run-length encoded.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite
from typing import Any

import numpy as np

from subnormal.attacks.catalogue import on_outcomes
from subnormal.attacks.core.attack import AnyAttack
from subnormal.audit.engine.pairs import adjacent_worlds
from subnormal.audit.evidence import exact
from subnormal.audit.report.to_json import to_json as document
from subnormal.audit.vectors.numbers import as_json, outward
from subnormal.mechanisms.core.law import block_ends
from subnormal.mechanisms.families import family, members
from subnormal.mechanisms.privacy import Claim

SCHEMA = "subnormal/vector/1"

_ID_DIGITS = 16


def vector(of: AnyAttack) -> dict[str, Any]:
    """Return the attack as a JSON object: everything that a program needs to run it, and the event's probabilities.

    Raises ValueError where its worlds are not adjacent.
    """
    data_in, data_out = adjacent_worlds(of)
    claim = family(of.family).claim(of.parameters, data_in, data_out)
    event = None if of.event is None else of.event.to_json()
    about = of.name, of.family, of.description, of.source, dataclasses.asdict(of.parameters)
    return _document(*about, data_in, data_out, event, claim, _broken(of, data_in, data_out))


def _document(
    name: str,
    of: str,
    description: str,
    source: str,
    parameters: Mapping[str, Any],
    data_in: Any,
    data_out: Any,
    event: Mapping[str, Any] | None,
    claim: Claim,
    broken: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    content = {
        "family": of,
        "parameters": number(parameters),
        "data_in": data(data_in),
        "data_out": data(data_out),
        "event": number(event),
    }
    about = {"attack": name, "description": description, "source": source}
    shows = {"claim": _claim(claim), "broken": broken}
    return {"schema": SCHEMA, "id": identity(name, content)} | about | content | shows


def tests() -> Iterator[dict[str, Any]]:
    """Yield the vectors whose event another language can evaluate, the same ones whatever libraries are installed."""
    for of in on_outcomes():
        if of.event is not None and of.event.to_json()["portable"]:
            one = vector(of)
            ours = {member.name for member in members(family(of.family)) if not member.package}
            yield one | {"broken": [_rounded(shown) for shown in one["broken"] if shown["mechanism"] in ours]}
    for query in QUERIES:
        yield _document(*query[:7], {**query[7], "portable": True}, Claim(*query[8:]), [])


def _rounded(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds with few digits: processors compute the last ones of an exponential differently."""
    bounds = {name: shown[name] for name in ("event_in", "event_out") if shown[name] is not None}
    decimals = {name: outward(*(end["decimal"] for end in both)) for name, both in bounds.items()}
    return {**shown, **{name: number(list(both)) for name, both in decimals.items()}}


# Attacks on queries with noise that are no family of this project: name, family, description, source, parameters, data
# with Alice and without, event, ε, δ.
Query = tuple[str, str, str, str, Mapping[str, Any], Any, Any, Mapping[str, Any], float, float]
QUERIES: Sequence[Query] = (
    (
        "grid-precision-gaussian-float64", "gaussian",
        "a count of 1 with Alice, 0 without: 1 + noise lies on a coarse grid",
        "Jin et al. 2021 (arXiv:2112.05307)", {"sigma": 1.0}, 1, 0, {"kind": "off-grid", "grid": -53}, 1.0, 0.126937,
    ),
    (
        "inverted-scale", "laplace", "a count of 1 with Alice, 0 without, and noise of scale ε instead of 1/ε",
        "Ding et al. 2018 (arXiv:1805.10277)", {"epsilon": 0.5}, 1, 0,
        {"kind": "between", "low": -inf, "high": 0.0}, 0.5, 0.0,
    ),
    (
        "local-sensitivity-mean", "mean", "the mean of one record, 1, or of none: noise of scale 1/(n + 1) tells n",
        "Near, Abuah: Programming Differential Privacy, Chapter 7", {"epsilon": 1.0, "lower": 0.0, "upper": 1.0},
        np.ones(1), np.ones(0), {"kind": "between", "low": 0.75, "high": 1.25}, 1.0, 0.0,
    ),
    (
        "noisy-max-value", "noisy-max",
        "three queries, 0 with Alice and 1 without: the largest noisy value, not its place",
        "Ding et al. 2018 (arXiv:1805.10277)", {"epsilon": 1.0, "scale": 2.0}, np.zeros(3, np.int64), np.ones(3,
        np.int64),
        {"kind": "between", "low": -inf, "high": -0.5}, 1.0, 0.0,
    ),
    (
        "quantile-underflow", "quantile",
        "the median of 2,981 records that are 1, one more with Alice: weights e^(−ε·n/4) underflow from there on",
        "diffprivlib, issue 107; SmartNoise, issue 572", {"epsilon": 1.0, "quantile": 0.5, "lower": 0.0, "upper": 1.0},
        np.ones(2982), np.ones(2981), {"kind": "refuses"}, 1.0, 0.0,
    ),
)  # fmt: skip


def identity(name: str, content: Mapping[str, Any]) -> str:
    """Return a name that stays the same for as long as the family, the inputs, the parameters and the event do."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    return f"{name}/{hashlib.sha256(canonical).hexdigest()[:_ID_DIGITS]}"


def file_name(of: AnyAttack) -> str:
    """Return the name of the attack's file."""
    return f"{of.name}.json"


def to_json(of: AnyAttack) -> bytes:
    """Return the attack's file. The same code on the same machine gives the same bytes."""
    return document(vector(of)).encode()


def number(value: Any) -> Any:
    """Return a value of parameters or of an event with its floats and large integers in the form of a vector."""
    if isinstance(value, Mapping):
        return {name: number(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [number(part) for part in value]
    if isinstance(value, float) and isfinite(value):
        return {"decimal": value, "hex": value.hex()}
    return as_json(value)


def data(values: Any) -> dict[str, Any]:
    """Return the data of one world: a number, a mapping, or a vector as its runs of equal values, [how many, value].

    A matrix is the vector of its rows, one after the other, with its shape. Raises ValueError for an array of another
    kind.

    >>> data(np.array([3, 3, 3, 4]))
    {'type': 'int64', 'length': 4, 'runs': [[3, 3], [1, 4]]}
    """
    if isinstance(values, Mapping):
        return {"type": "mapping", "items": [[key, number(values[key])] for key in sorted(values)]}
    if not isinstance(values, np.ndarray):
        return {"type": "float64" if isinstance(values, float) else "integer", "value": number(values)}
    if values.ndim not in (1, 2) or values.dtype.kind not in "if":
        what = "a vector or a matrix of integers or floats"
        raise ValueError(f"data must be {what}, got {values.dtype} of shape {values.shape}")
    shape = {"shape": [*values.shape]} if values.ndim == 2 else {}
    values = values.ravel()
    ends = block_ends(values) if len(values) else np.zeros(0, dtype=np.int64)
    counts = np.diff(ends, prepend=0).tolist()
    return {
        "type": values.dtype.name,
        "length": len(values),
        "runs": [[count, number(value)] for count, value in zip(counts, values[ends - 1].tolist(), strict=True)],
    } | shape


def _claim(claim: Claim) -> dict[str, Any]:
    return {name: number(getattr(claim, name)) for name in ("epsilon", "delta", "advantage_allowed")}


def _broken(of: AnyAttack, data_in: Any, data_out: Any) -> list[dict[str, Any]]:
    """Return what the members show that the attack breaks: bounds on the event's probability in the exact laws.

    Null for a member without a law, one of a library that is not installed among them.
    """
    known = {mechanism.name: mechanism for mechanism in members(family(of.family))}
    found = []
    for name in of.breaks:
        laws = exact.both_laws(known[name], of, (data_in, data_out)) if name in known else None
        shown: dict[str, Any] = {"mechanism": name, "event_in": None, "event_out": None}
        if laws is not None and of.event is not None:
            event_in, event_out = exact.event_bounds(*laws, of.event)
            shown |= {"event_in": number(event_in), "event_out": number(event_out)}
        found.append(shown)
    return found


# How a line of text has a vector: what is left out of it, and what takes several words.
PROSE = ("schema", "attack", "description", "source", "broken")
NESTED = ("data_in", "data_out", "event", "claim")


def words(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a vector as words by name: the claim without what follows from it, numbers as plain ones.

    >>> words("event", {"kind": "off-grid", "grid": -53, "portable": True})
    {'event': 'off-grid', 'event_grid': -53}
    """
    if name == "event":
        return {"event": value["kind"]} | {
            f"event_{key}": value[key] for key in value if key not in ("kind", "portable")
        }
    if name == "claim":
        return {"claim_epsilon": value["epsilon"], "claim_delta": value["delta"]}
    if "items" in value:
        return {name: value["items"], "type": "mapping"}
    if "runs" not in value:
        return {name: value["value"], "type": value["type"]}
    runs = [f"{count}*{record['decimal'] if isinstance(record, dict) else record}" for count, record in value["runs"]]
    return {name: runs, "type": value["type"]} | ({"shape": value["shape"]} if "shape" in value else {})
