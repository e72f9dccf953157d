"""Branches of functions that draw one number are one lazy number where that is the truth, and paths where it is not."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from subnormal import Claim
from subnormal.audit.laws.comparison import decide
from subnormal.audit.laws.draws import joined, sources
from subnormal.audit.laws.followed import FollowedLaw, follow, law
from subnormal.audit.laws.path import NEAR, NotFollowedError, Path
from subnormal.audit.model import Verdict
from subnormal.audit.values.outcomes import as_outcome
from tests.audit.laws import samplers
from tests.audit.laws.short_uniforms import made, short_uniforms

SIZE = 8
RNG = np.random.default_rng(1)
VALUES = st.sampled_from(
    [
        *(
            "u",
            "-u",
            "2 * u + s",
            "abs(u - 0.3)",
            "-math.log(u)",
            "u * u - s",
            "1 / (u - 0.5)",
            "s",
            "1.0",
            "int(5 * u)",
        ),
        *("max(u, 0.4)", "math.sqrt(s - u)", "-3 * u", "math.copysign(u, s - 2 * u)", "math.inf", "round(u, 1)", "'s'"),
    ]
)
CONDITIONS = st.sampled_from(["u < 0.3", "u >= 0.6", "u == 0.5", "u > 0", "2 * u < s", "s < 1.0"])
RELEASES = st.sampled_from(
    ["round(4 * x)", "x < y", "x >= 1", "x + y > 0.7", "(x < 0, y < 0)", "x - 2 * x < 0.1", "x", "x == y", "abs(x) < y"]
)
HELPER = """
def noise(s):
    u = random.random() - {shift}
    if {first}:
        return {one}
    if {second}:
        return {other}
    return {last}


def run(data):
    x, y = noise(1.0), noise(data)
    return {release}
