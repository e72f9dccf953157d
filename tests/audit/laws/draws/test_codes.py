"""Whether code only calls what it reads, by the instructions of this version of Python."""

from typing import Any

import pytest

from subnormal.audit.laws.draws.codes import READ_ATTRIBUTES, READ_CELLS, READ_NAMES, codes_of, inner_codes, only_calls

ALL = (*READ_NAMES, *READ_ATTRIBUTES, *READ_CELLS)
CALLS = (
    "noise()",
    "noise(1, scale=noise(2))",
    "[noise(x) for x in (1, 2)]",
    "tuple(noise(x) for x in (1, 2))",
    "os.noise(1)",
    "os.path.noise(1) + os.path.join('a')",
    "x.noise(1)",
    "(lambda: noise(1))()",
    "noise(*(1, 2))",
    "noise(1)(2)",
    "noise(1 if x else 2)",
    "noise(1, (x or f) and 3, scale=2 if x else f(1) if f else 5)",
    "noise(x / 2 if f == 2 else 1 / x) + noise(3)",
)
OTHERS = (
    "noise",
    "f(noise)",
    "f(1, noise)(2)",
    "noise is f",
    "{noise: 1}",
    "[noise, 1][0]()",
    "noise.scale",
    "os.noise",
    "f(os.noise)",
    "os.path.noise",
    "os.noise.scale()",
    "x.noise is f",
    "(lambda: noise)()",
    "f(*noise)",
    "noise(noise)",
    "f(1 if x else noise)",
    "noise or f",
    "f(noise, 1 if x else 2)",
    "(f if noise is x else x)()",
    "noise() + eval('1')",
    "noise() + vars(x)['a']",
    "noise() + getattr(x, 'noise')",
)


def function(body: str, *, in_cell: bool) -> Any:
    names: dict[str, Any] = {}
    text = f"import os\ndef run(x, f): return {body}\n"
    if in_cell:
        text = f"import os\ndef outer(noise):\n    def run(x, f): return {body}\n    return run\nrun = outer(1)\n"
    exec(text, names)
    return names["run"]


@pytest.mark.parametrize("in_cell", [False, True])
def test_calls_are_told_from_all_else(in_cell: bool) -> None:
    for body in CALLS:
        assert only_calls(inner_codes(function(body, in_cell=in_cell).__code__), "noise", ALL), body
    for body in OTHERS:
        assert not only_calls(inner_codes(function(body, in_cell=in_cell).__code__), "noise", ALL), body


def test_all_functions_of_a_module_are_looked_through() -> None:
    names: dict[str, Any] = {"__name__": "those_of_a_test"}
    text = (
        "class A:\n    def method(self): return [noise]\n"
        "kept = {1: [lambda: noise_of_a_list]}\n"
        "def default(f=lambda: noise_of_a_default): return f\n"
        "def run(): return noise()\n"
    )
    exec(text, names)
    codes = codes_of(names, [])
    for name in ("noise", "noise_of_a_list", "noise_of_a_default"):
        assert not only_calls(codes, name, READ_NAMES)
    assert not only_calls(None, "noise", READ_NAMES)
    alone = eval("lambda: noise_of_one_alone", names)
    assert only_calls(codes, "noise_of_one_alone", READ_NAMES)
    assert not only_calls(codes_of(names, [alone]), "noise_of_one_alone", READ_NAMES)
