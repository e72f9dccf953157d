"""The set `maps`: parameters in, certified bounds on the promised number out, for each kind of claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from subnormal.audit.claims.kind import Kind
from subnormal.audit.claims.kinds import KINDS
from subnormal.audit.vectors.numbers import outward

TOLERANCE = 1e-4  # share of the lower bound below which an answer is called rounded, as `claims` does

# Of each parameter: two usual values, then edges. Each is held beside the first and beside the second of all others.
VALUES: Mapping[str, Sequence[Any]] = {
    "sigma": (1.0, 4.0, 0.02, 0.3, 30.0, 300.0),
    "scale": (1.0, 4.0, 0.02, 0.3, 30.0, 1e4),
    "steps": (1, 10, 2, 1000),
    "delta": (1e-5, 1e-9, 1e-300, 1e-15, 0.01, 0.5, 0.999),
    "epsilon": (1.0, 0.1, 1e-6, 10.0, 50.0),
    "threshold": (10.0, 50.0, 1.0, 2.0, 1000.0),
    "alpha": (0.05, 1e-3, 1e-300, 1e-9, 0.5, 0.999),
    "sampling": (0.01, 0.5, 1e-6, 0.999, 1.0),
    "sample": (100, 10, 1),
    "left_out": (900, 10, 0, 10**5),
    "rho": (0.1, 1.0, 1e-9, 30.0, 1e4),
    "tau": (0.1, 1.0, 1e-9, 30.0),
    "failure": (0.0, 1e-7, 1e-3),
    "budgets": ([[0.5, 0.0], [0.5, 0.0]], [[1.0, 1e-7], [0.1, 0.0], [2.0, 0.0]], [[1.0, 0.0]], [[0.1, 0.0]] * 8),
    "categories": (2, 10, 3, 1000),
    "probability": (0.75, 0.999, 0.5, 1 - 2.0**-40, 1.0),
    "local": (1.0, 4.0, 0.1),
    "users": (100, 1000, 1),
    "matrix": (
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
        [[1.0, 0.0], [0.5, 1.0]],
        [[1.0]],
        [[1.0, 0.0], [-1.0, 1.0]],
    ),
    "coefficients": ([1.0, 0.5, 0.25], [1.0, 1.0, 1.0, 1.0], [1.0], [1.0, -0.5]),
    "separation": (2, 1, 4),
    "participations": (2, 3, 1, 12),
    "epochs": (1, 5),
    "batch": (20, 10, 1),
    "records": (1000, 100, 20),
}
TOEPLITZ_STEPS = (10, 3, 1, 40)
RENYI_ORDERS = (2.0, 8.0, 1.0001, 1.5, 64.0, 1024.0)
DRAWN = "draws"  # kinds of this name are laws: the set `samplers` has them


def kinds() -> list[Kind]:
    """Return the kinds whose answers are numbers that a formula gives."""
    return [kind for kind in KINDS if not kind.name.endswith(DRAWN)]


def tests(kind: Kind) -> Iterator[dict[str, Any]]:
    """Yield the tests of a kind, edge values last."""
    for parameters in cases(kind):
        low, high = outward(*kind.bounds(**parameters))
        yield {"function": kind.name, "parameters": parameters, "asks": kind.asks, "low": low, "high": high}


def cases(kind: Kind) -> list[dict[str, Any]]:
    """Return sets of parameters: all at their usual values, then one at each of its others."""
    values = {name: _values(kind, name) for name in kind.parameters}
    found: list[dict[str, Any]] = []
    for usual in (0, 1):
        base = {name: every[usual] for name, every in values.items()}
        found.append(base)
        found += [base | {name: value} for name, every in values.items() for value in every]
    return [case for place, case in enumerate(found) if case not in found[:place]]


def _values(kind: Kind, name: str) -> Sequence[Any]:
    if name == "alpha" and "renyi" in kind.name:
        return RENYI_ORDERS
    if name == "steps" and "coefficients" in kind.parameters:
        return TOEPLITZ_STEPS
    whole: Callable[[Any], Any] = int if kind.name == "threshold" and name == "threshold" else lambda value: value
    return [whole(value) for value in VALUES[name]]