"""
PROGRAMS = st.builds(
    lambda **parts: HELPER.format(**parts),
    shift=st.sampled_from([0, 0.5]),
    first=CONDITIONS,
    second=CONDITIONS,
    one=VALUES,
    other=VALUES,
    last=VALUES,
    release=RELEASES,
)


def followed(function: Callable[[Any], Any], data: Any = 0.5, **options: Any) -> FollowedLaw:
    with short_uniforms(SIZE), patch.object(sources, "alive", list):
        return law(function, data, seconds=60.0, width=1e-8, **options)


def walked(function: Callable[[Any], Any], draws: int, data: Any = 0.5) -> dict[Any, Fraction]:
    """Return the law, from all numbers that may be drawn."""
    counts = Counter[Any]()
    for numbers in itertools.product(range(SIZE), repeat=draws):
        left = iter(numbers)
        with patch.object(random, "random", lambda left=left: next(left) / SIZE):
            try:
                outcome = function(data)
            except Exception as error:
                outcome = error
        counts[repr(as_outcome(outcome))] += 1
    return {outcome: Fraction(count, SIZE**draws) for outcome, count in counts.items()}


def agree(found: FollowedLaw, truth: dict[Any, Fraction]) -> None:
    for outcome in found.law.atoms:
        low, high = found.law.probability(outcome)
        assert low <= truth.get(repr(outcome), 0) <= high, outcome
    assert sum(truth[repr(one)] for one in found.law.atoms if repr(one) in truth) + found.rest >= 1


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS)
def test_the_law_is_that_of_all_numbers(text: str) -> None:
    function = made(text)
    try:
        found = followed(function)
    except NotFollowedError:
        return
    agree(found, walked(function, 2))


def test_many_programs_are_joined() -> None:
    joins = count = 0
    drawn = joined._number

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(PROGRAMS)
    def tried(text: str) -> None:
        nonlocal joins, count
        with patch.object(joined, "_number", Mock(wraps=drawn)) as asked:
            try:
                followed(made(text))
            except NotFollowedError:
                return
        count += 1
        joins += asked.called

    tried()
    assert joins >= 0.2 * count


@pytest.mark.parametrize(("number", "holds"), [(1, True), (4, False)])
def test_a_sparse_vector_with_textbook_noise_has_a_path_for_each_outcome(number: int, holds: bool) -> None:
    algorithm: Callable[[list[int]], Any] = getattr(samplers, f"algorithm_{number}")
    pair = [0] * 6 + [1] * 6, [1] * 6 + [0] * 6
    found = decide(algorithm, *pair, Claim(1.0 + 1e-9, 1e-9), seconds=60.0)
    assert found.verdict is (Verdict.HOLDS if holds else Verdict.VIOLATED)
    likely = law(algorithm, pair[0], seconds=60.0, rest=2.0**-40, width=1.0)
    assert likely.paths < 500


def test_a_number_that_is_refused_is_a_path_of_its_own() -> None:
    """1 − 2·|u| is 0 for the first uniform alone."""
    found = law(lambda scale: round(samplers.textbook_laplace(scale)), 0.01, seconds=20.0, rest=2.0**-60)
    assert next(found.law.probability(one) for one in found.law.atoms if "math" in repr(one))[1] > 0
    agree(followed(made(HELPER.format(**SIGNED))), walked(made(HELPER.format(**SIGNED)), 2))


SIGNED = {
    "shift": 0.5,
    "first": "u > 0",
    "second": "u == -0.5",
    "one": "-math.log(1 - 2 * abs(u))",
    "other": "math.log(0)",
    "last": "math.log(1 - 2 * abs(u))",
    "release": "round(x)",
}
EFFECTS = {
    "a global": "def noise(s):\n    global calls\n    calls = calls + 1\n    {body}",
    "an attribute": "def noise(s):\n    kept.calls = 1\n    {body}",
    "an item": "def noise(s):\n    listed[0] += 1\n    {body}",
    "a method": "def noise(s):\n    listed.append(1)\n    {body}",
    "a nested function": "def noise(s):\n    u = count()\n    {body}",
    "a default": "def noise(s, seen=[]):\n    seen.append(1)\n    {body}",
    "a seed": "def noise(s):\n    random.seed(1)\n    {body}",
    "a seed by another name": "from random import seed as fixed\ndef noise(s):\n    fixed(1)\n    {body}",
    "a global that is a list": "def noise(s):\n    u = listed\n    {body}",
    "a call of what is in a cell": "def around(kept):\n    return lambda s: kept() + random.random()\n"
    "noise = around(listed.pop)\ndef other():\n    {body}",
    "a call of itself": "def noise(s):\n    if s > 1: return noise(s - 1)\n    {body}",
    "a generator function": "def noise(s):\n    yield 1\n    {body}",
}
BODY = "u = random.random() - 0.5\n    return u if u > 0 else 3 * u"
SETUP = "calls, listed = 0, [0]\nclass kept: calls = 0\ndef count():\n    listed.append(1)\n    return 1\n"


@pytest.mark.parametrize("name", EFFECTS)
def test_a_function_with_an_effect_is_not_called_more_often(name: str) -> None:
    run = made(SETUP + EFFECTS[name].format(body=BODY) + "\ndef run(data):\n    return noise(1)")
    assert run.__globals__["noise"] not in joined.joinable([run])


def test_a_function_without_effects_is_joined() -> None:
    run = made(SETUP + f"def noise(s):\n    {BODY}\ndef run(data):\n    return noise(1)")
    assert run.__globals__["noise"] in joined.joinable([run])


def test_a_function_that_a_generator_expression_calls_is_joined() -> None:
    text = "def noise():\n    u = random.random()\n    return u if u < 0.5 else 2 * u\ndef run(_):\n"
    run = made(text + "    return tuple(x + noise() > 1 for x in range(3))")
    assert run.__globals__["noise"] in joined.joinable([run])


def test_functions_in_cells_and_of_functions_are_joined() -> None:
    def coin(scale: float) -> float:
        return 1 - 2 * random.random() if scale else 0.0

    def noise(scale: float) -> float:
        u = coin(scale)
        return u if u > 0 else 3 * u

    def run(scale: float) -> Any:
        return noise(scale) < 0.5, noise(scale) < 0.5

    assert {coin, noise} <= set(joined.joinable(sources._functions(run)))
    agree(followed(run), walked(run, 2))


def test_a_global_that_changes_between_calls_is_read_again() -> None:
    text = """
width = 1.0
def noise():
    u = random.random() - 0.5
    return width * u if u > 0 else 3 * width * u
def run(data):
    global width
    width = 1.0
    first = round(8 * noise())
    width = 2.0
    return first, round(8 * noise())
