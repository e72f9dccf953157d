"""Drafts of tests: what a function takes, protects and claims, guessed from its signature, docstring and code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, get_origin, get_type_hints

from subnormal.audit.neighbours.constants import constants_of

PUBLIC: Mapping[str, str] = {  # parameters that are no data, and what a draft gives where they have no default
    "epsilon": "{epsilon}",
    "eps": "{epsilon}",
    "delta": "{delta}",
    "rho": "{rho}",
    "sensitivity": "1.0",
    "scale": "1.0",
    "bounds": "({low}, {high})",
    "lower": "{low}",
    "upper": "{high}",
    "low": "{low}",
    "high": "{high}",
    "rng": "np.random.default_rng()",
    "generator": "np.random.default_rng()",
    "seed": "None",
    "k": "3",
}
WHOLE = re.compile(r"(?<![\w.])([0-9]{1,6})(?![\w.]*[0-9])")
NUMBER = r"([0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?)"
LARGEST = 10**6  # of a record, as is guessed
SAYS_CHANGED = re.compile(r"\b(?:chang|replac|substitut)", re.IGNORECASE)
SAYS_PRIVATE = re.compile(r"differential|privac|private|epsilon|ε|noisy|noise|laplace|gauss", re.IGNORECASE)


@dataclass(frozen=True)
class Domain:
    """A strategy of inputs, a relation of neighbours, and the imports of both, as code."""

    data: str
    adjacent: str
    imports: tuple[str, ...] = ()


def draft(module: ModuleType, names: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Return a file of tests to edit, and the functions that are left out as nothing says that they are private.

    Args:
        module: whose public functions are tested.
        names: of the functions; empty: all that take data, and whose name, parameters or docstring speak of privacy.

    Raises:
        ValueError: the module has no such function, or no function is left.
    """
    functions = {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    if missing := [name for name in names if name not in functions]:
        raise ValueError(f"{module.__name__} defines no public function {missing[0]!r}")
    chosen = {name: functions[name] for name in names} or {
        name: function for name, function in functions.items() if _says_private(function)
    }
    if not chosen:
        raise ValueError(
            f"no function of {module.__name__} takes data and speaks of privacy in its name, parameters or docstring"
        )
    written = [_test(module, name, function) for name, function in chosen.items()]
    used = sorted({line for _, lines, _ in written for line in lines})
    names = sorted({name for *_, names in written for name in names}, key=str.lower)
    file = "\n".join(
        [
            f'"""Drafts of tests for {module.__name__}. Edit what was guessed: the data, the neighbours, the claim."""',
            "",
            *used,
            "",
            f"import {module.__name__}",
            f"from subnormal import {', '.join(names)}",
            *(text for text, *_ in written),
        ]
    )
    return file, [name for name in functions if name not in chosen]


def _says_private(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    words = " ".join([function.__name__, function.__doc__ or "", *parameters])
    return _data_parameter(function) is not None and SAYS_PRIVATE.search(words) is not None


def _data_parameter(function: Callable[..., Any]) -> str | None:
    """Return the first parameter that is no public one."""
    return next((name for name in inspect.signature(function).parameters if name not in PUBLIC), None)


def _test(module: ModuleType, name: str, function: Callable[..., Any]) -> tuple[str, tuple[str, ...], set[str]]:
    """Return a test as code, its imports, and its names of this package."""
    parameters = inspect.signature(function).parameters
    values = _values(module, function)
    domain = _domain(function, values)
    others = [
        f"{each.name}={PUBLIC[each.name].format(**values) if each.name in PUBLIC else '...'}"
        for each in list(parameters.values())
        if each.name != _data_parameter(function)
        and each.default is inspect.Parameter.empty
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    called = f"{module.__name__}.{name}"
    keyword = f"{_data_parameter(function)}=" if list(parameters)[:1] != [_data_parameter(function)] else ""
    release = f"lambda data: {called}({', '.join([f'{keyword}data', *others])})" if others or keyword else called
    edit = "  # edit: no value could be guessed for ..." if any(each.endswith("=...") for each in others) else ""
    zcdp = "rho" in parameters and not {"epsilon", "eps"} & set(parameters)
    claim = [f"claim=Zcdp({values['rho']}),"] if zcdp else [f"epsilon={values['epsilon']},"]
    if not zcdp and float(values["delta"]) > 0:
        claim.append(f"delta={values['delta']},")
    grid = "grid=1e-6,  # ignores the last bits of floats: leave it out to see whether they tell"
    lines = [f"{release},{edit}", f"data={domain.data},", f"adjacent={domain.adjacent},", *claim, grid, "seconds=10,"]
    body = "".join(f"        {line}\n" for line in lines)
    relation = domain.adjacent.partition("(")[0]
    numpy = ("import numpy as np",) if "np." in release else ()
    imports = ("from hypothesis import strategies as st", *numpy, *domain.imports)
    code = f"\n\ndef test_{name}_keeps_its_claim() -> None:\n    assert_private(\n{body}    )"
    return code, imports, {"assert_private", relation} | ({"Zcdp"} if zcdp else set())


def _values(module: ModuleType, function: Callable[..., Any]) -> dict[str, str]:
    """Return ε, δ, ρ and the bounds of a record, as code: of the defaults, docstring or constants, else usual ones."""
    parameters = inspect.signature(function).parameters
    defaults = {name: each.default for name, each in parameters.items() if each.default is not inspect.Parameter.empty}

    def value(names: Sequence[str], usual: str) -> str:
        for name in names:
            stated = re.search(rf"\b{name}\s*(?:=|:|of|is)?\s*{NUMBER}", function.__doc__ or "")
            for known in (defaults.get(name), stated and float(stated[1]), getattr(module, name.upper(), None)):
                if isinstance(known, int | float) and not isinstance(known, bool):
                    return repr(known)
        return usual

    low, high = value(("lower", "low"), "0.0"), value(("upper", "high"), "1.0")
    bounds = defaults.get("bounds")
    if isinstance(bounds, tuple) and len(bounds) == 2:
        low, high = map(repr, bounds)
    return {
        "epsilon": value(("epsilon", "eps", "ε"), "1.0"),
        "delta": value(("delta", "δ"), "0.0" if "delta" not in parameters else "1e-6"),
        "rho": value(("rho", "ρ"), "0.5"),
        "sensitivity": value(("sensitivity",), "1.0"),
        "low": low,
        "high": high,
    }


def _domain(function: Callable[..., Any], values: Mapping[str, str]) -> Domain:
    """Return the guessed domain of a function's data."""
    name = _data_parameter(function) or ""
    try:
        hint = get_type_hints(function).get(name)
    except Exception:  # of annotations that name what is not there; they may raise anything
        hint = None
    floats = f"st.floats({values['low']}, {values['high']})"
    integers = f"st.integers(0, {_largest(function)})"
    elements = {float: floats, int: integers, str: 'st.sampled_from("abc")', bool: "st.booleans()"}
    text = str(hint)
    if hint is float:
        return Domain(floats, f"within({values['sensitivity']})")
    if hint in elements:
        return Domain(elements[hint], "within(1)")
    if "DataFrame" in text:
        return _frames(function, name, floats)
    if "Series" in text:
        imports = ("from hypothesis.extra.pandas import range_indexes, series",)
        return Domain(f"series(elements={floats}, index=range_indexes(max_size=20))", _relation(function), imports)
    if "ndarray" in text or "NDArray" in text:
        imports = ("from hypothesis.extra.numpy import arrays",)
        return Domain(f"arrays(float, st.integers(1, 20), elements={floats})", "change_one()", imports)
    arguments = getattr(hint, "__args__", ())
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys, numbers = (elements.get(one, elements[str]) for one in (*arguments, str, int)[:2])
        return Domain(f"st.dictionaries({keys}, {numbers})", 'within(1, norm="l1")')
    element = elements.get(arguments[0], floats) if arguments else floats
    relation = _relation(function)
    least = "min_size=1, " if relation == "change_one()" else ""  # an empty one has no neighbour
    return Domain(f"st.lists({element}, {least}max_size=20)", relation)


def _largest(function: Callable[..., Any]) -> int:
    """Return the largest whole number of the function's code and docstring, as far as it may be one of a record."""
    stated = map(int, WHOLE.findall(function.__doc__ or ""))
    found = {one for one in constants_of(function) if isinstance(one, int) and one < LARGEST}
    return max(10, *stated, *(one for one in found if {one - 1, one + 1} <= found))  # its neighbours are found with it


def _relation(function: Callable[..., Any]) -> str:
    """Return the relation of datasets of any length that the docstring names."""
    words = function.__doc__ or ""
    return "change_one()" if SAYS_CHANGED.search(words) and "remov" not in words.lower() else "add_or_remove()"


def _frames(function: Callable[..., Any], name: str, floats: str) -> Domain:
    """Return a domain of frames with the columns that the function's code names."""
    try:
        code = inspect.getsource(function)
    except OSError:  # it was made without a file
        code = ""
    found = dict.fromkeys(re.findall(rf"""\b{name}\[["'](\w+)["']\]""", code)) or {"value": None}
    columns = ", ".join(f'column("{each}", elements={floats})' for each in found)
    imports = ("from hypothesis.extra.pandas import column, data_frames, range_indexes",)
    return Domain(f"data_frames([{columns}], index=range_indexes(max_size=20))", _relation(function), imports)
