"""What the tests of all families need to know of each: CASES in test_family.py of the tests of its folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import strategies as st

from subnormal.audit.claims.kind import decades as decades
from subnormal.mechanisms.core.mechanism import AnyMechanism
from subnormal.mechanisms.families import FAMILIES

GRID_POINTS = 1024  # an exact law has as many atoms
EPSILON = decades(-4, 1.5, 1.0)
VECTORS = st.lists(st.integers(-3, 3), min_size=3, max_size=3).map(np.array)


@dataclass(frozen=True)
class FamilyCases:
    """A family, for the tests of all families.

    laws: by member, the proof that its law is that of its code.
    bounds(parameters, data): what it means that data keep the public bounds: each rule, and whether it holds.
    parameters, data, noiseless, relation: of a check: the public parameters, the domain of the data (None: the relation
    draws pairs), a function without noise, and the relation (None: the family's own).
    domain: a small domain, where the family has any. options: those of such domains, drawn. tight: those of a domain
    that refutes a third of the claim.
    """

    laws: Mapping[str, Callable[[AnyMechanism], None]]
    bounds: Callable[[Any, Any], Mapping[str, bool]]
    parameters: Any
    data: st.SearchStrategy[Any] | None
    noiseless: Callable[[Any], Any]
    relation: Any = None
    domain: str | None = None
    options: Mapping[str, st.SearchStrategy[Any]] = field(default_factory=dict)
    tight: Mapping[str, Any] = field(default_factory=dict)


@cache
def family_cases() -> Mapping[str, FamilyCases]:
    """Return the cases of every family by its name; a family without any is an error that names the file to edit."""
    folders = {one.name: one.parameters.__module__.split(".")[2] for one in FAMILIES}
    modules = {name: import_module(f"tests.mechanisms.{folder}.test_family") for name, folder in folders.items()}
    missing = [f"{one.__name__}: CASES has no {name!r}" for name, one in modules.items() if name not in one.CASES]
    assert not missing, missing
    return {name: one.CASES[name] for name, one in modules.items()}