"""
    agree(followed(made(text)), walked(made(text), 2))


def test_a_cell_that_changes_between_calls_is_read_again() -> None:
    width = 1.0

    def noise() -> float:
        u = random.random() - 0.5
        return width * u if u > 0 else 3 * width * u

    def run(_: Any) -> tuple[int, int]:
        nonlocal width
        width = 1.0
        first = round(8 * noise())
        width = 2.0
        return first, round(8 * noise())

    assert noise in set(joined.joinable(sources._functions(run)))
    agree(followed(run), walked(run, 2))


NO_NUMBER = {
    "two numbers": ("return random.random() * (1 if random.random() < 0.5 else -1)", 4),
    "the other of two": ("u, v = random.random(), random.random()\n    return u if v < 0.5 else 2 + u", 4),
    "a pair": ("return (random.random(), 1) if random.random() < 0.5 else (0.5, 2)", 4),
    "a turn": ("u = random.random()\n    return u if u < 0.5 else 2 - u", 2),
    "zeros whose signs turn": ("u = random.random()\n    return 0.0 if u < 0.3 else -0.0 if u < 0.6 else 0 * u", 2),
    "a turn of steps": ("u = random.random()\n    return 1.0 if u < 0.3 else 2.0 if u < 0.5 else 2 - u", 2),
    "two types": ("u = random.random()\n    return 0 if u < 0.3 else 2 * u", 2),
    "an end that is infinite": ("u = random.random()\n    return -math.inf if u < 0.3 else u", 2),
    "a cause": (
        "u = random.random()\n    if u < 0.3:\n        raise ValueError from KeyError()\n    return min(u, 0.6) + u",
        2,
    ),
    "two exceptions": (
        "u = random.random()\n    if u < 0.5:\n        raise ValueError(f'{u < 0.3}')\n    return min(u, 0.6) + u / 9",
        2,
    ),
}


@pytest.mark.parametrize("name", NO_NUMBER)
def test_branches_that_are_no_number_stay_paths(name: str) -> None:
    noise, draws = NO_NUMBER[name]
    text = f"""
def noise(s):
    {noise}
def run(data):
    x, y = noise(data), noise(data)
    return isinstance(x, int), x > y, x == 1, x < 1.2, not isinstance(x, tuple) and math.copysign(1.0, x)
"""
    agree(followed(made(text)), walked(made(text), draws))


def test_a_loop_is_followed_alone_for_one_draw() -> None:
    """Its likelier answer goes on for ever."""
    ratio, geometric = Fraction(3, 4), samplers.geometric
    with patch.object(Path, "draw", autospec=True, side_effect=Path.draw) as draw:
        found = law(lambda _: geometric(0.75), None, seconds=60.0, rest=2.0**-5)
    assert draw.call_count < 256 * 256  # paths, and draws of the longest
    for outcome in range(10):
        assert found.probability(outcome)[0] == (1 - ratio) * ratio**outcome


def test_functions_of_the_users_modules_are_joined() -> None:
    def run(_: Any) -> tuple[bool, ...]:
        return tuple(query + samplers.textbook_laplace(2.0) > 1 for query in range(6))

    assert any(one.__module__ == samplers.__name__ for one in joined.joinable(sources._functions(run)))
    assert law(run, None, rest=2.0**-30, width=1.0).paths <= 256


def test_a_number_drawn_as_an_argument_is_followed() -> None:
    text = HELPER.format(**SIGNED | {"release": "x, noise(random.random()) < 0.1"}).replace("return x, ", "return ")
    agree(followed(made(text)), walked(made(text), 4))


def test_an_infinite_branch_does_not_hide_the_others() -> None:
    text = HELPER.format(
        shift=0, first="u > 0.6", one="math.inf", second="u < 0.3", other="2 * u", last="3 * u", release="x + y < 1"
    )
    agree(followed(made(text)), walked(made(text), 2))


def test_numbers_with_a_law_that_is_nearly_known_are_counted() -> None:
    def noise() -> float:
        x = RNG.normal()
        return x if x > 0 else 2 * x

    ends, *_ = follow(lambda _: noise() > 1, None, 5.0, 2.0**-20)
    assert {tuple(end.path.near.values()) for end in ends} == {(NEAR,)}


def test_a_generator_of_numpy_may_be_an_argument() -> None:
    def noise(rng: np.random.Generator, scale: float) -> float:
        u = rng.random() - 0.5
        return -scale * math.log(1 - 2 * u) if u > 0 else scale * math.log(1 + 2 * u)

    def run(queries: list[int]) -> tuple[bool, ...]:
        return tuple(query + noise(RNG, 2.0) > 1 for query in queries)

    found = law(run, [0] * 10, seconds=30.0, rest=2.0**-30, width=1.0)
    assert found.rest < 2.0**-30
    assert found.probability((False,) * 10)[0] == pytest.approx((1 - math.exp(-0.5) / 2) ** 10, rel=1e-9)
